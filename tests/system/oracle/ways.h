// The ways to run a graph, each of which must give what the interpreter gives.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/shrink.h"

namespace anabranch {

struct Way {
  std::string_view name;
  std::vector<Literal> (*run)(const GraphCase& tested);
};

std::span<const Way> ways();

/// From here on native code is kept in `folder`, so that a graph's schedules for one stream and for
/// several share what LLVM made of its kernels; an empty name ends that.
void keep_code_in(const std::filesystem::path& folder);

}  // namespace anabranch
