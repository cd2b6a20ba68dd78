#include "codegen/host/scatter_layout.h"

#include <algorithm>
#include <iterator>

namespace anabranch {
namespace {

using AxisList = std::vector<std::int64_t>;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

/// The position of `axis` in the list; -1 where it is not there.
int position_in(const AxisList& axes, std::int64_t axis) {
  const auto found = std::find(axes.begin(), axes.end(), axis);
  return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

/// Two axes of which the outer one continues where the inner one ends are one.
bool continues(const ScatterLayout::Axis& outer, const ScatterLayout::Axis& inner) {
  return outer.component < 0 && inner.component < 0 &&
         outer.index_stride == inner.index_stride * inner.size &&
         outer.target_stride == inner.target_stride * inner.size;
}

}  // namespace

ScatterLayout::ScatterLayout(const CallStep& scatter) {
  const auto& a = std::get<ScatterAttributes>(scatter.attributes);
  const Type &operand = scatter.operands[0], &indices = scatter.operands[1],
             &updates = scatter.operands[2];
  const AxisList strides = operand.shape.strides(), index_strides = indices.shape.strides();
  const bool has_vector_axis = a.index_vector_axis < indices.rank();
  target = operand.size();
  for (std::size_t k = 0; k < a.start_axes.size(); ++k) {
    const std::int64_t step = has_vector_axis ? index_strides[at(a.index_vector_axis)] : 0;
    components.push_back({static_cast<std::int64_t>(k) * step,
                          operand.shape[static_cast<int>(a.start_axes[k])],
                          strides[at(a.start_axes[k])]});
  }
  AxisList window;  // the operand's axes that a window has
  for (std::int64_t axis = 0; axis < operand.rank(); ++axis) {
    const bool is_left_out =
        position_in(a.inserted_axes, axis) >= 0 || position_in(a.operand_batch_axes, axis) >= 0;
    if (!is_left_out) window.push_back(axis);
  }
  // A run: the last axes of both, of which all but the first are whole, and which no index moves.
  int rest = updates.rank();
  std::int64_t expected = operand.rank() - 1;
  while (rest > 0) {
    const int place = position_in(a.window_axes, rest - 1);
    if (place < 0 || window[static_cast<std::size_t>(place)] != expected) break;
    if (position_in(a.start_axes, expected) >= 0) break;
    const std::int64_t size = updates.shape[rest - 1];
    run *= size;
    --rest;
    if (size != operand.shape[static_cast<int>(expected--)]) break;
  }
  AxisList vectors;  // the indices' axes but the vectors' own
  for (std::int64_t axis = 0; axis < indices.rank(); ++axis) {
    if (axis != a.index_vector_axis) vectors.push_back(axis);
  }
  std::size_t next = 0;
  for (int axis = 0; axis < rest; ++axis) {
    Axis made{.size = updates.shape[axis]};
    runs *= made.size;
    if (const int place = position_in(a.window_axes, axis); place >= 0) {
      const std::int64_t along = window[static_cast<std::size_t>(place)];
      made.component = position_in(a.start_axes, along);
      if (made.component < 0) made.target_stride = strides[at(along)];
    } else {
      const std::int64_t along = vectors[next++];
      made.index_stride = index_strides[at(along)];
      const int batch = position_in(a.index_batch_axes, along);
      if (batch >= 0) {
        made.target_stride = strides[at(a.operand_batch_axes[static_cast<std::size_t>(batch)])];
      }
    }
    if (made.size == 1) continue;
    if (!axes.empty() && continues(axes.back(), made)) {
      made.size *= axes.back().size;
      axes.pop_back();
    }
    axes.push_back(made);
  }
  if (axes.empty()) axes.emplace_back();
}

}  // namespace anabranch
