// Convolutions that are sums of few terms, each a product of arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "passes/expand.h"

namespace anabranch {
namespace {

/// Whose backends take every convolution.
Graph expanded(const Graph& graph) {
  PassContext context;
  context.takes = [](const ConvolutionStep&) { return true; };
  return expand(graph, context);
}

bool has_convolution(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::convolution; });
}

// Whose sums are exact in any order.
Literal small_integers(const Type& type) {
  std::mt19937 random(11);
  std::vector<double> values;
  for (std::int64_t i = 0; i < type.size(); ++i) {
    values.push_back(static_cast<double>(random() % 9) - 4);
  }
  if (type.dtype == f64) return Literal::of(std::span<const double>(values), type.shape);
  const std::vector<float> floats(values.begin(), values.end());
  return Literal::of(std::span<const float>(floats), type.shape);
}

/// Batch and features in front of two spatial axes.
ConvolutionAttributes plain(std::int64_t groups = 1) {
  return {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 1}, {0, 0},
          {0, 0},       {1, 1},       {1, 1},       {0, 0}, groups};
}

ConvolutionAttributes along_one_axis() {
  return {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {1}, {0}, {0}, {1}, {1}, {0}, 1};
}

ConvolutionAttributes features_last(std::int64_t groups = 1) {
  ConvolutionAttributes made = plain(groups);
  made.lhs_axes = made.result_axes = {0, 3, 1, 2};
  return made;
}

struct Case {
  std::string name;
  Shape lhs, rhs;
  ConvolutionAttributes attributes;
  Dtype dtype = f32;
};

Graph graph_of(const Case& tested) {
  GraphBuilder builder;
  const Value x = builder.parameter({tested.dtype, tested.lhs});
  const Value w = builder.parameter({tested.dtype, tested.rhs});
  return builder.build({builder.add(Op::convolution, {x, w}, tested.attributes)});
}

void expect_equal_on_integers(const Graph& graph, const Graph& made) {
  const Literal inputs[] = {small_integers(graph.parameter_type(0)),
                            small_integers(graph.parameter_type(1))};
  const Literal got = interpret(made, inputs)[0], expected = interpret(graph, inputs)[0];
  EXPECT_EQ(got.type(), expected.type());
  EXPECT_TRUE(std::ranges::equal(got.bytes(), expected.bytes()));  // the signs of zeros as well
}

std::vector<Case> by_terms() {
  std::vector<Case> cases = {{"One", {2, 1, 6, 7}, {1, 1, 3, 2}, plain()},
                             {"Each", {2, 5, 6, 7}, {5, 1, 3, 3}, plain(5)},
                             {"OnePlace", {2, 1, 6, 7}, {1, 1, 1, 1}, plain()},
                             {"FourOfOne", {2, 1, 6, 7}, {4, 1, 2, 3}, plain()},
                             {"TwoOfEach", {2, 3, 6, 7}, {6, 1, 3, 3}, plain(3)},
                             {"SumsOfFeatures", {2, 4, 6, 7}, {3, 4, 2, 3}, plain()},
                             {"ThreeOfTwoOfEach", {2, 6, 6, 7}, {9, 2, 3, 3}, plain(3)},
                             {"Double", {2, 3, 6, 7}, {3, 1, 3, 3}, plain(3), f64}};
  Case all{"AllAtOnce", {2, 3, 9, 8}, {3, 1, 3, 2}, plain(3)};
  all.attributes.strides = {2, 3};
  all.attributes.low = {2, -1};
  all.attributes.high = {-1, 3};
  all.attributes.lhs_dilations = {2, 1};
  all.attributes.rhs_dilations = {1, 3};
  all.attributes.rhs_reversals = {1, 0};
  cases.push_back(all);
  Case last{"FeaturesLastInTheFilters", {4, 2, 9, 8}, {3, 2, 1, 4}, plain(4)};
  last.attributes.lhs_axes = {1, 0, 3, 2};
  last.attributes.rhs_axes = {3, 2, 0, 1};
  last.attributes.result_axes = {3, 1, 0, 2};
  cases.push_back(last);
  cases.push_back({"FewFeaturesLast", {2, 9, 8, 3}, {3, 1, 3, 3}, features_last(3)});
  cases.push_back({"TwoOfEachLast", {2, 9, 8, 3}, {6, 1, 3, 3}, features_last(3)});
  Case empty{"NoPlaceButPadding", {1, 1, 0, 4}, {1, 1, 2, 2}, plain()};
  empty.attributes.low = {2, 0};
  empty.attributes.high = {1, 0};
  cases.push_back(empty);
  return cases;
}

TEST(ExpandConvolutions, SumsOfTermsAreTheInterpreters) {
  for (const Case& tested : by_terms()) {
    SCOPED_TRACE(tested.name);
    const Graph graph = graph_of(tested), made = expanded(graph);
    EXPECT_FALSE(has_convolution(made));
    expect_equal_on_integers(graph, made);
  }
}

