// The axes of a dot's operands, by what the dot does with them, with their strides in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "anabranch/type.h"
#include "ir/attributes.h"

namespace anabranch {

/// So many elements, so far apart.
struct StridedAxis {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};
using StridedAxes = std::vector<StridedAxis>;

/// The product of the sizes.
std::int64_t size_of(const StridedAxes& axes);
/// Where element `position` (row-major over the axes) is.
std::int64_t offset_of(const StridedAxes& axes, std::int64_t position);
/// The same elements as one axis, where there is one.
std::optional<StridedAxis> folded(const StridedAxes& axes);

/// One operand: a matrix per batch element, in memory as it is.
struct DotOperand {
  int buffer = 0;  ///< of the task: 0 is lhs, 1 is rhs
  Dtype dtype = Dtype::f32;
  StridedAxes batch, free, contracting;
};

DotOperand left_operand(const Type& lhs, const DotAttributes& attributes);
DotOperand right_operand(const Type& rhs, const DotAttributes& attributes);

}  // namespace anabranch
