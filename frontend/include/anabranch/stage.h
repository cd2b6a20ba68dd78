// Stage: the points of a compilation that can be printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// In the order in which a compilation reaches them.
enum class Stage : std::uint8_t {
  trace,
  optimized,
  kernels,
  llvm,
  cuda,
  assembly,
  schedule,
  memory
};

/// "optimized"
std::string_view name(Stage stage);
/// The stage of that name, or nothing.
std::optional<Stage> parse_stage(std::string_view name);
/// All of them, for messages: "trace, optimized, ...".
std::string stage_names();

}  // namespace anabranch
