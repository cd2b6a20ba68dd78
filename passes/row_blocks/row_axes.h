// Row axes of a chain: axes that all of its nodes treat row by row, so that a block of rows of the
// results needs that block of the operands alone.
//
//   graph chain(%0: f32[1000,64], %1: f32[1000,64]) {
//     %2: f32[1000,1000] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[1]
//     %3: f32[1000] = reduce_max %2 axes=[1]
//     return %3
//   }
//
// has the row axis that is axis 0 of %0, %2 and %3; %1 is read whole by every row. Axis 1 of %2 is
// none, since a maximum is taken over it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// An axis of result 0 of a node.
struct AxisOf {
  std::uint32_t node = 0;
  std::int64_t axis = 0;

  bool operator==(const AxisOf&) const = default;
};

struct RowAxis {
  using Place = std::optional<std::int64_t>;  ///< which axis of a value it is

  std::int64_t size = 0;
  std::vector<Place> result;                 ///< per node; nothing of parameters
  std::vector<std::vector<Place>> operands;  ///< per node, per operand
  std::vector<bool> is_summed;               ///< per node: whether it adds up all rows

  /// Whether a node has anything to do with it.
  bool concerns(std::uint32_t node) const { return result[node] || is_summed[node]; }
};

/// The row axes of `chain`, whose nodes have axis roles and whose parameters may be read in several
/// ways. Each output has every row axis, or is a sum over it that nothing else of the chain reads;
/// dots and reductions without it there are none.
std::vector<RowAxis> row_axes(const Graph& chain);

/// The one that `axis` is.
std::optional<RowAxis> row_axis(const Graph& chain, AxisOf axis);

}  // namespace anabranch
