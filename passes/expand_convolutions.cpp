#include "passes/expand_convolutions.h"

#include <algorithm>
#include <utility>

#include "passes/convolution_sums.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

// The windows of a convolution's left operand, as [batch, group, feature, windows..., places...].
Value windows_of(Rewriter& graph, Value lhs, const Axes& window_sizes,
                 const ConvolutionAttributes& a) {
  const Value padded =
      graph.add(Op::transpose, {padded_lhs(graph, lhs, a)}, AxesAttributes{a.lhs_axes});
  WindowsAttributes windows{{1, 1}, {1, 1}, {1, 1}};
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    windows.sizes.push_back(window_sizes[i]);
    windows.strides.push_back(a.strides[i]);
    windows.dilations.push_back(a.rhs_dilations[i]);
  }
  const Value all = graph.add(Op::sliding_windows, {padded}, std::move(windows));
  const Axes from = graph.sizes(all);
  const std::int64_t groups = a.groups * a.feature_splits;
  Axes sizes = {from[0], groups, from[1] / groups};
  const auto places = from.begin() + static_cast<std::ptrdiff_t>(a.strides.size()) + 2;
  sizes.insert(sizes.end(), from.begin() + 2, places);
  sizes.insert(sizes.end(), places + 2, from.end());
  return graph.reshape(all, std::move(sizes));
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
  const Value filters = filters_of(graph, node.inputs[1], a);
  const Axes of_filters = graph.sizes(filters);
  const Axes window_sizes(of_filters.begin() + 3, of_filters.end());
  const Value windows = windows_of(graph, node.inputs[0], window_sizes, a);
  const Value sums = dot_of_windows(graph, windows, filters, spatial);
  // [group, batch, windows..., output] to [batch, group, output, windows...].
  Axes order = {1, 0, 2 + spatial};
  for (std::int64_t i = 0; i < spatial; ++i) order.push_back(2 + i);
  const bool is_split = a.feature_splits > 1;
  if (is_split) std::swap(order[0], order[1]);  // to [split, batch, output, windows...]
  Value ordered = graph.add(Op::transpose, {sums}, AxesAttributes{std::move(order)});
  if (!is_split) {
    Axes sizes = graph.sizes(ordered);
    sizes[1] *= sizes[2];
    sizes.erase(sizes.begin() + 2);
    ordered = graph.reshape(ordered, std::move(sizes));
  }
  const std::int64_t first = is_split ? 1 : 0;
  Axes layout(a.result_axes.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    layout[static_cast<std::size_t>(a.result_axes[i])] = first + static_cast<std::int64_t>(i);
  }
  if (is_split) layout.insert(layout.begin(), 0);
  return graph.add(Op::transpose, {ordered}, AxesAttributes{std::move(layout)});
}

// A convolution of filters that a reverse turns round reads them backwards, as the gradient of data
// does: the same, with the operand of the reverse. Nothing where no reverse of spatial axes is.
std::optional<ConvolutionStep> reading_backwards(const Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[1]);
  if (below.op != Op::reverse) return std::nullopt;
  auto a = node.as<ConvolutionAttributes>();
  for (const std::int64_t axis : below.as<AxesAttributes>().axes) {
    const auto at = std::find(a.rhs_axes.begin() + 2, a.rhs_axes.end(), axis);
    if (at == a.rhs_axes.end()) return std::nullopt;
    std::int64_t& reversal = a.rhs_reversals[static_cast<std::size_t>(at - a.rhs_axes.begin() - 2)];
    reversal = 1 - reversal;
  }
  return ConvolutionStep{graph.type(node.inputs[0]), graph.type(below.inputs[0]), node.types[0],
                         std::move(a)};
}

// Split-K. The gradient of a convolution's filters sums over all images into few elements: parts
// of the sums are what threads can share, and each reads images of its own. Sizes alone decide.
constexpr std::int64_t most_splits = 16;
constexpr std::int64_t elements_per_sum = 8;  // of both operands, for one of the parts' results

std::optional<Value> convolution_in_splits(Rewriter& graph, const Node& given,
                                           const PassContext& context) {
  const Node node = given;
  auto a = node.as<ConvolutionAttributes>();
  const Type &lhs = graph.type(node.inputs[0]), &rhs = graph.type(node.inputs[1]);
  if (a.groups > 1 || a.feature_splits > 1 || !is_float(lhs.dtype)) return std::nullopt;
  const std::int64_t features = lhs.shape[static_cast<int>(a.lhs_axes[1])];
  const std::int64_t most =
      std::min(most_splits, (lhs.size() + rhs.size()) / elements_per_sum /
                                std::max<std::int64_t>(1, node.types[0].size()));
  a.feature_splits = std::max<std::int64_t>(1, std::min(most, features));
  while (features % a.feature_splits != 0) --a.feature_splits;
  if (a.feature_splits == 1) return std::nullopt;
  Axes sizes(node.types[0].shape.begin(), node.types[0].shape.end());
  sizes.insert(sizes.begin(), a.feature_splits);
  const ConvolutionStep step{lhs, rhs, Type{lhs.dtype, Shape(std::move(sizes))}, a};
  if (!context.takes(step)) return std::nullopt;
  const Value parts = graph.add(Op::convolution, node.inputs, std::move(a));
  return graph.add(Op::reduce_sum, {parts}, AxesAttributes{{0}});
}

}  // namespace

Rule convolution_rule(const PassContext& context) {
  const auto apply = [&context](Rewriter& made, const Node& node) -> std::optional<Value> {
    const ConvolutionStep step{made.type(node.inputs[0]), made.type(node.inputs[1]), node.types[0],
                               node.as<ConvolutionAttributes>()};
    if (const auto sums = convolution_as_sums(made, node)) return sums;
    if (!context.takes) return convolution_by_windows(made, node);
    if (const auto backwards = reading_backwards(made, node);
        backwards && context.takes(*backwards)) {
      const Value turned = made.node(node.inputs[1]).inputs[0];
      return made.add(Op::convolution, {node.inputs[0], turned}, backwards->attributes);
    }
    if (context.takes(step)) return convolution_in_splits(made, node, context);
    return convolution_by_windows(made, node);
  };
  return {
      "convolution(x, w) = dot(windows(pad(x)), w), or sums of products, or one that a backend "
      "takes",
      {Op::convolution},
      apply};
}

}  // namespace anabranch
