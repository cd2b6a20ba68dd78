// The rules of `batch` for index maps whose places are known: the batch's axis comes first and
// keeps all of its elements.
#include "passes/transform/batch_rules.h"

namespace anabranch::batch_rules {

BatchedResults reshape(const BatchCall& call) {
  return call.add(Op::reshape, {call.given(0).value}, NoAttributes{},
                  call.with_batch(call.node.types[0]));
}

BatchedResults broadcast_in_dim(const BatchCall& call) {
  AxisList axes = with_first(0, behind_batch(call.as<AxesAttributes>().axes));
  return call.add(Op::broadcast_in_dim, {call.given(0).value}, AxesAttributes{std::move(axes)},
                  call.with_batch(call.node.types[0]));
}

BatchedResults transpose(const BatchCall& call) {
  AxisList axes = with_first(0, behind_batch(call.as<AxesAttributes>().axes));
  return call.add(Op::transpose, {call.given(0).value}, AxesAttributes{std::move(axes)});
}

BatchedResults slice(const BatchCall& call) {
  const auto& [start, limit, stride] = call.as<SliceAttributes>();
  return call.add(
      Op::slice, {call.given(0).value},
      SliceAttributes{with_first(0, start), with_first(call.size, limit), with_first(1, stride)});
}

BatchedResults reverse(const BatchCall& call) {
  return call.add(Op::reverse, {call.given(0).value},
                  AxesAttributes{behind_batch(call.as<AxesAttributes>().axes)});
}

// A padding value for each element of the batch is chosen wherever the padded array has none of the
// operand's elements.
BatchedResults pad(const BatchCall& call) {
  const auto& single = call.as<PadAttributes>();
  const PadAttributes attributes{with_first(0, single.low), with_first(0, single.high),
                                 with_first(0, single.interior)};
  if (!call.is_batched(1)) {
    return call.add(Op::pad, {call.given(0).value, call.given(1).value}, attributes);
  }
  const bool one_operand = !call.is_batched(0);
  const Quantity x = call.given(0);
  const PadAttributes& own = one_operand ? single : attributes;
  const Quantity zero = Quantity::zeros(call.to, {x.dtype(), {}});
  const Quantity no = Quantity::zeros(call.to, {bool_, {}});
  const Quantity inside = Quantity::splat(call.to, {bool_, x.shape()}, 1);
  const auto padded = [&](Quantity of, Quantity with) {
    const Quantity result = call.add(Op::pad, {of.value, with.value}, own);
    return call.whole({result.value, !one_operand});
  };
  const Type result = call.with_batch(call.node.types[0]);
  return select(padded(inside, no), padded(x, zero), call.given(1).broadcast(result.shape, {0}));
}

// The batch's axis has windows of one element, and so a second axis of size 1.
BatchedResults sliding_windows(const BatchCall& call) {
  const auto& [sizes, strides, dilations] = call.as<WindowsAttributes>();
  const Quantity windows = call.add(
      Op::sliding_windows, {call.given(0).value},
      WindowsAttributes{with_first(1, sizes), with_first(1, strides), with_first(1, dilations)});
  return windows.reshape(call.with_batch(call.node.types[0]).shape);
}

BatchedResults concatenate(const BatchCall& call) {
  return call.add(Op::concatenate, call.all_whole(),
                  AxisAttributes{call.as<AxisAttributes>().axis + 1});
}

}  // namespace anabranch::batch_rules
