#include "passes/convolution_sums.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "ir/interpret/interpret.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

constexpr std::int64_t most_inputs = 8, most_outputs = 8;  // of a group
constexpr std::int64_t most_pairs = 32;                    // of an input and an output, of a group
constexpr std::int64_t few_outputs = 4, few_features = 8;  // where features are last
constexpr std::int64_t few_terms = 25;                     // whose kernel is compiled soon
constexpr std::int64_t elements_per_term = 256;            // for which more of them pay
constexpr std::int64_t few_results = 25;                   // whose kernel is compiled soon
constexpr std::int64_t most_results = 100, terms_per_result = 2048;  // for which more of them pay
constexpr std::int64_t window_per_result = 4;                        // places of it
constexpr std::int64_t least_terms = 256;                            // of each such result

std::int64_t product_of(const Axes& sizes) { return Shape(sizes).size(); }

/// A convolution's sizes: how many images, of how many features each; of a group, how many inputs
/// and outputs; places of a window and of the result.
struct ConvolutionSizes {
  std::int64_t images, groups, inputs, outputs;
  Axes window, places;

  ConvolutionSizes(const Rewriter& graph, const Node& node) {
    const auto& a = node.as<ConvolutionAttributes>();
    const Axes lhs = graph.sizes(node.inputs[0]), rhs = graph.sizes(node.inputs[1]);
    images = lhs[at(a.lhs_axes[0])];
    groups = a.groups;
    inputs = rhs[at(a.rhs_axes[1])];
    outputs = rhs[at(a.rhs_axes[0])] / groups;
    for (std::size_t i = 2; i < a.rhs_axes.size(); ++i) {
      window.push_back(rhs[at(a.rhs_axes[i])]);
      places.push_back(node.types[0].shape[static_cast<int>(a.result_axes[i])]);
    }
  }
};

bool can_be_sums(const Rewriter& graph, const Node& node) {
  const Type &filters = graph.type(node.inputs[1]), &result = node.types[0];
  if (filters.dtype != f32 && filters.dtype != f64) return false;  // sums of others are wider
  return result.size() > 0 && filters.size() > 0 &&
         node.as<ConvolutionAttributes>().feature_splits == 1;
}

bool are_few(std::int64_t inputs, std::int64_t outputs) {
  return inputs <= most_inputs && outputs <= most_outputs && inputs * outputs <= most_pairs;
}

bool has_few_terms(const ConvolutionSizes& sizes, const Node& node) {
  if (!are_few(sizes.inputs, sizes.outputs)) return false;
  const auto& a = node.as<ConvolutionAttributes>();
  if (a.lhs_axes[1] + 1 == std::ssize(a.lhs_axes)) {  // features are last
    const bool is_spread = sizes.outputs > 1 && sizes.outputs <= few_outputs && sizes.groups > 1;
    const bool is_narrow = sizes.outputs == 1 && sizes.groups < few_features;
    if (sizes.inputs > 1 || !(is_spread || is_narrow)) return false;
  }
  const std::int64_t terms = product_of(sizes.window) * sizes.inputs;
  return terms <= few_terms || terms * elements_per_term <= node.types[0].size();
}

// Each image is a feature of the filters whose gradient that is, and the window the whole of what
// they gave.
bool has_few_results(const ConvolutionSizes& sizes) {
  const std::int64_t places = product_of(sizes.places), window = product_of(sizes.window);
  const std::int64_t terms = window * sizes.inputs;
  return are_few(sizes.images, sizes.outputs) && places > 1 &&
         window >= window_per_result * places && terms >= least_terms &&
         (places <= few_results || (places <= most_results && places * terms_per_result <= terms));
}

// The value whose axis `to[i]` is axis `from[i]` of `value`.
Value with_axes(Rewriter& graph, Value value, const Axes& from, const Axes& to) {
  Axes order(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) order[at(to[i])] = from[i];
  return graph.add(Op::transpose, {value}, AxesAttributes{std::move(order)});
}

