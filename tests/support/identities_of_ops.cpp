// Identities of single ops: in parts, in another order, under other names of the axes.
#include <algorithm>

#include "tests/support/identities.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;
using Written = std::optional<Value>;

bool is_exact(Dtype dtype) { return is_integer(dtype) || dtype == bool_; }

bool holds(const Axes& axes, std::int64_t axis) { return std::ranges::count(axes, axis) > 0; }

// --- elementwise -----------------------------------------------------------------------------

Written elementwise_in_halves(IdentityWriter& to, const Node& node, Value x) {
  const auto axis = to.axis_of(x);
  if (!is_elementwise(node.op) || !axis) return std::nullopt;
  const std::int64_t size = to.size(x, *axis), cut = to.cut(size);
  const auto half = [&](std::int64_t begin, std::int64_t end) {
    std::vector<Value> operands;
    for (Value input : node.inputs) operands.push_back(to.part(input, *axis, begin, end));
    Node part = node;
    part.types = {{to.dtype(x), to.shape(operands[0])}};
    return to.again(part, operands);
  };
  const Value first = half(0, cut);
  return to.concatenate({first, half(cut, size)}, *axis);
}

Written elementwise_of_moved(IdentityWriter& to, const Node& node, Value x) {
  if (!is_elementwise(node.op)) return std::nullopt;
  const Move move = random_move(to.random, to.shape(x));
  std::vector<Value> operands;
  for (Value input : node.inputs) operands.push_back(move.there(to, input));
  Node moved = node;
  moved.types = {{to.dtype(x), to.shape(operands[0])}};
  return move.back(to, to.again(moved, operands));
}

Written compared_in_turn(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::compare) return std::nullopt;
  constexpr Comparison turned[] = {Comparison::eq, Comparison::ne, Comparison::gt,
                                   Comparison::ge, Comparison::lt, Comparison::le};
  const Comparison direction = node.as<CompareAttributes>().direction;
  return to.add(Op::compare, {node.inputs[1], node.inputs[0]},
                CompareAttributes{turned[static_cast<int>(direction)]});
}

Written not_the_opposite(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::compare) return std::nullopt;
  constexpr Comparison opposite[] = {Comparison::ne, Comparison::eq, Comparison::ge,
                                     Comparison::gt, Comparison::le, Comparison::lt};
  const Comparison direction = node.as<CompareAttributes>().direction;
  const bool is_equality = direction == Comparison::eq || direction == Comparison::ne;
  if (!is_equality && !is_exact(to.dtype(node.inputs[0]))) return std::nullopt;
  const CompareAttributes other{opposite[static_cast<int>(direction)]};
  return to.add(Op::not_, {to.add(Op::compare, node.inputs, other)});
}

Written or_equal(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::compare) return std::nullopt;
  const Comparison direction = node.as<CompareAttributes>().direction;
  if (direction != Comparison::le && direction != Comparison::ge) return std::nullopt;
  const Comparison strict = direction == Comparison::le ? Comparison::lt : Comparison::gt;
  const Value less = to.add(Op::compare, node.inputs, CompareAttributes{strict});
  return to.add(Op::or_, {less, to.add(Op::compare, node.inputs, CompareAttributes{})});
}

// --- index maps ------------------------------------------------------------------------------

Written concatenated_by_turns(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::concatenate || node.inputs.size() < 3) return std::nullopt;
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  const auto cut =
      node.inputs.begin() + 1 + to.random.below(static_cast<std::int64_t>(node.inputs.size()) - 1);
  const Value first = to.concatenate({node.inputs.begin(), cut}, axis);
  return to.concatenate({first, to.concatenate({cut, node.inputs.end()}, axis)}, axis);
}

Written sliced_twice(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::slice) return std::nullopt;
  const auto& slice = node.as<SliceAttributes>();
  const std::size_t rank = slice.start.size();
  SliceAttributes block{slice.start, slice.limit, Axes(rank, 1)};
  SliceAttributes steps{Axes(rank, 0), {}, slice.stride};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    steps.limit.push_back(std::max<std::int64_t>(slice.limit[axis] - slice.start[axis], 0));
  }
  return to.add(Op::slice, {to.add(Op::slice, node.inputs, block)}, steps);
}

