// A dot seen as a batch of matrix products: which strides its operands have, and how it is cut.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/attributes.h"
#include "ir/type.h"

namespace anabranch::cpu {

/// So many elements, so far apart.
struct Axis {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};
using Axes = std::vector<Axis>;

/// The product of the sizes.
std::int64_t size_of(const Axes& axes);
/// Where element `position` (row-major over the axes) lies.
std::int64_t offset_of(const Axes& axes, std::int64_t position);
/// The same elements as one axis, where there is one.
std::optional<Axis> folded(const Axes& axes);

/// One operand: a matrix per batch element, in memory as it is.
struct DotOperand {
  int buffer = 0;  ///< of the task: 0 is lhs, 1 is rhs
  Dtype dtype = Dtype::f32;
  Axes batch, free, contracting;
};

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
  /// So many blocks of rows read the whole right operand that it is worth a better layout.
  bool shares_right = false;

  /// Tile `index`; the last one may be smaller.
  DotTile at(std::int64_t index) const;
};

/// Sizes decide how the result is cut; the machine does not. A row vector times a matrix is turned
/// into a matrix times a column vector, which has rows to cut.
DotShape dot_shape(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

}  // namespace anabranch::cpu
