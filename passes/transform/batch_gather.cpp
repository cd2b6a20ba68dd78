// The rules of `batch` for index maps whose places are computed. Places that differ among the
// elements of the batch make a dynamic slice a gather, and a dynamic update a scatter.
#include "passes/transform/batch_rules.h"

namespace anabranch::batch_rules {
namespace {

// The starts of a block, operands `first` and those after it, one per element of the batch.
class BlockStarts {
 public:
  BlockStarts(const BatchCall& call, std::size_t first) {
    bool all_i32 = true;
    for (std::size_t i = first; i < call.operands.size(); ++i) {
      starts_.push_back(call.whole(i));
      all_i32 = all_i32 && starts_.back().dtype() == i32;
    }
    for (Quantity& start : starts_) start = start.as(all_i32 ? i32 : i64);
  }

  /// Each between 0 and its entry of `most`.
  void clamp(const AxisList& most) {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      Quantity& start = starts_[i];
      const Quantity last = start.number(static_cast<double>(most[i]));
      start = start.op(Op::maximum, start.number(0)).op(Op::minimum, last);
    }
  }

  /// [size, axes]: a vector for each element.
  Quantity vectors(const BatchCall& call) const {
    std::vector<Value> columns;
    for (Quantity start : starts_) columns.push_back(start.reshape({call.size, 1}).value);
    return {&call.to, call.to.add(Op::concatenate, std::move(columns), AxisAttributes{1})};
  }

 private:
  std::vector<Quantity> starts_;
};

bool has_batched_starts(const BatchCall& call, std::size_t first) {
  return call.any_batched(first, call.operands.size() - first);
}

// The operands before `first`, then starts, where the batch is taken whole.
std::vector<Value> with_zero_start(const BatchCall& call, std::size_t first) {
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < first; ++i) inputs.push_back(call.whole(i).value);
  const Dtype dtype = first < call.operands.size() ? call.given(first).dtype() : i32;
  inputs.push_back(Quantity::zeros(call.to, {dtype, {}}).value);
  for (std::size_t i = first; i < call.operands.size(); ++i) {
    inputs.push_back(call.given(i).value);
  }
  return inputs;
}

}  // namespace

BatchedResults dynamic_slice(const BatchCall& call) {
  const AxisList& sizes = call.as<SizesAttributes>().sizes;
  if (!has_batched_starts(call, 1)) {
    return call.add(Op::dynamic_slice, with_zero_start(call, 1),
                    SizesAttributes{with_first(call.size, sizes)});
  }
  const AxisList own_axes = axes_up_to(static_cast<std::int64_t>(sizes.size()));
  GatherAttributes attributes;
  attributes.offset_axes = behind_batch(own_axes);
  attributes.start_axes = own_axes;
  attributes.index_vector_axis = 1;
  attributes.sizes = sizes;
  if (call.is_batched(0)) {
    attributes.operand_batch_axes = attributes.index_batch_axes = {0};
    attributes.start_axes = behind_batch(own_axes);
    attributes.sizes = with_first(1, sizes);
  }
  const Quantity starts = BlockStarts(call, 1).vectors(call);
  return call.add(Op::gather, {call.given(0).value, starts.value}, std::move(attributes));
}

BatchedResults dynamic_update_slice(const BatchCall& call) {
  if (!has_batched_starts(call, 2)) {
    return call.add(Op::dynamic_update_slice, with_zero_start(call, 2));
  }
  const Quantity operand = call.whole(0), update = call.whole(1);
  AxisList most;
  for (int axis = 1; axis < operand.type().rank(); ++axis) {
    most.push_back(operand.shape()[axis] - update.shape()[axis]);
  }
  // A scatter leaves out what is outside, so the block is moved inside before.
  BlockStarts starts(call, 2);
  starts.clamp(most);
  ScatterAttributes attributes;
  attributes.window_axes = behind_batch(axes_up_to(static_cast<std::int64_t>(most.size())));
  attributes.operand_batch_axes = attributes.index_batch_axes = {0};
  attributes.start_axes = attributes.window_axes;
  attributes.index_vector_axis = 1;
  return call.add(Op::scatter, {operand.value, starts.vectors(call).value, update.value},
                  std::move(attributes));
}

// Windows are whole along the batch where only the operand has one, and each at its own place where
// both have.
BatchedResults gather(const BatchCall& call) {
  GatherAttributes a = call.as<GatherAttributes>();
  a.offset_axes = behind_batch(a.offset_axes);
  if (call.is_batched(0)) {
    a.collapsed_axes = behind_batch(a.collapsed_axes);
    a.operand_batch_axes = behind_batch(a.operand_batch_axes);
    a.start_axes = behind_batch(a.start_axes);
  }
  if (call.is_batched(1)) {
    a.index_batch_axes = behind_batch(a.index_batch_axes);
    ++a.index_vector_axis;
  }
  if (call.is_batched(0) && call.is_batched(1)) {
    a.operand_batch_axes = with_first(0, a.operand_batch_axes);
    a.index_batch_axes = with_first(0, a.index_batch_axes);
    a.sizes = with_first(1, a.sizes);
  } else if (call.is_batched(0)) {
    a.offset_axes = with_first(0, a.offset_axes);
    a.sizes = with_first(call.size, a.sizes);
  }
  return call.add(Op::gather, {call.given(0).value, call.given(1).value}, std::move(a));
}

BatchedResults scatter(const BatchCall& call) {
  ScatterAttributes a = call.as<ScatterAttributes>();
  a.window_axes = behind_batch(a.window_axes);
  a.inserted_axes = behind_batch(a.inserted_axes);
  a.operand_batch_axes = behind_batch(a.operand_batch_axes);
  a.start_axes = behind_batch(a.start_axes);
  if (call.is_batched(1)) {
    a.index_batch_axes = with_first(0, behind_batch(a.index_batch_axes));
    a.operand_batch_axes = with_first(0, a.operand_batch_axes);
    ++a.index_vector_axis;
  } else {
    a.window_axes = with_first(0, a.window_axes);
  }
  return call.add(Op::scatter, {call.whole(0).value, call.given(1).value, call.whole(2).value},
                  std::move(a));
}

}  // namespace anabranch::batch_rules
