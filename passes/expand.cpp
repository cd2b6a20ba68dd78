#include "passes/expand.h"

#include <algorithm>
#include <numeric>

#include "passes/expand_complex.h"
#include "passes/expand_power.h"
#include "passes/expand_scatter.h"
#include "passes/expand_small_matrices.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

// Filters as [group, output, feature, places...], read forwards; a split is a group whose outputs
// are all of them.
Value filters_of(Rewriter& graph, Value rhs, const ConvolutionAttributes& a) {
  Value filters = graph.add(Op::transpose, {rhs}, AxesAttributes{a.rhs_axes});
  AxesAttributes reversed;
  for (std::size_t i = 0; i < a.rhs_reversals.size(); ++i) {
    if (a.rhs_reversals[i] != 0) reversed.axes.push_back(static_cast<std::int64_t>(i) + 2);
  }
  if (!reversed.axes.empty()) filters = graph.add(Op::reverse, {filters}, std::move(reversed));
  const std::size_t cut = a.feature_splits > 1 ? 1 : 0;  // features, or outputs
  Axes sizes = graph.sizes(filters);
  const std::int64_t groups = a.groups * a.feature_splits;
  sizes[cut] /= groups;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(cut), groups);
  filters = graph.reshape(filters, std::move(sizes));
  if (cut == 0) return filters;
  AxesAttributes order{Axes(graph.sizes(filters).size())};
  std::iota(order.axes.begin(), order.axes.end(), 0);
  std::swap(order.axes[0], order.axes[1]);
  return graph.add(Op::transpose, {filters}, std::move(order));
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

// A convolution that takes each feature by itself has no sum over features for a library to gain
// by: a product for each place of the window is added up, and what is before and after fuses with
// it. Libraries are fast where many features lie side by side.
constexpr std::int64_t many_features = 8, most_outputs = 4;
constexpr std::int64_t few_places = 25;           // whose kernel is compiled soon
constexpr std::int64_t elements_per_place = 512;  // for which more of them pay

bool takes_features_alone(const Rewriter& graph, const Node& node) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Type &filters = graph.type(node.inputs[1]), &result = node.types[0];
  if (filters.dtype != f32 && filters.dtype != f64) return false;  // sums of others are wider
  if (result.size() == 0 || filters.size() == 0 || a.feature_splits != 1) return false;
  const auto size = [&](std::size_t axis) {
    return filters.shape[static_cast<int>(a.rhs_axes[axis])];
  };
  if (size(1) != 1 || (size(0) != a.groups && (a.groups > 1 || size(0) > most_outputs)))
    return false;
  const bool features_last = a.lhs_axes[1] + 1 == std::ssize(a.lhs_axes);
  if (features_last && (a.groups >= many_features || size(0) != a.groups)) return false;
  const std::int64_t places = filters.size() / size(0);
  return places <= few_places || places * elements_per_place <= result.size();
}

// The left operand with its padding, as it is in memory.
Value padded_lhs(Rewriter& graph, Value lhs, const ConvolutionAttributes& a) {
  const std::size_t rank = a.lhs_axes.size();
  PadAttributes pad{Axes(rank), Axes(rank), Axes(rank)};
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const auto axis = static_cast<std::size_t>(a.lhs_axes[i + 2]);
    pad.low[axis] = a.low[i];
    pad.high[axis] = a.high[i];
    pad.interior[axis] = a.lhs_dilations[i] - 1;
  }
  const Value zero = graph.constant(Literal::scalar(graph.type(lhs).dtype, 0));
  return graph.add(Op::pad, {lhs, zero}, std::move(pad));
}

