#include "codegen/plan/dot_axes.h"

#include <algorithm>
#include <ranges>

namespace anabranch {
namespace {

DotOperand operand_of(int buffer, const Type& type, const std::vector<std::int64_t>& batch,
                      const std::vector<std::int64_t>& contracting) {
  const std::vector<std::int64_t> strides = type.shape.strides();
  auto axis = [&](std::int64_t i) {
    return StridedAxis{type.shape[static_cast<int>(i)], strides[static_cast<std::size_t>(i)]};
  };
  DotOperand operand{
      .buffer = buffer, .dtype = type.dtype, .batch = {}, .free = {}, .contracting = {}};
  for (std::int64_t i : batch) operand.batch.push_back(axis(i));
  for (std::int64_t i : contracting) operand.contracting.push_back(axis(i));
  for (std::int64_t i = 0; i < type.rank(); ++i) {
    if (std::ranges::count(batch, i) + std::ranges::count(contracting, i) == 0) {
      operand.free.push_back(axis(i));
    }
  }
  return operand;
}

}  // namespace

std::int64_t size_of(const StridedAxes& axes) {
  std::int64_t size = 1;
  for (const StridedAxis& axis : axes) size *= axis.size;
  return size;
}

std::int64_t offset_of(const StridedAxes& axes, std::int64_t position) {
  std::int64_t offset = 0;
  for (const StridedAxis& axis : std::views::reverse(axes)) {
    offset += position % axis.size * axis.stride;
    position /= axis.size;
  }
  return offset;
}

std::optional<StridedAxis> folded(const StridedAxes& axes) {
  StridedAxis fold{1, 1};
  for (const StridedAxis& axis : std::views::reverse(axes)) {
    if (axis.size == 1) continue;
    if (fold.size == 1) {
      fold = axis;
    } else if (axis.stride == fold.size * fold.stride) {
      fold.size *= axis.size;
    } else {
      return std::nullopt;
    }
  }
  return fold;
}

DotOperand left_operand(const Type& lhs, const DotAttributes& attributes) {
  return operand_of(0, lhs, attributes.lhs_batch, attributes.lhs_contracting);
}

DotOperand right_operand(const Type& rhs, const DotAttributes& attributes) {
  return operand_of(1, rhs, attributes.rhs_batch, attributes.rhs_contracting);
}

}  // namespace anabranch
