// Factors and solutions of many small matrices, written as arithmetic: what the interpreter finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "passes/expand.h"

namespace anabranch {
namespace {

constexpr std::int64_t batch = 67;

Graph expanded(const Graph& graph, bool follows_rows = true) {
  PassContext context;
  context.follows_rows = [=] { return follows_rows; };
  return expand(graph, context);
}

bool has_call(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return is_call(n.op); });
}

// How far apart numbers may be whose exact values are about as large as one.
double tolerance(Dtype dtype) { return dtype == f32 ? 2e-4 : 1e-12; }

template <class T>
void expect_near(const Literal& got, const Literal& expected) {
  ASSERT_EQ(got.type(), expected.type());
  const auto a = got.values<T>(), b = expected.values<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double apart = std::is_integral_v<T> ? 0 : tolerance(got.type().dtype);
    ASSERT_LE(std::fabs(x - y), apart * std::max(1.0, std::fabs(y))) << "element " << i;
  }
}

void expect_same(const Graph& graph, std::span<const Literal> inputs) {
  const Graph made = expanded(graph);
  ASSERT_FALSE(has_call(made));
  const std::vector<Literal> got = interpret(made, inputs), expected = interpret(graph, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    switch (got[i].type().dtype) {
      case f32:
        expect_near<float>(got[i], expected[i]);
        break;
      case f64:
        expect_near<double>(got[i], expected[i]);
        break;
      default:
        expect_near<std::int32_t>(got[i], expected[i]);
    }
  }
}

/// Matrices of integers, in which pivots are often equally large and matrices often singular, and
/// some that hold what is not finite.
template <class T>
Literal matrices(std::int64_t rows, std::int64_t columns, bool is_well_conditioned) {
  std::mt19937 random(static_cast<unsigned>(rows * 8 + columns));
  std::vector<T> values;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      values.push_back(static_cast<T>(static_cast<int>(random() % 7) - 3));
      if (is_well_conditioned && i / columns == i % columns) values.back() += 20;
    }
    if (is_well_conditioned) continue;
    const std::size_t at = values.size() - 1 - random() % static_cast<std::size_t>(rows * columns);
    if (b == 5) values[at] = std::numeric_limits<T>::quiet_NaN();
    if (b == 9) values[at] = std::numeric_limits<T>::infinity();
    if (b == 11) values[at] = -std::numeric_limits<T>::infinity();
  }
  return Literal::of(std::span<const T>(values), Shape{batch, rows, columns});
}

template <class T>
Dtype dtype_of() {
  return sizeof(T) == 4 ? f32 : f64;
}

// Pivots that are nearly as large as others may be other ones: that the factors are some of A's.
template <class T>
void expect_factors(const Literal& given, std::span<const Literal> factors) {
  const auto a = given.values<T>(), lu = factors[0].values<T>();
  const auto pivots = factors[1].values<std::int32_t>(), order = factors[2].values<std::int32_t>();
  const auto rows = static_cast<std::size_t>(given.type().shape[1]),
             columns = static_cast<std::size_t>(given.type().shape[2]),
             few = std::min(rows, columns);
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b) {
    const T *matrix = &a[b * rows * columns], *packed = &lu[b * rows * columns];
    const bool is_finite =
        std::all_of(matrix, matrix + rows * columns, [](T x) { return std::isfinite(x); });
    std::size_t greatest = 0;  // the first of those in the first column, whose numbers are exact
    for (std::size_t i = 1; i < rows; ++i) {
      if (std::fabs(matrix[i * columns]) > std::fabs(matrix[greatest * columns])) greatest = i;
    }
    if (is_finite) {
      ASSERT_EQ(pivots[b * few], static_cast<std::int32_t>(greatest));
    }
    std::vector<std::int32_t> exchanged(rows);
    std::iota(exchanged.begin(), exchanged.end(), 0);
    for (std::size_t k = 0; k < few; ++k) {
      const auto with = static_cast<std::size_t>(pivots[b * few + k]);
      ASSERT_TRUE(k <= with && with < rows && (is_finite || with == k));
      std::swap(exchanged[k], exchanged[with]);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(order[b * rows + i], exchanged[i]);
      for (std::size_t j = 0; j < columns; ++j) {
        const T element = packed[i * columns + j];
        ASSERT_EQ(std::isnan(element), !is_finite);
        if (!is_finite) continue;
        if (j < i) {
          ASSERT_LE(std::fabs(element), 1);
        }
        double product = 0;
        for (std::size_t k = 0; k <= std::min(i, j); ++k) {
          const double left = k == i ? 1 : static_cast<double>(packed[i * columns + k]);
          product += left * static_cast<double>(packed[k * columns + j]);
        }
        const auto from = static_cast<std::size_t>(exchanged[i]);
        ASSERT_NEAR(product, static_cast<double>(matrix[from * columns + j]),
                    tolerance(given.type().dtype));
      }
    }
  }
}

