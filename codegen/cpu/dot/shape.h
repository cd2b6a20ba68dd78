// A dot seen as a batch of matrix products: which strides its operands have, and how it is cut.
#pragma once

#include <cstdint>

#include "codegen/plan/dot_axes.h"

namespace anabranch::cpu {

/// Part of a result [batches, rows, columns]. Only one of the three is ever cut.
struct DotTile {
  std::int64_t batch = 0, row = 0, column = 0;  ///< where it begins
  std::int64_t batches = 1, rows = 1, columns = 1;
};

struct DotShape {
  DotOperand left, right;  ///< of [rows, inner] and [inner, columns]
  std::int64_t batches = 1, rows = 1, columns = 1, inner = 1;
  DotTile tile;  ///< the size of a whole tile
  std::int64_t tiles = 1;
  /// Blocks of rows read the whole right operand, in a better layout.
  bool shares_right = false;
  /// A tile has the columns up to its last row's: what is right of the diagonal is its mirror
  /// image.
  bool is_symmetric = false;

  /// Tile `index`; the last one may be smaller.
  DotTile at(std::int64_t index) const;
};

/// Sizes decide how the result is cut; the machine does not. A row vector times a matrix is turned
/// into a matrix times a column vector, which has rows to cut. `is_symmetric` as the step has it;
/// only where it `may_share` has it rows that share the right operand.
DotShape dot_shape(const Type& lhs, const Type& rhs, const DotAttributes& attributes,
                   bool is_symmetric = false, bool may_share = false);

}  // namespace anabranch::cpu
