#include "anabranch/stage.h"

#include <algorithm>
#include <array>

namespace anabranch {
namespace {

constexpr std::array<std::string_view, 8> names = {"trace", "optimized", "kernels",  "llvm",
                                                   "cuda",  "assembly",  "schedule", "memory"};

}  // namespace

std::string_view name(Stage stage) { return names[static_cast<std::size_t>(stage)]; }

std::optional<Stage> parse_stage(std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Stage>(found - names.begin());
}

std::string stage_names() {
  std::string all;
  for (std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace anabranch
