// The interpreter on factorisations: values that are known, and what their products give back.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/graph/builder.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<Literal> apply_all(Op op, std::vector<Literal> operands,
                               Attributes attributes = NoAttributes{}) {
  GraphBuilder builder;
  std::vector<Value> inputs, outputs;
  for (const Literal& operand : operands) inputs.push_back(builder.parameter(operand.type()));
  const Value node = builder.add(op, inputs, std::move(attributes));
  const auto count = static_cast<std::uint32_t>(builder.node(node).types.size());
  for (std::uint32_t i = 0; i < count; ++i) outputs.push_back({node.node, i});
  return interpret(builder.build(outputs), operands);
}

void expect_near(const Literal& found, const Literal& expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.type(), expected.type());
  const auto a = found.values<double>(), b = expected.values<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << i << ": " << a[i];
    } else {
      EXPECT_NEAR(a[i], b[i], tolerance) << i;
    }
  }
}

Literal product(const Literal& a, const Literal& b) {
  return apply(Op::dot, {a, b}, DotAttributes{{}, {}, {1}, {0}});
}
Literal transposed(const Literal& a) { return apply(Op::transpose, {a}, AxesAttributes{{1, 0}}); }
Literal identity(std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size * size));
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i * size + i)] = 1;
  return grid<double>({size, size}, values);
}
// Columns times factors.
Literal scaled(const Literal& a, const Literal& factors) {
  const Literal wide = apply(Op::broadcast_in_dim, {factors}, AxesAttributes{{1}}, a.type());
  return apply(Op::multiply, {a, wide});
}
void expect_orthonormal_columns(const Literal& q) {
  expect_near(product(transposed(q), q), identity(q.type().shape[1]));
}

TEST(Interpret, Cholesky) {
  const Literal a = grid<double>({2, 2}, {4, 99, 2, 5});  // 99 is not read
  expect_near(apply(Op::cholesky, {a}, TriangleAttributes{true}),
              grid<double>({2, 2}, {2, 0, 1, 2}));
  expect_near(apply(Op::cholesky, {transposed(a)}, TriangleAttributes{false}),
              grid<double>({2, 2}, {2, 1, 0, 2}));
  EXPECT_EQ(apply(Op::cholesky, {grid<float>({1, 1}, {9})}, TriangleAttributes{true}),
            grid<float>({1, 1}, {3}));
}

TEST(Interpret, CholeskyOfWhatIsNotPositiveDefiniteIsNaNBesideZeros) {
  const Literal a = grid<double>({4, 2, 2}, {1, 9, 2, 1, 0, 0, 0, 0, nan, 0, 0, 1, 1, nan, 0, 1});
  expect_near(apply(Op::cholesky, {a}, TriangleAttributes{true}),
              grid<double>({4, 2, 2}, {nan, 0, nan, nan, nan, 0, nan, nan, nan, 0, nan, nan,  //
                                       1, 0, 0, 1}));
}

TEST(Interpret, TriangularSolveOfEachForm) {
  const Literal lower = grid<double>({2, 2}, {2, nan, 3, 4});  // NaN is not read
  const Literal b = grid<double>({2, 1}, {2, 11});
  const auto solved = [](const Literal& a, const Literal& b, TriangularSolveAttributes how) {
    return apply(Op::triangular_solve, {a, b}, how);
  };
  expect_near(solved(lower, b, {true, true, false, Transpose::no}), grid<double>({2, 1}, {1, 2}));
  expect_near(solved(lower, b, {true, true, false, Transpose::transpose}),
              grid<double>({2, 1}, {-3.125, 2.75}));
  expect_near(solved(transposed(lower), b, {true, false, false, Transpose::adjoint}),
              grid<double>({2, 1}, {1, 2}));
  expect_near(solved(lower, b, {true, true, true, Transpose::no}), grid<double>({2, 1}, {2, 5}));
  expect_near(solved(lower, transposed(b), {false, true, false, Transpose::no}),
              grid<double>({1, 2}, {-3.125, 2.75}));
  expect_near(solved(lower, transposed(b), {false, true, false, Transpose::transpose}),
              grid<double>({1, 2}, {1, 2}));
}

TEST(Interpret, TriangularSolveDividesByAZero) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(apply(Op::triangular_solve, {grid<float>({1, 1}, {0}), grid<float>({1, 2}, {1, -1})},
                  TriangularSolveAttributes{true, true}),
            grid<float>({1, 2}, {inf, -inf}));
}

TEST(Interpret, LuExchangesRows) {
  const auto parts = apply_all(Op::lu, {grid<double>({3, 2}, {1, 2, 4, 8, 2, 5})});
  expect_near(parts[0], grid<double>({3, 2}, {4, 8, 0.5, 1, 0.25, 0}));
  EXPECT_EQ(parts[1], row<std::int32_t>({1, 2}));
  EXPECT_EQ(parts[2], row<std::int32_t>({1, 2, 0}));
}

