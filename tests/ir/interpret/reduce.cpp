// The interpreter on reductions, dot and regions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/graph/builder.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

const Literal six = grid<int>({2, 3}, {1, 2, 3, 4, 5, 6});

Literal reduced(Op op, const Literal& x, std::vector<std::int64_t> axes) {
  return apply(op, {x}, AxesAttributes{std::move(axes)});
}

TEST(Interpret, NamedReductions) {
  EXPECT_EQ(reduced(Op::reduce_sum, six, {1}), row<int>({6, 15}));
  EXPECT_EQ(reduced(Op::reduce_sum, six, {0}), row<int>({5, 7, 9}));
  EXPECT_EQ(reduced(Op::reduce_sum, six, {0, 1}), Literal::scalar<int>(21));
  EXPECT_EQ(reduced(Op::reduce_sum, six, {}), six);
  EXPECT_EQ(reduced(Op::reduce_product, six, {1}), row<int>({6, 120}));
  EXPECT_EQ(reduced(Op::reduce_max, six, {0}), row<int>({4, 5, 6}));
  EXPECT_EQ(reduced(Op::reduce_min, six, {1}), row<int>({1, 4}));
  EXPECT_EQ(reduced(Op::reduce_any, row({false, true}), {0}), Literal::scalar(true));
  EXPECT_EQ(reduced(Op::reduce_all, row({false, true}), {0}), Literal::scalar(false));
}

TEST(Interpret, IntegerReductionsWrapInTheirType) {
  EXPECT_EQ(reduced(Op::reduce_sum, row<std::int8_t>({100, 100}), {0}),
            Literal::scalar<std::int8_t>(-56));
  EXPECT_EQ(reduced(Op::reduce_product, row<std::uint8_t>({16, 17}), {0}),
            Literal::scalar<std::uint8_t>(16));
}

TEST(Interpret, EmptyReductionsGiveTheIdentity) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const Literal floats = grid<float>({2, 0}, {});
  EXPECT_EQ(reduced(Op::reduce_sum, floats, {1}), row<float>({0, 0}));
  EXPECT_EQ(reduced(Op::reduce_product, floats, {1}), row<float>({1, 1}));
  EXPECT_EQ(reduced(Op::reduce_max, floats, {1}), row<float>({-inf, -inf}));
  EXPECT_EQ(reduced(Op::reduce_min, floats, {1}), row<float>({inf, inf}));
  EXPECT_EQ(reduced(Op::reduce_max, grid<int>({0}, {}), {0}), Literal::scalar<int>(INT_MIN));
  EXPECT_EQ(reduced(Op::reduce_min, grid<int>({0}, {}), {0}), Literal::scalar<int>(INT_MAX));
  EXPECT_EQ(reduced(Op::reduce_any, row(std::vector<bool>{}), {0}), Literal::scalar(false));
  EXPECT_EQ(reduced(Op::reduce_all, row(std::vector<bool>{}), {0}), Literal::scalar(true));
  EXPECT_EQ(reduced(Op::reduce_sum, floats, {0}), grid<float>({0}, {}));
}

// Rounded once: three millions of roundings of long double would be seen in a double.
TEST(Interpret, SumsOfManyDoublesAreExact) {
  constexpr std::int64_t size = 3 << 20;
  const std::vector<double> tenths(size, 0.1);
  const Literal all = Literal::of(std::span(tenths), Shape{size});
  const auto exact = static_cast<double>(static_cast<long double>(0.1) * size);
  EXPECT_EQ(reduced(Op::reduce_sum, all, {0}), Literal::scalar(exact));
}

TEST(Interpret, FloatReductionsSeeNanAndTheSignOfZero) {
  EXPECT_TRUE(std::isnan(reduced(Op::reduce_max, row<float>({1, NAN, 2}), {0}).values<float>()[0]));
  EXPECT_EQ(reduced(Op::reduce_max, row<float>({-0.0f, 0.0f}), {0}), Literal::scalar(0.0f));
  EXPECT_EQ(reduced(Op::reduce_min, row<float>({0.0f, -0.0f}), {0}), Literal::scalar(-0.0f));
}

TEST(Interpret, PositionsAreTheFirst) {
  const Literal x = grid<float>({2, 4}, {1, 5, 5, 2, 3, NAN, 9, NAN});
  EXPECT_EQ(apply(Op::argmax, {x}, AxisAttributes{1}, Type{i32, {2}}), row<int>({1, 1}));
  EXPECT_EQ(apply(Op::argmin, {x}, AxisAttributes{1}, Type{i64, {2}}), row<std::int64_t>({0, 1}));
  EXPECT_EQ(apply(Op::argmax, {six}, AxisAttributes{0}, Type{i32, {3}}), row<int>({1, 1, 1}));
  EXPECT_EQ(apply(Op::argmax, {row<float>({-0.0f, 0.0f})}, AxisAttributes{0}, Type{i32, {}}),
            Literal::scalar<int>(0));
  EXPECT_EQ(apply(Op::argmax, {row({false, true, true})}, AxisAttributes{0}, Type{i32, {}}),
            Literal::scalar<int>(1));
}

