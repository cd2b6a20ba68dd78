// The passes from a planned program to one that can be linked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "anabranch/options.h"
#include "ir/program/program.h"
#include "passes/driver.h"

namespace anabranch {

template <>
inline constexpr std::string_view form_name<Program> = "program";

struct ProgramContext {
  Options options;
  PassRun run = {};         ///< for the passes of each kernel
  bool has_choice = false;  ///< left behind: other times could make another schedule
};

using ProgramPass = PassOf<Program, ProgramContext>;

std::span<const ProgramPass> program_passes();

inline Program run_passes(std::span<const ProgramPass> list, Program program,
                          ProgramContext& context, const PassRun& options = {}) {
  return run_list(list, std::move(program), context, options);
}

/// The names of all passes, over graphs, kernels and programs, each once.
std::vector<std::string_view> pass_names();
/// Throws Error, naming the passes there are, where one of `names` is none that can be left out.
void check_pass_names(std::span<const std::string> names);

}  // namespace anabranch