Written broadcast_in_parts(IdentityWriter& to, const Node& node, Value x) {
  const auto axis = to.axis_of(x);
  if (node.op != Op::broadcast_in_dim || !axis) return std::nullopt;
  const AxesAttributes& axes = node.as<AxesAttributes>();
  const Type type = to.type(x);
  for (std::size_t k = 0; k < axes.axes.size(); ++k) {  // what is repeated along
    const bool same = to.size(node.inputs[0], static_cast<std::int64_t>(k)) != 1;
    if (axes.axes[k] == *axis && same) return std::nullopt;
  }
  const std::int64_t size = to.size(x, *axis), cut = to.cut(size);
  const auto half = [&](std::int64_t count) {
    Axes sizes(type.shape.begin(), type.shape.end());
    sizes[static_cast<std::size_t>(*axis)] = count;
    return to.add(Op::broadcast_in_dim, node.inputs, axes, Type{type.dtype, Shape(sizes)});
  };
  const Value first = half(cut);
  return to.concatenate({first, half(size - cut)}, *axis);
}

Written iota_turned(IdentityWriter& to, const Node& node, Value x) {
  const Type type = to.type(x);
  if (node.op != Op::iota || !is_integer(type.dtype)) return std::nullopt;
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  // Numbers beyond the dtype wrap.
  const Value last = to.convert(
      to.splat({i64, type.shape}, static_cast<double>(to.size(x, axis) - 1)), type.dtype);
  const Value turned = to.add(Op::subtract, {last, x});
  return to.add(Op::reverse, {turned}, AxesAttributes{{axis}});
}

Written iota_repeated(IdentityWriter& to, const Node& node, Value x) {
  if (node.op != Op::iota) return std::nullopt;
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  const Type row{to.dtype(x), {to.size(x, axis)}};
  const Value line = to.add(Op::iota, {}, AxisAttributes{0}, row);
  return to.add(Op::broadcast_in_dim, {line}, AxesAttributes{{axis}}, to.type(x));
}

// --- reductions ------------------------------------------------------------------------------

// The axes that a reduction of one array takes away; nothing where it is none.
std::optional<Axes> reduced_axes(const Node& node) {
  if (!is_reduction(node.op) || node.inputs.size() != 1) return std::nullopt;
  if (const auto* axes = std::get_if<AxesAttributes>(&node.attributes)) return axes->axes;
  return Axes{node.as<AxisAttributes>().axis};
}

Written reduced_in_rows(IdentityWriter& to, const Node& node, Value x) {
  const auto axes = reduced_axes(node);
  const auto kept = to.axis_of(x);
  if (!axes || !kept) return std::nullopt;
  std::int64_t axis = 0;  // of the operand
  for (std::int64_t left = *kept;; ++axis) {
    if (!holds(*axes, axis) && left-- == 0) break;
  }
  const std::int64_t size = to.size(x, *kept), cut = to.cut(size);
  const auto half = [&](std::int64_t begin, std::int64_t end) {
    Node part = node;
    Axes sizes(part.types[0].shape.begin(), part.types[0].shape.end());
    sizes[static_cast<std::size_t>(*kept)] = end - begin;
    part.types[0].shape = Shape(sizes);
    return to.again(part, {to.part(node.inputs[0], axis, begin, end)});
  };
  const Value first = half(0, cut);
  return to.concatenate({first, half(cut, size)}, *kept);
}

// What two reductions are combined by where their order does not matter.
std::optional<Op> combiner_of(const Node& node, Dtype dtype) {
  switch (node.op) {
    case Op::reduce_max:
      return Op::maximum;
    case Op::reduce_min:
      return Op::minimum;
    case Op::reduce_any:
      return Op::or_;
    case Op::reduce_all:
      return Op::and_;
    case Op::reduce_sum:
      return is_integer(dtype) ? std::optional(Op::add) : std::nullopt;
    case Op::reduce_product:
      return is_integer(dtype) ? std::optional(Op::multiply) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Written reduced_in_halves(IdentityWriter& to, const Node& node, Value x) {
  const auto combine = combiner_of(node, to.dtype(x));
  if (!combine || node.as<AxesAttributes>().axes.empty()) return std::nullopt;
  const std::int64_t axis = to.random.of(node.as<AxesAttributes>().axes);
  const std::int64_t size = to.size(node.inputs[0], axis), cut = to.cut(size);
  const Value first = to.again(node, {to.part(node.inputs[0], axis, 0, cut)});
  return to.add(*combine, {first, to.again(node, {to.part(node.inputs[0], axis, cut, size)})});
}

Written reduced_axis_by_axis(IdentityWriter& to, const Node& node, Value x) {
  if (!combiner_of(node, to.dtype(x))) return std::nullopt;
  Value result = node.inputs[0];
  const Axes axes = node.as<AxesAttributes>().axes;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    result = to.add(node.op, {result}, AxesAttributes{{*axis}});
  }
  return result;
}

Written reduced_in_another_order(IdentityWriter& to, const Node& node, Value x) {
  if (!combiner_of(node, to.dtype(x))) return std::nullopt;
  const auto kind = static_cast<std::int64_t>(to.random.below(2));
  const Axes axes = node.as<AxesAttributes>().axes;
  if (kind == 0) {
    return to.again(node, {to.add(Op::reverse, node.inputs, AxesAttributes{axes})});
  }
  // All reduced axes become one, at the end.
  const Shape shape = to.shape(node.inputs[0]);
  Axes order, sizes;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (!holds(axes, axis)) order.push_back(axis);
  }
  std::int64_t reduced = 1;
  for (std::int64_t axis : order) sizes.push_back(shape[static_cast<int>(axis)]);
  for (std::int64_t axis : axes) {
    order.push_back(axis);
    reduced *= shape[static_cast<int>(axis)];
  }
  sizes.push_back(reduced);
  const Value turned = to.add(Op::transpose, node.inputs, AxesAttributes{order});
  const auto last = static_cast<std::int64_t>(sizes.size()) - 1;
  return to.add(node.op, {to.reshape(turned, Shape(sizes))}, AxesAttributes{{last}});
}

