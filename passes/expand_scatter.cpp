#include "passes/expand_scatter.h"

#include <algorithm>

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

bool holds(const Axes& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Value integer(Rewriter& graph, Dtype dtype, std::int64_t number) {
  return graph.constant(Literal::scalar(dtype, ElementBits{static_cast<std::uint64_t>(number)}));
}

/// The op that combines as a scatter of these numbers does; nothing where none does.
std::optional<Op> op_of(ScatterCombiner combiner, Dtype dtype) {
  switch (combiner) {
    case ScatterCombiner::and_:
      return Op::and_;
    case ScatterCombiner::or_:
      return Op::or_;
    case ScatterCombiner::xor_:
      return Op::xor_;
    default:
      break;
  }
  if (dtype == bool_) return std::nullopt;
  switch (combiner) {
    case ScatterCombiner::add:
      return Op::add;
    case ScatterCombiner::multiply:
      return Op::multiply;
    case ScatterCombiner::minimum:
      return Op::minimum;
    case ScatterCombiner::maximum:
      return Op::maximum;
    default:
      return std::nullopt;
  }
}

/// The block that a scatter of one vector writes. On each axis that the vector says the place of it
/// has one element or a place that is known, so that it is inside of the operand as a whole or not
/// at all.
struct OneWindow {
  Axes sizes;                      ///< of the block
  std::vector<Value> starts;       ///< one scalar per axis, of the indices' dtype
  std::optional<Value> is_inside;  ///< a scalar bool; nothing: always
};

std::optional<Axes> window_sizes(const Rewriter& graph, const Node& node) {
  const auto& a = node.as<ScatterAttributes>();
  const Shape &operand = node.types[0].shape, &updates = graph.type(node.inputs[2]).shape;
  if (!a.operand_batch_axes.empty()) return std::nullopt;
  std::int64_t windows = updates.size();
  Axes sizes;
  std::size_t next = 0;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    const bool is_one = holds(a.inserted_axes, axis);
    sizes.push_back(is_one ? 1 : updates[static_cast<int>(a.window_axes[next++])]);
    if (sizes.back() == 0 || sizes.back() > operand[axis]) return std::nullopt;
    windows /= sizes.back();
  }
  if (windows != 1 || operand.size() == 0) return std::nullopt;
  return sizes;
}

// Element `k` of a vector that is joined from single elements, where it is a constant.
std::optional<std::int64_t> known_start(const Rewriter& graph, Value vector, std::int64_t k) {
  const Node& node = graph.node(vector);
  const auto is_one = [&](Value part) { return graph.type(part).size() == 1; };
  if (node.op != Op::concatenate || !std::ranges::all_of(node.inputs, is_one)) return std::nullopt;
  const auto scalar = graph.splat_of(node.inputs[static_cast<std::size_t>(k)]);
  if (!scalar) return std::nullopt;
  return scalar->first_as<std::int64_t>();
}

std::optional<OneWindow> one_window(Rewriter& graph, const Node& node) {
  const auto sizes = window_sizes(graph, node);
  if (!sizes) return std::nullopt;
  const Axes start_axes = node.as<ScatterAttributes>().start_axes;
  const Shape operand = node.types[0].shape;
  const Dtype dtype = graph.type(node.inputs[1]).dtype;
  OneWindow window{*sizes, std::vector<Value>(sizes->size(), integer(graph, dtype, 0)), {}};
  const auto count = static_cast<std::int64_t>(start_axes.size());
  const Value vector =
      graph.add(Op::reshape, {node.inputs[1]}, NoAttributes{}, Type{dtype, Shape{count}});
  for (std::int64_t k = 0; k < count; ++k) {
    const auto axis = static_cast<std::size_t>(start_axes[static_cast<std::size_t>(k)]);
    const std::int64_t size = (*sizes)[axis];
    const std::int64_t last = operand[static_cast<int>(axis)] - size;
    if (const auto start = known_start(graph, node.inputs[1], k)) {
      if (*start < 0 || *start > last) return std::nullopt;
      window.starts[axis] = integer(graph, dtype, *start);
      continue;
    }
    if (size != 1 || (dtype == i32 && last > INT32_MAX)) return std::nullopt;
    const Value one = graph.add(Op::slice, {vector}, SliceAttributes{{k}, {k + 1}, {1}});
    const Value start = graph.add(Op::reshape, {one}, NoAttributes{}, Type{dtype, Shape{}});
    window.starts[axis] = start;
    const Value from = graph.add(Op::compare, {start, integer(graph, dtype, 0)},
                                 CompareAttributes{Comparison::ge});
    const Value to = graph.add(Op::compare, {start, integer(graph, dtype, last)},
                               CompareAttributes{Comparison::le});
    const Value both = graph.add(Op::and_, {from, to});
    window.is_inside = window.is_inside ? graph.add(Op::and_, {*window.is_inside, both}) : both;
  }
  return window;
}

// Where the window is outside, what is there is written anew.
std::optional<Value> scatter_of_one_window(Rewriter& graph, const Node& node) {
  const ScatterCombiner combiner = node.as<ScatterAttributes>().combiner;
  const Value array = node.inputs[0];
  const Dtype dtype = node.types[0].dtype;
  const std::optional<Op> op = op_of(combiner, dtype);
  if (node.types.size() != 1 || (!op && combiner != ScatterCombiner::replace)) return std::nullopt;
  const Value updates = node.inputs[2];
  const auto window = one_window(graph, node);
  if (!window) return std::nullopt;
  const Type block{dtype, Shape(window->sizes)};
  std::vector<Value> slice = {array};
  slice.insert(slice.end(), window->starts.begin(), window->starts.end());
  const Value before = graph.add(Op::dynamic_slice, slice, SizesAttributes{window->sizes});
  Value after = graph.add(Op::reshape, {updates}, NoAttributes{}, block);
  if (op) after = graph.add(*op, {before, after});
  if (window->is_inside) {
    const Value everywhere = graph.add(Op::broadcast_in_dim, {*window->is_inside}, AxesAttributes{},
                                       Type{bool_, block.shape});
    after = graph.add(Op::select, {everywhere, after, before});
  }
  std::vector<Value> update = {array, after};
  update.insert(update.end(), window->starts.begin(), window->starts.end());
  return graph.add(Op::dynamic_update_slice, std::move(update));
}

}  // namespace

std::vector<Rule> scatter_rules() {
  return {{"scatter(x, i, y) = dynamic_update_slice(x, y, i), for one i, if inside",
           {Op::scatter},
           scatter_of_one_window}};
}

}  // namespace anabranch