// What a place of the window meets in a feature of each group, for every element of the result, and
// its filters' elements.
Value product_at(Rewriter& graph, const Node& node, Value padded, const Axes& place,
                 std::int64_t feature) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Axes from = graph.sizes(padded), filters = graph.sizes(node.inputs[1]);
  SliceAttributes met{Axes(from.size(), 0), from, Axes(from.size(), 1)};
  SliceAttributes element{Axes(filters.size(), 0), filters, Axes(filters.size(), 1)};
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto axis = at(a.lhs_axes[i + 2]);
    const std::int64_t count = node.types[0].shape[static_cast<int>(a.result_axes[i + 2])];
    met.start[axis] = place[i] * a.rhs_dilations[i];
    met.limit[axis] = met.start[axis] + (count - 1) * a.strides[i] + 1;
    met.stride[axis] = a.strides[i];
    const auto of_filters = at(a.rhs_axes[i + 2]);
    const std::int64_t last = filters[of_filters] - 1;
    element.start[of_filters] = a.rhs_reversals[i] == 0 ? place[i] : last - place[i];
    element.limit[of_filters] = element.start[of_filters] + 1;
  }
  const auto of_inputs = at(a.lhs_axes[1]), of_group = at(a.rhs_axes[1]);
  met.start[of_inputs] = feature;
  met.stride[of_inputs] = filters[of_group];
  element.start[of_group] = feature;
  element.limit[of_group] = feature + 1;
  Value x = graph.add(Op::slice, {padded}, std::move(met));
  const std::int64_t outputs = filters[at(a.rhs_axes[0])];
  Axes sizes = graph.sizes(x), axes(sizes.size());
  const std::int64_t groups = std::exchange(sizes[of_inputs], outputs);
  const Type all{graph.type(x).dtype, Shape(sizes)};
  if (graph.type(x) != all) {  // for the outputs of a group, side by side
    std::iota(axes.begin(), axes.end(), 0);
    for (std::int64_t& axis : axes) axis += axis > a.lhs_axes[1];
    sizes[of_inputs] = groups;
    sizes.insert(sizes.begin() + a.lhs_axes[1] + 1, outputs / groups);
    const Type apart{all.dtype, Shape(std::move(sizes))};
    x = graph.add(Op::broadcast_in_dim, {x}, AxesAttributes{std::move(axes)}, apart);
    x = graph.reshape(x, {all.shape.begin(), all.shape.end()});
  }
  const Value w =
      graph.reshape(graph.add(Op::slice, {node.inputs[1]}, std::move(element)), {outputs});
  const Value each = graph.add(Op::broadcast_in_dim, {w}, AxesAttributes{{a.lhs_axes[1]}}, all);
  return graph.add(Op::multiply, {x, each});
}

Value sum_of_terms(Rewriter& graph, const Node& node, const ConvolutionSizes& sizes) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Value padded = padded_lhs(graph, node.inputs[0], a);
  const Dtype dtype = graph.type(padded).dtype;
  const std::int64_t terms = product_of(sizes.window) * sizes.inputs;
  // In XLA's order (ir/interpret/interpret.h): mostly two sums, which do not wait for each other,
  // and a last term that has no partner.
  const std::int64_t paired = adds_in_a_row(a) ? 0 : terms / 2 * 2;
  std::array<std::optional<Value>, 2> sums;
  const auto add = [&](std::optional<Value>& sum, std::int64_t term) {
    const Axes place = row_major_place(term / sizes.inputs, sizes.window);
    const Value product = product_at(graph, node, padded, place, term % sizes.inputs);
    // From 0: the sum of -0 is 0.
    if (!sum) sum = graph.splat(Literal::scalar(dtype, 0), graph.type(product).shape);
    sum = graph.add(Op::add, {*sum, product});
  };
  for (std::int64_t term = 0; term < paired; ++term) add(sums[at(term % 2)], term);
  std::optional<Value> sum;
  if (paired > 0) sum = graph.add(Op::add, {*sums[0], *sums[1]});
  for (std::int64_t term = paired; term < terms; ++term) add(sum, term);
  return with_axes(graph, *sum, a.lhs_axes, a.result_axes);
}

