// Convolutions that are sums of a product for each place of the window.
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

std::vector<Case> by_places() {
  std::vector<Case> cases = {{"One", {2, 1, 6, 7}, {1, 1, 3, 2}, plain()},
                             {"Each", {2, 5, 6, 7}, {5, 1, 3, 3}, plain(5)},
                             {"OnePlace", {2, 1, 6, 7}, {1, 1, 1, 1}, plain()},
                             {"FourOfOne", {2, 1, 6, 7}, {4, 1, 2, 3}, plain()},
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
  Case few{"FewFeaturesLast", {2, 9, 8, 3}, {3, 1, 3, 3}, plain(3)};
  few.attributes.lhs_axes = few.attributes.result_axes = {0, 3, 1, 2};
  cases.push_back(few);
  Case empty{"NoPlaceButPadding", {1, 1, 0, 4}, {1, 1, 2, 2}, plain()};
  empty.attributes.low = {2, 0};
  empty.attributes.high = {1, 0};
  cases.push_back(empty);
  return cases;
}

TEST(ExpandConvolutions, SumsOfPlacesAreTheInterpreters) {
  for (const Case& tested : by_places()) {
    SCOPED_TRACE(tested.name);
    const Graph graph = graph_of(tested), made = expanded(graph);
    EXPECT_FALSE(has_convolution(made));
    const Literal inputs[] = {small_integers(graph.parameter_type(0)),
                              small_integers(graph.parameter_type(1))};
    const Literal got = interpret(made, inputs)[0], expected = interpret(graph, inputs)[0];
    EXPECT_EQ(got.type(), expected.type());
    EXPECT_TRUE(std::ranges::equal(got.bytes(), expected.bytes()));  // the signs of zeros as well
  }
}

TEST(ExpandConvolutions, WhatALibraryIsFasterForStays) {
  Case last{"ManyFeaturesLast", {2, 9, 8, 16}, {16, 1, 3, 3}, plain(16)};
  last.attributes.lhs_axes = last.attributes.result_axes = {0, 3, 1, 2};
  const Case cases[] = {last,
                        {"SumsOfFeatures", {2, 2, 6, 7}, {1, 2, 3, 3}, plain()},
                        {"ManyOfOne", {2, 1, 6, 7}, {5, 1, 3, 3}, plain()},
                        {"TwoOfEach", {2, 3, 6, 7}, {6, 1, 3, 3}, plain(3)},
                        {"LargeWindow", {2, 1, 9, 9}, {1, 1, 6, 6}, plain()},
                        {"Halves", {2, 1, 6, 7}, {1, 1, 3, 3}, plain(), f16}};
  for (const Case& tested : cases) {
    EXPECT_TRUE(has_convolution(expanded(graph_of(tested)))) << tested.name;
  }
}

}  // namespace
}  // namespace anabranch