// What runs along one axis does so in each row.
Written along_an_axis_in_rows(IdentityWriter& to, const Node& node, Value x) {
  std::int64_t along = 0;
  if (node.op == Op::sort) {
    along = node.as<SortAttributes>().axis;
  } else if (node.op == Op::argsort) {
    along = node.as<ArgsortAttributes>().axis;
  } else if (node.op == Op::cumulative) {
    along = node.as<CumulativeAttributes>().axis;
  } else {
    return std::nullopt;
  }
  const auto axis = to.axis_of(x);
  if (!axis || *axis == along) return std::nullopt;
  const std::int64_t size = to.size(x, *axis), cut = to.cut(size);
  const Value first = to.again(node, {to.part(node.inputs[0], *axis, 0, cut)});
  const Value second = to.again(node, {to.part(node.inputs[0], *axis, cut, size)});
  return to.concatenate({first, second}, *axis);
}

Written running_the_other_way(IdentityWriter& to, const Node& node, Value) {
  if (node.op != Op::cumulative) return std::nullopt;
  CumulativeAttributes running = node.as<CumulativeAttributes>();
  running.reverse = !running.reverse;
  const AxesAttributes axes{{running.axis}};
  const Value turned = to.add(Op::reverse, node.inputs, axes);
  return to.add(Op::reverse, {to.add(Op::cumulative, {turned}, running)}, axes);
}

const Rewrite table[] = {
    {"f(x, y) = concatenate(f(x[:k], y[:k]), f(x[k:], y[k:]))", elementwise_in_halves},
    {"f(x, y) = move back f(move x, move y)", elementwise_of_moved},
    {"(x < y) = (y > x)", compared_in_turn},
    {"(x < y) = ~(x >= y), for integers; (x = y) = ~(x != y)", not_the_opposite},
    {"(x <= y) = (x < y) | (x = y)", or_equal},
    {"concatenate(x, y, z) = concatenate(concatenate(x, y), z)", concatenated_by_turns},
    {"slice(x) = every n-th of a block of x", sliced_twice},
    {"broadcast(x) = concatenate(broadcast(x), broadcast(x))", broadcast_in_parts},
    {"iota = reverse(n - 1 - iota), for integers", iota_turned},
    {"iota = broadcast(iota of one axis)", iota_repeated},
    {"reduce(x) = concatenate(reduce(x[:k]), reduce(x[k:])), along a kept axis", reduced_in_rows},
    {"reduce(x) = reduce(x[:k]) op reduce(x[k:]), where the order is free", reduced_in_halves},
    {"reduce(x) = reduce(reduce(x)), axis by axis, where the order is free", reduced_axis_by_axis},
    {"reduce(x) = reduce(x in another order), where that is free", reduced_in_another_order},
    {"sort(x) = concatenate(sort(x[:k]), sort(x[k:])), along another axis", along_an_axis_in_rows},
    {"cumulative(x) = reverse(cumulative(reverse(x)), the other way)", running_the_other_way},
};

}  // namespace

std::span<const Identity> op_identities() {
  static const std::vector<Identity> rows = of_certain_ops(table);
  return rows;
}

}  // namespace anabranch
