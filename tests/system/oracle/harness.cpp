// The oracle's own tools: bounds that hold and bite, and a shrinker that gets to the point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/graph/builder.h"
#include "tests/support/apply.h"
#include "tests/support/compare.h"
#include "tests/support/default_device.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

bool holds(const Graph& graph, Op op) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) { return node.op == op; });
}

TEST(Shrink, LeavesTheOneOpThatFails) {
  int shrunk = 0;
  for (std::uint64_t seed = 0; shrunk < 20; ++seed) {
    const GraphCase tested = random_graph(seed);
    const auto fails = [](const GraphCase& part) { return holds(part.graph, Op::reduce_sum); };
    if (!fails(tested)) continue;
    const GraphCase small = shrink(tested, fails);
    EXPECT_EQ(small.graph.nodes().size(), 2u) << to_string(small.graph);
    EXPECT_EQ(small.graph.outputs().size(), 1u);
    EXPECT_EQ(small.inputs.size(), 1u);
    ++shrunk;
  }
}

TEST(Shrink, KeepsTwoOutputsThatFailOnlyTogether) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {2}});
  const Value floor = builder.add(Op::floor, {x});
  const Value ceil = builder.add(Op::ceil, {x});
  const Value sign = builder.add(Op::sign, {x});
  const GraphCase tested{builder.build({sign, floor, ceil, floor}), {row<float>({1.0f, 2.0f})}};
  const GraphCase small = shrink(tested, [](const GraphCase& part) {
    return holds(part.graph, Op::floor) && holds(part.graph, Op::ceil);
  });
  EXPECT_EQ(small.graph.nodes().size(), 3u) << to_string(small.graph);
  EXPECT_EQ(small.graph.outputs().size(), 2u);
}

Bounded only_output(GraphBuilder& builder, Value output, const Literal& input) {
  return interpret_bounded(builder.build({output}), std::vector{input})[0];
}

TEST(ErrorBounds, ExactOpsAskForTheSameBits) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {}});
  const Value result =
      builder.add(Op::sqrt, {builder.add(Op::divide, {x, builder.add(Op::add, {x, x})})});
  const Bounded output = only_output(builder, result, Literal::scalar(3.0f));
  EXPECT_EQ(output.bound.values<double>()[0], 0);
  EXPECT_TRUE(is_within(output.value, Literal::scalar(std::sqrt(0.5f)), 0, 0));
  EXPECT_FALSE(
      is_within(output.value, Literal::scalar(std::nextafter(std::sqrt(0.5f), 1.0f)), 0, 0));
}

TEST(ErrorBounds, ApproximateOpsMayMissByThreeUnits) {
  const testing::DefaultDevice cpu(Device::cpu());
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {}});
  const Bounded output =
      only_output(builder, builder.add(Op::exponential, {x}), Literal::scalar(0.5f));
  EXPECT_EQ(output.bound.values<double>()[0], 3 * 0x1p-23);
}

TEST(ErrorBounds, FollowTheSlope) {
  const testing::DefaultDevice cpu(Device::cpu());
  // d exp(y) = exp(y) dy, and y = exp(4), about 54.6, is known to within 3 units of 2^-18.
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {}});
  const Value y = builder.add(Op::exponential, {x});
  const Bounded output =
      only_output(builder, builder.add(Op::exponential, {y}), Literal::scalar(4.0f));
  const double relative = output.bound.values<double>()[0] / std::exp(std::exp(4.0));
  EXPECT_GT(relative, 3 * 0x1p-18);
  EXPECT_LT(relative, 3.5 * 0x1p-18);
}

TEST(ErrorBounds, RoundingOfAnInexactValueIsKnownAwayFromTies) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {2}});
  const Value y = builder.add(Op::exponential, {x});
  const Value result =
      builder.add(Op::convert, {builder.add(Op::floor, {y})}, NoAttributes{}, Type{i32, {2}});
  // exp(1) is far from an integer, exp(0) is one.
  const Bounded output = only_output(builder, result, row<float>({1.0f, 0.0f}));
  EXPECT_EQ(output.bound.values<double>()[0], 0);
  EXPECT_EQ(output.bound.values<double>()[1], unknown);
}