template <class T>
void check_factors() {
  for (std::int64_t rows = 1; rows <= 4; ++rows) {
    for (std::int64_t columns = 1; columns <= 4; ++columns) {
      for (bool is_well_conditioned : {false, true}) {
        GraphBuilder builder;
        const Value x = builder.parameter({dtype_of<T>(), Shape{batch, rows, columns}});
        const std::uint32_t lu = builder.add(Op::lu, {x}).node;
        const Literal given = matrices<T>(rows, columns, is_well_conditioned);
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
        const Graph graph = builder.build({{lu, 0}, {lu, 1}, {lu, 2}});
        if (is_well_conditioned) expect_same(graph, std::span(&given, 1));
        expect_factors<T>(given, interpret(expanded(graph), std::span(&given, 1)));
        if (rows != columns) continue;
        for (bool lower : {false, true}) {
          GraphBuilder of_triangle;
          const Value a = of_triangle.parameter(given.type());
          const Value factor = of_triangle.add(Op::cholesky, {a}, TriangleAttributes{lower});
          expect_same(of_triangle.build({factor}), std::span(&given, 1));
        }
      }
    }
  }
}

template <class T>
void check_solutions() {
  for (std::int64_t size = 1; size <= 4; ++size) {
    for (std::int64_t others : {1, 3, 4}) {
      for (int how = 0; how < 24; ++how) {
        const TriangularSolveAttributes attributes{how % 2 == 1, how / 2 % 2 == 1, how / 4 % 2 == 1,
                                                   static_cast<Transpose>(how / 8)};
        const bool left = attributes.left_side;
        const Literal inputs[] = {matrices<T>(size, size, true),
                                  matrices<T>(left ? size : others, left ? others : size, false)};
        GraphBuilder builder;
        const Value a = builder.parameter(inputs[0].type()),
                    b = builder.parameter(inputs[1].type());
        SCOPED_TRACE(std::to_string(size) + ", " + std::to_string(others) + ", way " +
                     std::to_string(how));
        expect_same(builder.build({builder.add(Op::triangular_solve, {a, b}, attributes)}), inputs);
      }
    }
  }
}

TEST(ExpandSmallMatrices, FactorsAreThoseOfTheInterpreter) {
  check_factors<float>();
  check_factors<double>();
}

TEST(ExpandSmallMatrices, SolutionsAreThoseOfTheInterpreter) {
  check_solutions<float>();
  check_solutions<double>();
}

TEST(ExpandSmallMatrices, LargeOnesFewOnesAndComplexOnesStay) {
  for (const Type& type : {Type{f32, {batch, 5, 4}}, Type{f32, {batch, 4, 5}},
                           Type{f32, {63, 3, 3}}, Type{f32, {3, 3}}, Type{f64, {0, 3, 3}},
                           Type{f32, {batch, 0, 3}}, Type{c64, {batch, 3, 3}}}) {
    GraphBuilder builder;
    const std::uint32_t lu = builder.add(Op::lu, {builder.parameter(type)}).node;
    EXPECT_TRUE(has_call(expanded(builder.build({{lu, 0}})))) << to_string(type);
  }
  GraphBuilder builder;
  const std::uint32_t lu = builder.add(Op::lu, {builder.parameter({f32, {batch, 3, 3}})}).node;
  EXPECT_TRUE(has_call(expanded(builder.build({{lu, 0}}), false)));
}

