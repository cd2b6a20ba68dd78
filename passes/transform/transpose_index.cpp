// Index maps, sums and scans: what is read goes back to where it was read from.
#include <algorithm>

#include "ir/attributes.h"
#include "passes/transform/scatter_windows.h"
#include "passes/transform/transpose_rules.h"

namespace anabranch {
namespace {

using S = const TransposeStep&;
using Axes = std::vector<std::int64_t>;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }
std::int64_t size_of(const Type& type, std::int64_t axis) {
  return type.shape[static_cast<int>(axis)];
}
std::int64_t size_of(const Type& type, std::size_t axis) {
  return type.shape[static_cast<int>(axis)];
}

}  // namespace

void transpose_reshape(S s) { s.add(0, s.cotangent().reshape(s.type_of_operand(0).shape)); }

void transpose_axes(S s) {
  const Axes& axes = s.node.as<AxesAttributes>().axes;
  Axes inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  }
  s.add(0, s.cotangent().transpose(std::move(inverse)));
}

void transpose_reverse(S s) {
  s.add(0, {&s.graph, s.graph.add(Op::reverse, {s.cotangent().value}, s.node.attributes)});
}

void transpose_concatenate(S s) {
  const auto axis = static_cast<std::size_t>(s.node.as<AxisAttributes>().axis);
  const Shape& all = s.node.types[0].shape;
  Axes start(static_cast<std::size_t>(all.rank())), limit(all.begin(), all.end());
  for (std::size_t i = 0; i < s.node.inputs.size(); ++i) {
    limit[axis] = start[axis] + s.type_of_operand(i).shape[static_cast<int>(axis)];
    if (s.is_linear(i)) s.add(i, s.cotangent().slice(start, limit));
    start[axis] = limit[axis];
  }
}

void transpose_sum(S s) {
  const Axes& reduced = s.node.as<AxesAttributes>().axes;
  const Shape& shape = s.type_of_operand(0).shape;
  Axes kept;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
  }
  s.add(0, s.cotangent().broadcast(shape, std::move(kept)));
}

void transpose_cumulative(S s) {
  CumulativeAttributes attributes = s.node.as<CumulativeAttributes>();
  attributes.reverse = !attributes.reverse;
  s.add(0, {&s.graph, s.graph.add(Op::cumulative, {s.cotangent().value}, attributes)});
}

// Sums over the axes along which elements were repeated.
void transpose_broadcast(S s) {
  const Axes& axes = s.node.as<AxesAttributes>().axes;
  const Type &from = s.type_of_operand(0), &to = s.node.types[0];
  Axes summed;
  for (std::int64_t axis = 0; axis < to.rank(); ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    const bool is_new = found == axes.end();
    if (is_new ||
        size_of(from, static_cast<std::int64_t>(found - axes.begin())) != size_of(to, axis)) {
      summed.push_back(axis);
    }
  }
  // What is left has the operand's axes in the order of the result.
  Axes order = axes;
  std::sort(order.begin(), order.end());
  Axes sorted_sizes, inverse;
  for (std::int64_t axis : order) {
    const auto place = std::find(axes.begin(), axes.end(), axis) - axes.begin();
    sorted_sizes.push_back(size_of(from, static_cast<std::int64_t>(place)));
  }
  for (std::int64_t axis : axes) {
    inverse.push_back(std::find(order.begin(), order.end(), axis) - order.begin());
  }
  s.add(0, s.cotangent().sum(summed).reshape(Shape(sorted_sizes)).transpose(inverse));
}

void transpose_slice(S s) {
  if (s.node.types[0].size() == 0) return;
  const auto& [start, limit, stride] = s.node.as<SliceAttributes>();
  Axes low, high, interior;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t size = size_of(s.type_of_operand(0), i), count = size_of(s.node.types[0], i);
    const std::int64_t spread = (count - 1) * stride[i] + 1;
    low.push_back(start[i]);
    high.push_back(size - start[i] - spread);
    interior.push_back(count > 1 ? stride[i] - 1 : 0);
  }
  s.add(0, s.cotangent().pad(low, high, interior));
}

void transpose_pad(S s) {
  if (s.node.types[0].size() == 0) return;
  const auto& [low, high, interior] = s.node.as<PadAttributes>();
  Axes crop_low, crop_high, start, limit, stride;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const std::int64_t size = size_of(s.type_of_operand(0), i);
    crop_low.push_back(-low[i]);
    crop_high.push_back(-high[i]);
    start.push_back(0);
    limit.push_back(size == 0 ? 0 : size == 1 ? 1 : (size - 1) * (interior[i] + 1) + 1);
    stride.push_back(size > 1 ? interior[i] + 1 : 1);
  }
  const Quantity cropped = s.cotangent().pad(crop_low, crop_high, Axes(low.size()));
  const Quantity operand = {
      &s.graph, s.graph.add(Op::slice, {cropped.value}, SliceAttributes{start, limit, stride})};
  s.add(0, operand);
  if (!s.is_linear(1)) return;
  const Axes all = axes_up_to(s.node.types[0].rank());
  s.add(1, s.cotangent().sum(all) - operand.sum(all));
}

