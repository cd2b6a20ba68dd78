// A chain as loops over blocks of its rows.
//
//   graph chain(%0: f32[1000,64], %1: f32[1000,64]) {
//     %2: f32[1000,1000] = dot %0, %1 ...
//     %3: f32[1000] = reduce_max %2 axes=[1]
//     return %3
//   }
//
// in blocks of 100 rows:
//
//   %4: i64[], %5: f32[1000] = while %2, %3, %0, %1 ... graph body(...) {
//     %5 = multiply %0, 100
//     %6: f32[100,64] = dynamic_slice %2, %5, 0
//     %7: f32[100,1000] = dot %6, %3 ...
//     %8: f32[100] = reduce_max %7 axes=[1]
//     %9: f32[1000] = dynamic_update_slice %1, %8, %5
//     ...
//   }
#pragma once

#include <span>
#include <vector>

#include "ir/graph/builder.h"
#include "passes/row_blocks/row_axes.h"

namespace anabranch {

/// A loop over blocks of so many rows of the row axis that `axis` is.
struct BlockLevel {
  AxisOf axis;
  std::int64_t rows = 0;

  bool operator==(const BlockLevel&) const = default;
};

/// Adds the outputs of `chain` for `inputs`, computed in nested loops, the outermost first. Rows
/// that no whole block is left for are a smaller one, after the loop. Sums over rows are added up
/// block by block, in order.
std::vector<Value> add_blocked(GraphBuilder& to, const Graph& chain, std::span<const Value> inputs,
                               std::span<const BlockLevel> levels);

}  // namespace anabranch