// A triangle is not read from memory again for what is solved with it, nor its diagonal.
TEST(ExpandSmallMatrices, WhatReadsElementsHasThemWhereTheyComeFrom) {
  GraphBuilder builder;
  const Type type{f32, {batch, 3, 3}};
  const Value a = builder.parameter(type), b = builder.parameter(type);
  const Value factors = builder.add(Op::lu, {a});
  const Value solution = builder.add(Op::triangular_solve, {factors, b},
                                     TriangularSolveAttributes{true, false, false});
  const Value rows = builder.add(Op::reshape, {factors}, NoAttributes{}, Type{f32, {batch, 9}});
  const Value diagonal =
      builder.add(Op::slice, {rows}, SliceAttributes{{0, 0}, {batch, 9}, {1, 4}});
  const Value product = builder.add(Op::reduce_product, {diagonal}, AxesAttributes{{1}});
  const Graph graph = builder.build({solution, product});
  const Graph made = expanded(graph);
  const auto reads =
      std::ranges::count_if(made.nodes(), [](const Node& n) { return n.op == Op::slice; });
  EXPECT_EQ(reads, 2 * 9);
  const Literal inputs[] = {matrices<float>(3, 3, true), matrices<float>(3, 3, false)};
  expect_same(graph, inputs);
}

// Of arrays that are stacked and then added up, along the stack's axis and no other.
TEST(ExpandSmallMatrices, ReductionsOfStacksAreOfTheirParts) {
  const auto reduced = [](std::vector<std::int64_t> axes, Dtype dtype) {
    GraphBuilder builder;
    std::vector<Value> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(builder.parameter({dtype, {8}}));
    for (Value& x : parts) {
      x = builder.add(Op::reshape, {x}, NoAttributes{}, Type{dtype, {8, 1}});
    }
    const Value stack = builder.add(Op::concatenate, parts, AxisAttributes{1});
    return builder.build({builder.add(Op::reduce_sum, {stack}, AxesAttributes{std::move(axes)})});
  };
  const auto has_reduction = [](const Graph& graph) {
    return std::ranges::any_of(graph.nodes(), [](const Node& n) { return is_reduction(n.op); });
  };
  const Graph sum = reduced({1}, f32);
  EXPECT_FALSE(has_reduction(expanded(sum)));
  const float zeros[8] = {-0.f, -0.f, 0, 1, 2, 3, 4, 5};
  const Literal x = Literal::of(std::span<const float>(zeros), Shape{8});
  const Literal inputs[] = {x, x, x};
  const auto got = interpret(expanded(sum), inputs), expected = interpret(sum, inputs);
  EXPECT_EQ(std::signbit(got[0].values<float>()[0]), std::signbit(expected[0].values<float>()[0]));
  EXPECT_EQ(got[0], expected[0]);
  EXPECT_TRUE(has_reduction(expanded(reduced({0}, f32))));
  EXPECT_TRUE(has_reduction(expanded(reduced({1}, f16))));  // each sum would round
}

// The one number of an axis of size 1 is 0, however often it is repeated.
TEST(ExpandSmallMatrices, NumbersOfAnAxisThatIsRepeatedStayZero) {
  for (const std::int64_t size : {1, 3}) {
    GraphBuilder builder;
    std::vector<Value> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(builder.parameter({f32, {8}}));
    for (Value& x : parts) {
      x = builder.add(Op::reshape, {x}, NoAttributes{}, Type{f32, {8, 1}});
    }
    const Value stack = builder.add(Op::concatenate, parts, AxisAttributes{1});
    const Value numbers =
        builder.add(Op::iota, {}, AxisAttributes{0}, Type{f32, Shape(std::vector{size})});
    const Value all =
        builder.add(Op::broadcast_in_dim, {numbers}, AxesAttributes{{1}}, Type{f32, {8, 3}});
    const Value sum = builder.add(Op::add, {stack, all});
    const Graph graph = builder.build({builder.add(Op::reduce_sum, {sum}, AxesAttributes{{1}})});
    const float numbers_of_rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const Literal x = Literal::of(std::span<const float>(numbers_of_rows), Shape{8});
    const Literal inputs[] = {x, x, x};
    EXPECT_EQ(interpret(expanded(graph), inputs)[0], interpret(graph, inputs)[0]) << size;
  }
}

}  // namespace
}  // namespace anabranch