// A body that is not commutative tells the order: so far * 10 + next, starting from 7.
TEST(Interpret, GeneralReductionRunsInRowMajorOrder) {
  GraphBuilder body("digits");
  const Value so_far = body.parameter({i32, {}});
  const Value next = body.parameter({i32, {}});
  const Value ten = body.constant(Literal::scalar<int>(10));
  const Graph digits =
      body.build({body.add(Op::add, {body.add(Op::multiply, {so_far, ten}), next})});
  GraphBuilder builder;
  const Value x = builder.parameter({i32, {2, 3}});
  const Value start = builder.parameter({i32, {}});
  const auto reduce = [&](std::vector<std::int64_t> axes) {
    return builder.add(Op::reduce, {x, start}, AxesAttributes{std::move(axes)}, std::nullopt,
                       {digits});
  };
  const Graph graph = builder.build({reduce({1}), reduce({0}), reduce({0, 1})});
  const auto results = interpret(graph, std::vector{six, Literal::scalar<int>(7)});
  EXPECT_EQ(results[0], row<int>({7123, 7456}));
  EXPECT_EQ(results[1], row<int>({714, 725, 736}));
  EXPECT_EQ(results[2], Literal::scalar<int>(7123456));
}

TEST(Interpret, GeneralReductionOfSeveralArrays) {
  GraphBuilder body("sum_and_product");
  const Value sum = body.parameter({i32, {}});
  const Value product = body.parameter({f32, {}});
  const Value x = body.parameter({i32, {}});
  const Value y = body.parameter({f32, {}});
  const Graph both =
      body.build({body.add(Op::add, {sum, x}), body.add(Op::multiply, {product, y})});
  const Node node{Op::reduce, {{i32, {}}, {f32, {}}}, {}, AxesAttributes{{0}}, {both}, {}};
  const auto results = interpret(node, std::vector{row<int>({1, 2, 3}), row<float>({2, 3, 4}),
                                                   Literal::scalar<int>(0), Literal::scalar(1.0f)});
  EXPECT_EQ(results[0], Literal::scalar<int>(6));
  EXPECT_EQ(results[1], Literal::scalar(24.0f));
}

TEST(Interpret, DotOfMatrices) {
  const Literal x = grid<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal y = grid<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  const Literal product = grid<float>({2, 2}, {4, 5, 10, 11});
  EXPECT_EQ(apply(Op::dot, {x, y}, DotAttributes{{}, {}, {1}, {0}}), product);
  const Literal turned = apply(Op::transpose, {y}, AxesAttributes{{1, 0}});
  EXPECT_EQ(apply(Op::dot, {x, turned}, DotAttributes{{}, {}, {1}, {1}}), product);
}

TEST(Interpret, DotWithBatchesSeveralOrNoContractingAxes) {
  // Batch axis 0 of the left is axis 1 of the right.
  const Literal x = grid<int>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal y = grid<int>({3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(apply(Op::dot, {x, y}, DotAttributes{{0}, {1}, {1}, {0}}), row<int>({14, 77}));
  EXPECT_EQ(apply(Op::dot, {x, y}, DotAttributes{{}, {}, {0, 1}, {1, 0}}),
            Literal::scalar<int>(91));
  EXPECT_EQ(apply(Op::dot, {row<int>({1, 2}), row<int>({3, 4, 5})}, DotAttributes{}),
            grid<int>({2, 3}, {3, 4, 5, 6, 8, 10}));
  EXPECT_EQ(apply(Op::dot, {grid<int>({2, 0}, {}), grid<int>({0, 1}, {})},
                  DotAttributes{{}, {}, {1}, {0}}),
            grid<int>({2, 1}, {0, 0}));
}

TEST(Interpret, FusionIsItsRegion) {
  GraphBuilder inner("group");
  const Value a = inner.parameter({i32, {3}});
  const Value b = inner.parameter({i32, {3}});
  const Value sum = inner.add(Op::add, {a, b});
  const Graph group = inner.build({sum, inner.add(Op::multiply, {sum, a})});
  GraphBuilder builder;
  const Value x = builder.parameter({i32, {3}});
  const Value made = builder.add(Op::fusion, {x, x}, FusionAttributes{}, std::nullopt, {group});
  const Graph graph = builder.build({{made.node, 1}, {made.node, 0}});
  const auto results = interpret(graph, std::vector{row<int>({1, 2, 3})});
  EXPECT_EQ(results[0], row<int>({2, 8, 18}));
  EXPECT_EQ(results[1], row<int>({2, 4, 6}));
}

}  // namespace
}  // namespace anabranch
