#include <algorithm>

#include "ir/infer/rules.h"

namespace anabranch {
namespace {

using AxisList = std::vector<std::int64_t>;

/// What gather and scatter say of the array that windows are of, and of the vectors that place
/// them.
struct WindowAxes {
  const AxisList& dropped;  // collapsed or inserted
  const char* dropped_name;
  const AxisList &operand_batch, &index_batch, &starts;
  std::int64_t index_vector;
};

std::int64_t size_at(const Type& type, std::int64_t axis) {
  return type.shape[static_cast<int>(axis)];
}

bool is_among(const AxisList& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void demand_apart(const Application& call, const AxisList& a, const char* name_of_a,
                  const AxisList& b, const char* name_of_b) {
  for (std::int64_t axis : a) {
    if (!is_among(b, axis)) continue;
    call.refuse("axis " + std::to_string(axis) + " is among both " + name_of_a + " and " +
                name_of_b);
  }
}

void demand_indices(const Application& call, const WindowAxes& axes) {
  const Type& indices = call.operands[1];
  if (indices.dtype != i32 && indices.dtype != i64) {
    call.refuse("the indices must be i32 or i64", "not " + to_string(indices));
  }
  if (axes.index_vector < 0 || axes.index_vector > indices.rank()) {
    call.refuse("index_vector_axis is none of the indices' axes, nor their number",
                std::to_string(axes.index_vector));
  }
  const bool is_axis = axes.index_vector < indices.rank();
  const std::int64_t components = is_axis ? size_at(indices, axes.index_vector) : 1;
  if (components != static_cast<std::int64_t>(axes.starts.size())) {
    call.refuse("needs one of start_axes per component of an index vector",
                std::to_string(axes.starts.size()) + " for " + std::to_string(components));
  }
}

void demand_batches(const Application& call, const WindowAxes& axes) {
  const Type &operand = call.operands[0], &indices = call.operands[1];
  call.demand_ascending_axes(axes.operand_batch, operand.rank(), "operand_batch_axes");
  call.demand_unique_axes(axes.index_batch, indices.rank(), "index_batch_axes");
  if (axes.operand_batch.size() != axes.index_batch.size()) {
    call.refuse("operand_batch_axes and index_batch_axes go in pairs",
                list_text(axes.operand_batch) + " against " + list_text(axes.index_batch));
  }
  if (is_among(axes.index_batch, axes.index_vector)) {
    call.refuse("index_vector_axis is among index_batch_axes", list_text(axes.index_batch));
  }
  for (std::size_t i = 0; i < axes.operand_batch.size(); ++i) {
    const std::int64_t size = size_at(operand, axes.operand_batch[i]);
    const std::int64_t other = size_at(indices, axes.index_batch[i]);
    if (size == other) continue;
    call.refuse("batch sizes differ", std::to_string(size) + " on axis " +
                                          std::to_string(axes.operand_batch[i]) + " against " +
                                          std::to_string(other) + " on axis " +
                                          std::to_string(axes.index_batch[i]) + " of the indices");
  }
}

void demand_window_axes(const Application& call, const WindowAxes& axes) {
  const int rank = call.operands[0].rank();
  demand_indices(call, axes);
  call.demand_ascending_axes(axes.dropped, rank, axes.dropped_name);
  call.demand_unique_axes(axes.starts, rank, "start_axes");
  demand_batches(call, axes);
  demand_apart(call, axes.dropped, axes.dropped_name, axes.operand_batch, "operand_batch_axes");
  demand_apart(call, axes.starts, "start_axes", axes.operand_batch, "operand_batch_axes");
}

// Those of the operand that are axes of a window.
AxisList kept_axes(const Application& call, const WindowAxes& axes) {
  AxisList kept;
  for (std::int64_t axis = 0; axis < call.operands[0].rank(); ++axis) {
    if (!is_among(axes.dropped, axis) && !is_among(axes.operand_batch, axis)) kept.push_back(axis);
  }
  return kept;
}

// The axes of the indices along which vectors are.
AxisList vector_sizes(const Application& call, const WindowAxes& axes) {
  AxisList sizes;
  for (std::int64_t axis = 0; axis < call.operands[1].rank(); ++axis) {
    if (axis != axes.index_vector) sizes.push_back(size_at(call.operands[1], axis));
  }
  return sizes;
}

// Windows at `places` among as many axes, `vectors` at the others.
void demand_places(const Application& call, const AxisList& places, const char* what,
                   std::size_t windows, std::size_t vectors) {
  if (places.size() != windows) {
    call.refuse(std::string(what) + " needs one entry per axis of a window",
                std::to_string(places.size()) + " for " + std::to_string(windows));
  }
  call.demand_ascending_axes(places, static_cast<int>(windows + vectors), what);
}

}  // namespace

namespace type_rules {

ResultTypes gather(const Application& call) {
  const auto& a = call.as<GatherAttributes>();
  const Type& operand = call.operands[0];
  const WindowAxes axes{a.collapsed_axes,   "collapsed_axes", a.operand_batch_axes,
                        a.index_batch_axes, a.start_axes,     a.index_vector_axis};
  demand_window_axes(call, axes);
  call.demand_per_axis(a.sizes, "sizes");
  for (std::int64_t axis = 0; axis < operand.rank(); ++axis) {
    const std::int64_t size = a.sizes[static_cast<std::size_t>(axis)];
    const std::string place = " on axis " + std::to_string(axis);
    if (size < 0 || size > size_at(operand, axis)) {
      call.refuse("a window does not fit" + place,
                  "size " + std::to_string(size) + " of " + std::to_string(size_at(operand, axis)));
    }
    // Nothing is ever read along a batch of none.
    const bool is_batch = is_among(axes.operand_batch, axis);
    if (size == 1 || (is_batch && size_at(operand, axis) == 0)) continue;
    if (is_batch || is_among(axes.dropped, axis)) {
      call.refuse("a window has one element" + place + ", which the result has not",
                  "not " + std::to_string(size));
    }
  }
  const AxisList kept = kept_axes(call, axes), vectors = vector_sizes(call, axes);
  demand_places(call, a.offset_axes, "offset_axes", kept.size(), vectors.size());
  AxisList sizes;
  std::size_t window = 0, vector = 0;
  while (window < kept.size() || vector < vectors.size()) {
    const bool is_offset = is_among(a.offset_axes, static_cast<std::int64_t>(sizes.size()));
    sizes.push_back(is_offset ? a.sizes[static_cast<std::size_t>(kept[window++])]
                              : vectors[vector++]);
  }
  return call.result(operand.dtype, std::move(sizes));
}

ResultTypes scatter(const Application& call) {
  const auto& a = call.as<ScatterAttributes>();
  const Type &operand = call.operands[0], &updates = call.operands[2];
  const WindowAxes axes{a.inserted_axes,    "inserted_axes", a.operand_batch_axes,
                        a.index_batch_axes, a.start_axes,    a.index_vector_axis};
  if (updates.dtype != operand.dtype) {
    call.refuse("operand dtypes differ", std::string(name(operand.dtype)) + " against " +
                                             std::string(name(updates.dtype)) +
                                             "; convert the updates first");
  }
  const bool is_bitwise = a.combiner == ScatterCombiner::and_ ||
                          a.combiner == ScatterCombiner::or_ || a.combiner == ScatterCombiner::xor_;
  if (is_bitwise && is_float(operand.dtype)) {
    call.refuse(std::string(name(a.combiner)) + " combines integers or bool");
  }
  demand_window_axes(call, axes);
  const AxisList kept = kept_axes(call, axes), vectors = vector_sizes(call, axes);
  if (updates.rank() != static_cast<int>(kept.size() + vectors.size())) {
    call.refuse("the updates have an axis per axis of a window and per axis of the indices",
                std::to_string(updates.rank()) + " instead of " +
                    std::to_string(kept.size() + vectors.size()));
  }
  demand_places(call, a.window_axes, "window_axes", kept.size(), vectors.size());
  std::size_t window = 0, vector = 0;
  for (std::int64_t axis = 0; axis < updates.rank(); ++axis) {
    const std::int64_t size = size_at(updates, axis);
    const std::string place = " on axis " + std::to_string(axis) + " of the updates";
    if (is_among(a.window_axes, axis)) {
      const std::int64_t most = size_at(operand, kept[window++]);
      if (size <= most) continue;
      call.refuse("a window does not fit" + place,
                  "size " + std::to_string(size) + " of " + std::to_string(most));
    } else if (size != vectors[vector++]) {
      call.refuse("not as many windows as index vectors" + place,
                  std::to_string(size) + " against " + std::to_string(vectors[vector - 1]));
    }
  }
  return operand;
}

}  // namespace type_rules
}  // namespace anabranch