// What a place of the window meets, for every element of the result, and its filters' elements.
Value product_at(Rewriter& graph, const Node& node, Value padded, const Axes& place) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Axes from = graph.sizes(padded), filters = graph.sizes(node.inputs[1]);
  SliceAttributes met{Axes(from.size(), 0), from, Axes(from.size(), 1)};
  SliceAttributes element{Axes(filters.size(), 0), filters, Axes(filters.size(), 1)};
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto axis = static_cast<std::size_t>(a.lhs_axes[i + 2]);
    const std::int64_t count = node.types[0].shape[static_cast<int>(a.result_axes[i + 2])];
    met.start[axis] = place[i] * a.rhs_dilations[i];
    met.limit[axis] = met.start[axis] + (count - 1) * a.strides[i] + 1;
    met.stride[axis] = a.strides[i];
    const auto of_filters = static_cast<std::size_t>(a.rhs_axes[i + 2]);
    const std::int64_t last = filters[of_filters] - 1;
    element.start[of_filters] = a.rhs_reversals[i] == 0 ? place[i] : last - place[i];
    element.limit[of_filters] = element.start[of_filters] + 1;
  }
  Value x = graph.add(Op::slice, {padded}, std::move(met));
  const std::int64_t outputs = filters[static_cast<std::size_t>(a.rhs_axes[0])];
  Axes sizes = graph.sizes(x), axes(sizes.size());
  sizes[static_cast<std::size_t>(a.lhs_axes[1])] = outputs;
  std::iota(axes.begin(), axes.end(), 0);
  const Type all{graph.type(x).dtype, Shape(std::move(sizes))};
  if (graph.type(x) != all) x = graph.add(Op::broadcast_in_dim, {x}, AxesAttributes{axes}, all);
  const Value w =
      graph.reshape(graph.add(Op::slice, {node.inputs[1]}, std::move(element)), {outputs});
  const Value each = graph.add(Op::broadcast_in_dim, {w}, AxesAttributes{{a.lhs_axes[1]}}, all);
  return graph.add(Op::multiply, {x, each});
}

Value convolution_by_places(Rewriter& graph, const Node& given) {
  const Node node = given;
  const auto& a = node.as<ConvolutionAttributes>();
  const Type filters = graph.type(node.inputs[1]);
  Axes window;
  for (std::size_t i = 2; i < a.rhs_axes.size(); ++i) {
    window.push_back(filters.shape[static_cast<int>(a.rhs_axes[i])]);
  }
  const Value padded = padded_lhs(graph, node.inputs[0], a);
  std::optional<Value> sum;  // from 0: the sum of -0 is 0
  for (std::int64_t number = 0; number < Shape(window).size(); ++number) {
    const Value product = product_at(graph, node, padded, row_major_place(number, window));
    if (!sum) sum = graph.splat(Literal::scalar(filters.dtype, 0), graph.type(product).shape);
    sum = graph.add(Op::add, {*sum, product});
  }
  Axes order(a.result_axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[static_cast<std::size_t>(a.result_axes[i])] = a.lhs_axes[i];
  }
  return graph.add(Op::transpose, {*sum}, AxesAttributes{std::move(order)});
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

Graph expand(const Graph& graph, PassContext& context) {
  const auto convolution = [&](Rewriter& made, const Node& node) -> std::optional<Value> {
    const ConvolutionStep step{made.type(node.inputs[0]), made.type(node.inputs[1]), node.types[0],
                               node.as<ConvolutionAttributes>()};
    if (takes_features_alone(made, node)) return convolution_by_places(made, node);
    if (!context.takes) return convolution_by_windows(made, node);
    if (const auto backwards = reading_backwards(made, node);
        backwards && context.takes(*backwards)) {
      const Value turned = made.node(node.inputs[1]).inputs[0];
      return made.add(Op::convolution, {node.inputs[0], turned}, backwards->attributes);
    }
    if (context.takes(step)) return convolution_in_splits(made, node, context);
    return convolution_by_windows(made, node);
  };
  std::vector<Rule> all = complex_rules();
  all.push_back({"convolution(x, w) = dot(windows(pad(x)), w), or one that a backend takes",
                 {Op::convolution},
                 convolution});
  std::vector tables = {power_rules, scatter_rules, stack_rules};
  if (context.follows_rows && context.follows_rows()) tables.push_back(small_matrix_rules);
  for (const auto rules_of : tables) {
    for (Rule& rule : rules_of()) all.push_back(std::move(rule));
  }
  const RuleTable rules(std::move(all));
  return rewrite(graph, rules, context);
}

}  // namespace anabranch