// Of few places: the gradients of filters, and a correlation at a few lags.
TEST(ExpandConvolutions, FewResultsAreReductions) {
  const Case filters{"Filters", {3, 6, 18, 17}, {8, 3, 16, 16}, plain(2)};
  Case all{"AllAtOnce", {3, 6, 20, 18}, {8, 3, 16, 16}, plain(2)};
  all.attributes.strides = {2, 1};
  all.attributes.low = {3, -1};
  all.attributes.high = {-2, 2};
  all.attributes.rhs_reversals = {0, 1};
  Case spread{"Spread", {1, 6, 9, 34}, {8, 3, 16, 16}, plain(2)};
  spread.attributes.rhs_dilations = {1, 2};
  spread.attributes.lhs_dilations = {2, 1};
  Case last{"Last", {18, 6, 17, 2}, {16, 8, 3, 16}, plain(2)};
  last.attributes.lhs_axes = {3, 1, 0, 2};
  last.attributes.rhs_axes = {1, 2, 0, 3};
  last.attributes.result_axes = {2, 3, 0, 1};
  const Case lags{"Lags", {1, 1, 300}, {1, 1, 290}, along_one_axis()};
  const Case many{"Many", {1, 1, 285, 284}, {1, 1, 280, 279}, plain()};
  for (const Case& tested : {filters, all, spread, last, lags, many}) {
    SCOPED_TRACE(tested.name);
    const Graph graph = graph_of(tested), made = expanded(graph);
    EXPECT_FALSE(has_convolution(made));
    const auto is_sum = [](const Node& node) { return node.op == Op::reduce_sum; };
    const Node& node = graph.node(graph.outputs()[0]);
    const auto& a = node.as<ConvolutionAttributes>();
    std::int64_t places = 1;
    for (std::size_t i = 2; i < a.result_axes.size(); ++i) {
      places *= node.types[0].shape[static_cast<int>(a.result_axes[i])];
    }
    EXPECT_EQ(std::ranges::count_if(made.nodes(), is_sum), places);
    expect_equal_on_integers(graph, made);
  }
}

// Two sums, each of every second term, and the ninth alone.
TEST(ExpandConvolutions, TermsAreAddedInXlasOrder) {
  const Graph graph = graph_of({"", {1, 1, 3, 3}, {1, 1, 3, 3}, plain()});
  const float large = 1 << 24;
  // In a row, 2^24 + 1 is 2^24 again.
  const std::vector<float> x = {large, 1, 0, 1, 0, 1, 0, 1, -large}, ones(9, 1);
  const Literal inputs[] = {Literal::of(std::span<const float>(x), Shape{1, 1, 3, 3}),
                            Literal::of(std::span<const float>(ones), Shape{1, 1, 3, 3})};
  EXPECT_EQ(interpret_in_xla_order(graph, inputs)[0].values<float>()[0], 4);
  EXPECT_EQ(interpret(expanded(graph), inputs)[0].values<float>()[0], 4);
  // As it is along one axis.
  const Graph line = graph_of({"", {1, 1, 9}, {1, 1, 9}, along_one_axis()});
  const Literal same[] = {Literal::of(std::span<const float>(x), Shape{1, 1, 9}),
                          Literal::of(std::span<const float>(ones), Shape{1, 1, 9})};
  EXPECT_EQ(interpret_in_xla_order(line, same)[0].values<float>()[0], 0);
  EXPECT_EQ(interpret(expanded(line), same)[0].values<float>()[0], 0);
}

TEST(ExpandConvolutions, WhatALibraryIsFasterForStays) {
  const Case cases[] = {{"ManyFeaturesLast", {2, 9, 8, 16}, {16, 1, 3, 3}, features_last(16)},
                        {"SumsOfFeaturesLast", {2, 9, 8, 2}, {1, 2, 3, 3}, features_last()},
                        {"SumsOfManyFeatures", {2, 9, 6, 7}, {1, 9, 1, 2}, plain()},
                        {"ManyPairs", {2, 6, 6, 7}, {6, 6, 1, 2}, plain()},
                        {"ManyOfOne", {2, 1, 6, 7}, {9, 1, 3, 3}, plain()},
                        {"NineOfEach", {2, 3, 6, 7}, {27, 1, 3, 3}, plain(3)},
                        {"LargeWindow", {2, 1, 9, 9}, {1, 1, 6, 6}, plain()},
                        {"ManyResults", {1, 1, 25, 25}, {1, 1, 20, 20}, plain()},
                        {"SmallWindow", {1, 64, 5, 5}, {8, 64, 3, 3}, plain()},
                        {"OneResult", {1, 1, 20, 20}, {1, 1, 20, 20}, plain()},
                        {"Halves", {2, 1, 6, 7}, {1, 1, 3, 3}, plain(), f16}};
  for (const Case& tested : cases) {
    EXPECT_TRUE(has_convolution(expanded(graph_of(tested)))) << tested.name;
  }
}

}  // namespace
}  // namespace anabranch
