#include "passes/expand.h"

#include "passes/expand_complex.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

Axes sizes_of(const Rewriter& graph, Value value) {
  const Shape& shape = graph.type(value).shape;
  return {shape.begin(), shape.end()};
}

Value reshaped(Rewriter& graph, Value value, Axes sizes) {
  const Dtype dtype = graph.type(value).dtype;
  return graph.add(Op::reshape, {value}, NoAttributes{}, Type{dtype, Shape(std::move(sizes))});
}

// The windows of a convolution's left operand, as [batch, group, feature, windows..., places...].
Value windows_of(Rewriter& graph, Value lhs, const Axes& window_sizes,
                 const ConvolutionAttributes& a) {
  const Value ordered = graph.add(Op::transpose, {lhs}, AxesAttributes{a.lhs_axes});
  PadAttributes pad{{0, 0}, {0, 0}, {0, 0}};
  WindowsAttributes windows{{1, 1}, {1, 1}, {1, 1}};
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    pad.low.push_back(a.low[i]);
    pad.high.push_back(a.high[i]);
    pad.interior.push_back(a.lhs_dilations[i] - 1);
    windows.sizes.push_back(window_sizes[i]);
    windows.strides.push_back(a.strides[i]);
    windows.dilations.push_back(a.rhs_dilations[i]);
  }
  const Value zero = graph.constant(Literal::scalar(graph.type(lhs).dtype, 0));
  const Value padded = graph.add(Op::pad, {ordered, zero}, std::move(pad));
  const Value all = graph.add(Op::sliding_windows, {padded}, std::move(windows));
  const Axes from = sizes_of(graph, all);
  Axes sizes = {from[0], a.groups, from[1] / a.groups};
  const auto places = from.begin() + static_cast<std::ptrdiff_t>(a.strides.size()) + 2;
  sizes.insert(sizes.end(), from.begin() + 2, places);
  sizes.insert(sizes.end(), places + 2, from.end());
  return reshaped(graph, all, std::move(sizes));
}

// Of windows [batch, group, feature, windows..., places...] and filters [group, output, feature,
// places...]: [group, batch, windows..., output].
Value dot_of_windows(Rewriter& graph, Value windows, Value filters, std::int64_t spatial) {
  DotAttributes dot{{1}, {0}, {2}, {2}};
  for (std::int64_t i = 0; i < spatial; ++i) {
    dot.lhs_contracting.push_back(3 + spatial + i);
    dot.rhs_contracting.push_back(3 + i);
  }
  return graph.add(Op::dot, {windows, filters}, std::move(dot));
}

std::optional<Value> convolution_by_windows(Rewriter& graph, const Node& given) {
  const Node node = given;  // what a rule sees is good until the next `add`
  const auto& a = node.as<ConvolutionAttributes>();
  const auto spatial = static_cast<std::int64_t>(a.strides.size());
  Value filters = graph.add(Op::transpose, {node.inputs[1]}, AxesAttributes{a.rhs_axes});
  Axes of_filters = sizes_of(graph, filters);
  const Axes window_sizes(of_filters.begin() + 2, of_filters.end());
  of_filters[0] /= a.groups;
  of_filters.insert(of_filters.begin(), a.groups);
  filters = reshaped(graph, filters, of_filters);
  const Value windows = windows_of(graph, node.inputs[0], window_sizes, a);
  const Value sums = dot_of_windows(graph, windows, filters, spatial);
  // [group, batch, windows..., output] to [batch, group, output, windows...].
  Axes order = {1, 0, 2 + spatial};
  for (std::int64_t i = 0; i < spatial; ++i) order.push_back(2 + i);
  const Value ordered = graph.add(Op::transpose, {sums}, AxesAttributes{std::move(order)});
  Axes sizes = sizes_of(graph, ordered);
  sizes[1] *= sizes[2];
  sizes.erase(sizes.begin() + 2);
  const Value in_order = reshaped(graph, ordered, std::move(sizes));
  Axes layout(a.result_axes.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    layout[static_cast<std::size_t>(a.result_axes[i])] = static_cast<std::int64_t>(i);
  }
  return graph.add(Op::transpose, {in_order}, AxesAttributes{std::move(layout)});
}

}  // namespace

Graph expand(const Graph& graph, PassContext& context) {
  const auto convolution = [&](Rewriter& made, const Node& node) -> std::optional<Value> {
    const ConvolutionStep step{made.type(node.inputs[0]), made.type(node.inputs[1]), node.types[0],
                               node.as<ConvolutionAttributes>()};
    if (context.takes && context.takes(step)) return std::nullopt;
    return convolution_by_windows(made, node);
  };
  std::vector<Rule> all = complex_rules();
  all.push_back({"convolution(x, w) = dot(windows(pad(x)), w)", {Op::convolution}, convolution});
  const RuleTable rules(std::move(all));
  return rewrite(graph, rules, context);
}

}  // namespace anabranch