// Per axis, the part of window w at place p belongs to element w * stride + p * dilation. Rows of
// places are shifted against each other, and added: a row that is longer by the dilation than the
// rows that it is read as begins that much further along in each.
void transpose_sliding_windows(S s) {
  if (s.node.types[0].size() == 0) return;
  const auto& [sizes, strides, dilations] = s.node.as<WindowsAttributes>();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  Quantity sum = s.cotangent();  // the axes that are left of [windows..., places...]
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    // Windows of `axis` are axis `axis`; its places are the first of the places that are left.
    sum = sum.move_axis(axis, sum.type().rank() - 1).move_axis(rank - 1, sum.type().rank() - 2);
    const std::int64_t size = size_of(s.type_of_operand(0), axis), count = sizes[at(axis)];
    const std::int64_t step = count > 1 ? dilations[at(axis)] : 0;
    const int last = sum.type().rank() - 1;
    const std::int64_t windows = size_of(sum.type(), static_cast<std::int64_t>(last));
    const std::int64_t stride = windows > 1 ? strides[at(axis)] : 1;
    const std::int64_t spread = (windows - 1) * stride + 1;
    const std::int64_t row = size + step;
    Axes low(at(last + 1)), high(at(last + 1)), interior(at(last + 1));
    interior[at(last)] = stride - 1;
    high[at(last)] = row - spread;
    sum = sum.pad(low, high, interior);  // [..., places, row]
    Axes shape(sum.shape().begin(), sum.shape().end() - 2);
    const std::int64_t flat = count * row, kept = count * size;
    shape.push_back(flat);
    sum = sum.reshape(Shape(shape));
    Axes start(shape.size()), limit = shape;
    limit.back() = kept;
    sum = sum.slice(start, limit);
    shape.back() = count;
    shape.push_back(size);
    sum = sum.reshape(Shape(shape)).sum({static_cast<std::int64_t>(shape.size()) - 2});
    sum = sum.move_axis(sum.type().rank() - 1, axis);
  }
  s.add(0, sum);
}

// --- at places that are known when it runs -------------------------------------------------------

namespace {

std::vector<Value> starts_of(S s, std::size_t first) {
  std::vector<Value> starts;
  for (std::size_t i = first; i < s.node.inputs.size(); ++i) starts.push_back(*s.known[i]);
  return starts;
}

Quantity block_of(S s, Quantity from, const std::vector<Value>& starts, const Shape& shape) {
  std::vector<Value> operands = {from.value};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return {&s.graph, s.graph.add(Op::dynamic_slice, std::move(operands),
                                SizesAttributes{Axes(shape.begin(), shape.end())})};
}

Quantity with_block(S s, Quantity to, Quantity block, const std::vector<Value>& starts) {
  std::vector<Value> operands = {to.value, block.value};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return {&s.graph, s.graph.add(Op::dynamic_update_slice, std::move(operands))};
}

}  // namespace

// The sum so far is updated in place: in a loop, each turn touches the block alone.
void transpose_dynamic_slice(S s) {
  const std::vector<Value> starts = starts_of(s, 1);
  const Quantity sum = s.sum(0);
  const Quantity block = block_of(s, sum, starts, s.node.types[0].shape) + s.cotangent();
  s.set_sum(0, with_block(s, sum, block, starts));
}

void transpose_dynamic_update_slice(S s) {
  const std::vector<Value> starts = starts_of(s, 2);
  const Type& block = s.type_of_operand(1);
  if (s.is_linear(1)) s.add(1, block_of(s, s.cotangent(), starts, block.shape));
  if (s.is_linear(0)) {
    s.add(0, with_block(s, s.cotangent(), Quantity::zeros(s.graph, block), starts));
  }
}

namespace {

std::vector<std::int64_t> last_starts(const Type& operand, const Axes& start_axes,
                                      const Axes& sizes) {
  std::vector<std::int64_t> last;
  for (std::int64_t axis : start_axes) last.push_back(size_of(operand, axis) - sizes[at(axis)]);
  return last;
}

}  // namespace

// A gather holds its windows inside of the operand; a scatter leaves out what is outside.
void transpose_gather(S s) {
  const auto& a = s.node.as<GatherAttributes>();
  const Axes last = last_starts(s.type_of_operand(0), a.start_axes, a.sizes);
  const Quantity indices = held(s.in(1), a.index_vector_axis, Axes(last.size()), last);
  const ScatterAttributes scatter{a.offset_axes,       a.collapsed_axes, a.operand_batch_axes,
                                  a.index_batch_axes,  a.start_axes,     a.index_vector_axis,
                                  ScatterCombiner::add};
  s.set_sum(
      0, {&s.graph,
          s.graph.add(Op::scatter, {s.sum(0).value, indices.value, s.cotangent().value}, scatter)});
}

// Where updates replace, the last one in row-major order is the one that counts.
void transpose_scatter(S s) {
  const auto& a = s.node.as<ScatterAttributes>();
  const Quantity indices = s.in(1);
  const Type updates = s.type_of_operand(2);
  Quantity met = windows_met(s.graph, a, s.cotangent(), indices, updates);
  if (a.combiner == ScatterCombiner::add) {
    s.add(0, s.cotangent());
    s.add(2, met);
    return;
  }
  if (s.is_linear(0)) {
    s.add(0, scattered(s.graph, a, ScatterCombiner::replace, s.cotangent(), indices,
                       Quantity::zeros(s.graph, updates)));
  }
  if (!s.is_linear(2)) return;
  // Numbers of updates, from 1, in the place of the updates themselves.
  const Type counts{Dtype::i64, updates.shape};
  const Quantity number =
      iota(s.graph, Type{Dtype::i64, Shape({updates.size()})}, 0).reshape(updates.shape) + 1;
  const Quantity last =
      scattered(s.graph, a, ScatterCombiner::replace,
                Quantity::zeros(s.graph, Type{Dtype::i64, s.node.types[0].shape}), indices, number);
  const Quantity winner = windows_met(s.graph, a, last, indices, counts);
  s.add(2, select(winner == number, met, met.number(0)));
}

}  // namespace anabranch