// At a place of the result: what the window meets there, as [image, group, 1, input, window...],
// times the filters, as [group, output, input, window...], summed up to [image, output].
Value result_at(Rewriter& graph, const ConvolutionAttributes& a, const ConvolutionSizes& sizes,
                Value lhs, Value filters, const Axes& place) {
  const Axes from = graph.sizes(lhs);
  SliceAttributes met{Axes(from.size(), 0), from, Axes(from.size(), 1)};
  for (std::size_t i = 0; i < place.size(); ++i) {
    met.start[i + 2] = place[i] * a.strides[i];
    met.limit[i + 2] = met.start[i + 2] + (sizes.window[i] - 1) * a.rhs_dilations[i] + 1;
    met.stride[i + 2] = a.rhs_dilations[i];
  }
  Axes apart = {sizes.images, sizes.groups, sizes.inputs};
  apart.insert(apart.end(), sizes.window.begin(), sizes.window.end());
  const Value x = graph.reshape(graph.add(Op::slice, {lhs}, std::move(met)), apart);
  apart.insert(apart.begin() + 2, sizes.outputs);
  const Type all{graph.type(lhs).dtype, Shape(apart)};
  Axes of_x(apart.size() - 1), of_filters(apart.size() - 1), summed(apart.size() - 3);
  std::iota(of_x.begin(), of_x.end(), 0);
  for (std::int64_t& axis : of_x) axis += axis >= 2;
  std::iota(of_filters.begin(), of_filters.end(), 1);
  std::iota(summed.begin(), summed.end(), 3);
  const Value product = graph.add(
      Op::multiply, {graph.add(Op::broadcast_in_dim, {x}, AxesAttributes{of_x}, all),
                     graph.add(Op::broadcast_in_dim, {filters}, AxesAttributes{of_filters}, all)});
  const Value sum = graph.add(Op::reduce_sum, {product}, AxesAttributes{std::move(summed)});
  return graph.reshape(sum, {sizes.images, sizes.groups * sizes.outputs, 1});
}

Value results_as_sums(Rewriter& graph, const Node& node, const ConvolutionSizes& sizes) {
  const auto& a = node.as<ConvolutionAttributes>();
  const Value lhs =
      graph.add(Op::transpose, {padded_lhs(graph, node.inputs[0], a)}, AxesAttributes{a.lhs_axes});
  const Value filters = filters_of(graph, node.inputs[1], a);
  std::vector<Value> results;
  for (std::int64_t number = 0; number < product_of(sizes.places); ++number) {
    const Axes place = row_major_place(number, sizes.places);
    results.push_back(result_at(graph, a, sizes, lhs, filters, place));
  }
  const Value joined = graph.add(Op::concatenate, std::move(results), AxisAttributes{2});
  Axes apart = {sizes.images, sizes.groups * sizes.outputs};
  apart.insert(apart.end(), sizes.places.begin(), sizes.places.end());
  Axes in_order(apart.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  return with_axes(graph, graph.reshape(joined, std::move(apart)), in_order, a.result_axes);
}

}  // namespace

std::optional<Value> convolution_as_sums(Rewriter& graph, const Node& given) {
  if (!can_be_sums(graph, given)) return std::nullopt;
  const Node node = given;  // what a rule sees is good until the next `add`
  const ConvolutionSizes sizes(graph, node);
  if (has_few_terms(sizes, node)) return sum_of_terms(graph, node, sizes);
  if (has_few_results(sizes)) return results_as_sums(graph, node, sizes);
  return std::nullopt;
}

Value padded_lhs(Rewriter& graph, Value lhs, const ConvolutionAttributes& a) {
  const std::size_t rank = a.lhs_axes.size();
  PadAttributes pad{Axes(rank), Axes(rank), Axes(rank)};
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const auto axis = at(a.lhs_axes[i + 2]);
    pad.low[axis] = a.low[i];
    pad.high[axis] = a.high[i];
    pad.interior[axis] = a.lhs_dilations[i] - 1;
  }
  const Value zero = graph.constant(Literal::scalar(graph.type(lhs).dtype, 0));
  return graph.add(Op::pad, {lhs, zero}, std::move(pad));
}

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

}  // namespace anabranch