// What cancels in the interpreter leaves a rest of either sign where the product is not rounded.
TEST(ErrorBounds, RoundingOfAlmostNothingMayGiveEitherZero) {
  GraphBuilder builder;
  const Value y = builder.parameter({f32, {}});
  const Value x = builder.constant(Literal::scalar(1.1f * 1.1f));
  const Value rest = builder.add(Op::subtract, {x, builder.add(Op::multiply, {y, y})});
  const Value result = builder.add(Op::round_nearest_afz, {rest});
  const Bounded output = only_output(builder, result, Literal::scalar(1.1f));
  const double bound = output.bound.values<double>()[0];
  EXPECT_TRUE(is_within(output.value, Literal::scalar(-0.0f), 0, bound));
  EXPECT_FALSE(is_within(output.value, Literal::scalar(1.0f), 0, bound));
}

// A product that underflows is a zero of its sign where it reaches the sum unrounded.
TEST(ErrorBounds, AProductThatUnderflowsMayReachASumUnrounded) {
  GraphBuilder builder;
  const Value x = builder.parameter({f64, {1}});
  const Value product = builder.add(Op::multiply, {x, builder.add(Op::negate, {x})});
  const Value sum = builder.add(Op::reduce_sum, {product}, AxesAttributes{{0}});
  const Bounded output = only_output(builder, sum, row<double>({1e-200}));
  EXPECT_EQ(output.value, Literal::scalar(0.0));
  EXPECT_TRUE(is_within(output.value, Literal::scalar(-0.0), 0, output.bound.values<double>()[0]));
}

// A sum that cancels may be anything within its error, also what acos takes.
TEST(ErrorBounds, NothingIsKnownWhereTheErrorReachesAcrossAllThatAnOpTakes) {
  for (Op op : {Op::acos, Op::asin, Op::atanh, Op::erf_inv}) {
    GraphBuilder builder;
    const Value x = builder.parameter({f32, {3}});
    const Value sum = builder.add(Op::reduce_sum, {x}, AxesAttributes{{0}});
    const Value result = builder.add(op, {sum});
    const Literal cancels = row<float>({1e20f, 3e13f, -1e20f}), far = row<float>({1, 2, 3});
    EXPECT_EQ(only_output(builder, result, cancels).bound.values<double>()[0], unknown);
    GraphBuilder again;
    const Value y = again.parameter({f32, {3}});
    const Value known = again.add(op, {again.add(Op::reduce_sum, {y}, AxesAttributes{{0}})});
    EXPECT_EQ(only_output(again, known, far).bound.values<double>()[0], 0);
  }
}

TEST(ErrorBounds, AProductMayReachASumUnrounded) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {}});
  const Value square = builder.add(Op::multiply, {x, x});
  const Value moved = builder.add(Op::reshape, {square}, NoAttributes{}, Type{f32, {1}});
  const Value one = builder.constant(row<float>({-1.0f}));
  const Graph graph = builder.build({square, builder.add(Op::add, {moved, one})});
  const float input = 1.0f + 0x1p-20f;
  const auto outputs = interpret_bounded(graph, std::vector{Literal::scalar(input)});
  EXPECT_EQ(outputs[0].bound.values<double>()[0], 0);
  const auto fused = row<float>({std::fma(input, input, -1.0f)});
  EXPECT_FALSE(fused == outputs[1].value);
  EXPECT_TRUE(is_within(outputs[1].value, fused, 0, outputs[1].bound.values<double>()[0]));
}

TEST(ErrorBounds, AProductMayReachASumUnroundedByWayOfWhatFoldsAway) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {}});
  const Value square = builder.add(Op::multiply, {x, x});
  const Value least = builder.add(Op::minimum, {square, square});
  const Value one = builder.constant(Literal::scalar(-1.0f));
  const Bounded output =
      only_output(builder, builder.add(Op::add, {least, one}), Literal::scalar(1.0f + 0x1p-20f));
  EXPECT_GT(output.bound.values<double>()[0], 0);
}

TEST(Difference, NamesTheFirstWrongElement) {
  const Literal expected = grid<int>({2, 2}, {1, 2, 3, 4});
  const Literal actual = grid<int>({2, 2}, {1, 2, 7, 8});
  const std::vector<Bounded> reference = {Bounded::exact(expected)};
  EXPECT_EQ(difference(reference, std::vector{expected}), std::nullopt);
  EXPECT_EQ(difference(reference, std::vector{actual}),
            "output 0 [1,0] of i32[2,2]: 3 expected, 7 found (within 0.000000)");
}

}  // namespace
}  // namespace anabranch
