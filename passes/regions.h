// Changing what the regions of a loop or a branch take and give.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// What one parameter of a region becomes: a parameter of the new one, a constant, or nothing.
struct NewParameter {
  static constexpr std::uint32_t nothing = UINT32_MAX;

  std::uint32_t index = nothing;      ///< among the new parameters
  const Literal* constant = nullptr;  ///< where it is one
};

/// `region` with `types` as parameters, parameter i becoming `parameters[i]`, and only those of its
/// outputs that `outputs` lists. Dead nodes are dropped. Throws InternalError where an output needs
/// a parameter that becomes nothing.
Graph with_parameters(const Graph& region, std::span<const Type> types,
                      std::span<const NewParameter> parameters,
                      std::span<const std::uint32_t> outputs);

/// Per node: whether one of these values needs it.
std::vector<char> needed_nodes(const Graph& graph, std::span<const Value> values);

/// 0, 1, ... count - 1.
std::vector<std::uint32_t> all_of(std::size_t count);

/// Where `marks`, a list of flags, has a true one.
template <class Marks>
std::vector<std::uint32_t> positions(const Marks& marks) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    if (marks[i]) list.push_back(i);
  }
  return list;
}

}  // namespace anabranch