TEST(Interpret, LuOfASingularMatrixAndOfNaN) {
  auto parts = apply_all(Op::lu, {grid<double>({2, 2}, {0, 1, 0, 2})});
  expect_near(parts[0], grid<double>({2, 2}, {0, 1, 0, 2}));
  parts = apply_all(Op::lu, {grid<double>({2, 2}, {1, 2, nan, 3})});
  expect_near(parts[0], grid<double>({2, 2}, {nan, nan, nan, nan}));
  EXPECT_EQ(parts[1], row<std::int32_t>({0, 1}));
  EXPECT_EQ(parts[2], row<std::int32_t>({0, 1}));
}

TEST(Interpret, QrIsAProductOfReflectors) {
  const Literal a = grid<double>({3, 2}, {3, 1, 0, 2, 4, 7});
  const auto parts = apply_all(Op::qr, {a});
  // The first column has the length 5; LAPACK's beta has the other sign than alpha.
  EXPECT_NEAR(parts[0].values<double>()[0], -5, 1e-12);
  EXPECT_NEAR(parts[1].values<double>()[0], 1.6, 1e-12);
  EXPECT_NEAR(parts[0].values<double>()[4], 0.5, 1e-12);  // 4 / (3 + 5)
  const Literal q = apply(Op::householder_product, parts);
  expect_orthonormal_columns(q);
  const Literal r =
      grid<double>({2, 2}, {parts[0].values<double>()[0], parts[0].values<double>()[1], 0,
                            parts[0].values<double>()[3]});
  expect_near(product(q, r), a);
}

TEST(Interpret, QrLeavesWhatIsTriangularAlready) {
  const auto parts = apply_all(Op::qr, {grid<double>({2, 2}, {3, 1, 0, -2})});
  expect_near(parts[0], grid<double>({2, 2}, {3, 1, 0, -2}));
  expect_near(parts[1], row<double>({0, 0}));
}

TEST(Interpret, HouseholderProductOfFewerFactors) {
  expect_near(
      apply(Op::householder_product, {grid<double>({2, 2}, {7, 7, 7, 7}), grid<double>({0}, {})}),
      identity(2));
  expect_near(apply(Op::householder_product, {grid<double>({2, 1}, {7, nan}), row<double>({0})}),
              grid<double>({2, 1}, {nan, nan}));
}

TEST(Interpret, SvdOfTallWideAndSingularMatrices) {
  for (const Literal& a :
       {grid<double>({3, 2}, {1, 2, 3, 4, 5, 6}), grid<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
        grid<double>({3, 3}, {1, 2, 3, 2, 4, 6, 3, 6, 9}), grid<double>({2, 2}, {0, 0, 0, 0})}) {
    for (const bool full : {false, true}) {
      const auto parts = apply_all(Op::svd, {a}, SvdAttributes{true, full});
      expect_orthonormal_columns(parts[1]);
      expect_orthonormal_columns(transposed(parts[2]));
      expect_near(apply(Op::svd, {a}, SvdAttributes{}), parts[0], 0);
      if (full) continue;
      expect_near(product(scaled(parts[1], parts[0]), parts[2]), a);
    }
  }
  expect_near(apply(Op::svd, {grid<double>({2, 2}, {0, -3, 2, 0})}, SvdAttributes{}),
              row<double>({3, 2}));
}

TEST(Interpret, EighOfTheTriangleThatIsRead) {
  const Literal a = grid<double>({2, 2}, {2, nan, 1, 2});
  const auto parts = apply_all(Op::eigh, {a}, EighAttributes{true, true});
  expect_near(parts[0], row<double>({1, 3}));
  expect_orthonormal_columns(parts[1]);
  expect_near(product(scaled(parts[1], parts[0]), transposed(parts[1])),
              grid<double>({2, 2}, {2, 1, 1, 2}));
  expect_near(apply(Op::eigh, {a}, EighAttributes{false, false}), row<double>({nan, nan}));
}

TEST(Interpret, FactorsOfNothing) {
  const Literal none = grid<double>({0, 3, 3}, {}), thin = grid<double>({3, 0}, {});
  EXPECT_EQ(apply(Op::cholesky, {none}, TriangleAttributes{true}), none);
  EXPECT_EQ(apply_all(Op::eigh, {none}, EighAttributes{true, true})[1], none);
  const auto parts = apply_all(Op::svd, {thin}, SvdAttributes{true, true});
  expect_near(parts[1], identity(3));
  EXPECT_EQ(parts[2], grid<double>({0, 0}, {}));
  EXPECT_EQ(apply_all(Op::lu, {thin})[2], row<std::int32_t>({0, 1, 2}));
  EXPECT_EQ(apply_all(Op::qr, {thin})[1], grid<double>({0}, {}));
}

}  // namespace
}  // namespace anabranch
