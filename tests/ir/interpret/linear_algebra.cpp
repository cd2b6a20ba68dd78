// The interpreter on factorisations: values that are known, and what their products give back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
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

TEST(Interpret, QrPivotedTakesTheLongestColumnNext) {
  const Literal a = grid<double>({3, 3}, {1, 6, 0, 0, 0, 5, 0, 8, 5}),
                none = row<std::int32_t>({0, 0, 0});
  const auto parts = apply_all(Op::qr_pivoted, {a, none});
  EXPECT_EQ(parts[2], row<std::int32_t>({1, 2, 0}));  // of lengths 10, root 50, 1
  EXPECT_NEAR(parts[0].values<double>()[0], -10, 1e-12);
  const Literal q = apply(Op::householder_product, {parts[0], parts[1]});
  expect_orthonormal_columns(q);
  const auto r = parts[0].values<double>();
  expect_near(product(q, grid<double>({3, 3}, {r[0], r[1], r[2], 0, r[4], r[5], 0, 0, r[8]})),
              grid<double>({3, 3}, {6, 0, 1, 0, 5, 0, 8, 5, 0}));
}

TEST(Interpret, QrPivotedLeavesGivenColumnsFirst) {
  const Literal a = grid<double>({2, 4}, {1, 6, 0, 9, 0, 8, 5, 0});
  EXPECT_EQ(apply_all(Op::qr_pivoted, {a, row<std::int32_t>({0, 0, 7, 0})})[2],
            row<std::int32_t>({2, 3, 0, 1}));
  EXPECT_EQ(apply_all(Op::qr_pivoted, {a, row<std::int32_t>({-1, 0, 0, 1})})[2],
            row<std::int32_t>({0, 3, 2, 1}));
  const auto of_nan =
      apply_all(Op::qr_pivoted, {grid<double>({1, 2}, {1, nan}), row<std::int32_t>({0, 1})});
  expect_near(of_nan[0], grid<double>({1, 2}, {nan, nan}));
  expect_near(of_nan[1], row<double>({nan}));
  EXPECT_EQ(of_nan[2], row<std::int32_t>({0, 1}));
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

// A real matrix or number as complex ones.
Literal as_complex(const Literal& x) {
  return apply(Op::convert, {x}, NoAttributes{}, Type{c128, x.type().shape});
}
void expect_near_parts(const Literal& found, const Literal& expected) {
  ASSERT_EQ(found.type(), expected.type());
  for (const Op part : {Op::real, Op::imag}) {
    expect_near(apply(part, {found}), apply(part, {expected}), 1e-12);
  }
}
Literal adjoint(const Literal& a) {
  const Literal turned = transposed(a);
  return apply(Op::complex,
               {apply(Op::real, {turned}), apply(Op::negate, {apply(Op::imag, {turned})})});
}
Literal adjoint_values(const Literal& values) {
  return apply(Op::complex,
               {apply(Op::real, {values}), apply(Op::negate, {apply(Op::imag, {values})})});
}
// A v = w v and u^H A = w u^H, the vectors of length 1 and real where they are greatest.
void expect_eigenvectors(const Literal& a) {
  const auto parts = apply_all(Op::eig, {a}, EigAttributes{true, true});
  const Literal z = is_complex(a.type().dtype) ? a : as_complex(a);
  expect_near_parts(product(z, parts[2]), scaled(parts[2], parts[0]));
  const Literal turned = apply_all(Op::eig, {a}, EigAttributes{true, false})[1];
  EXPECT_EQ(turned, parts[1]);
  const Literal rows = adjoint(parts[1]);
  expect_near_parts(product(rows, z), adjoint(scaled(parts[1], adjoint_values(parts[0]))));
  for (const Literal& vectors : {parts[1], parts[2]}) {
    const auto numbers = vectors.values<std::complex<double>>();
    const auto size = static_cast<std::size_t>(vectors.type().shape[0]);
    for (std::size_t j = 0; j < size; ++j) {
      double squares = 0, greatest = 0;
      bool is_real = false;
      for (std::size_t i = 0; i < size; ++i) {
        squares += std::norm(numbers[i * size + j]);
        greatest = std::max(greatest, std::abs(numbers[i * size + j]));
      }
      for (std::size_t i = 0; i < size; ++i) {  // several may be as great but for rounding
        const std::complex<double> x = numbers[i * size + j];
        is_real = is_real || (std::abs(x) > greatest - 1e-9 && std::fabs(x.imag()) < 1e-15);
      }
      EXPECT_NEAR(squares, 1, 1e-12);
      EXPECT_TRUE(is_real);
    }
  }
}

TEST(Interpret, EigOfKnownMatrices) {
  using C = std::complex<double>;
  // A quarter turn; an upper triangle; a number.
  const auto values = apply_all(Op::eig, {grid<double>({2, 2}, {0, -1, 1, 0})}, EigAttributes{});
  ASSERT_EQ(values.size(), 1u);
  std::vector<C> found(values[0].values<C>().begin(), values[0].values<C>().end());
  std::ranges::sort(found, {}, [](C x) { return x.imag(); });
  EXPECT_NEAR(std::abs(found[0] - C(0, -1)), 0, 1e-15);
  EXPECT_NEAR(std::abs(found[1] - C(0, 1)), 0, 1e-15);
  expect_near_parts(apply(Op::eig, {grid<double>({2, 2}, {1, 5, 0, 3})}, EigAttributes{}),
                    row<C>({1, 3}));
  EXPECT_EQ(
      apply_all(Op::eig, {grid<float>({1, 1}, {-7})}, EigAttributes{true, true}),
      (std::vector<Literal>{row<std::complex<float>>({-7}), grid<std::complex<float>>({1, 1}, {1}),
                            grid<std::complex<float>>({1, 1}, {1})}));
}

TEST(Interpret, EigenvectorsOfAnySquareMatrix) {
  using C = std::complex<double>;
  expect_eigenvectors(grid<double>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10}));
  expect_eigenvectors(grid<double>({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}));  // a permutation
  expect_eigenvectors(grid<double>({2, 2}, {3, 0, 0, 3}));
  expect_eigenvectors(grid<double>({2, 2}, {0, 0, 0, 0}));
  expect_eigenvectors(grid<double>({3, 3}, {2, 1, 0, 0, 2, 1, 0, 0, 2}));  // one vector alone
  expect_eigenvectors(
      grid<C>({3, 3}, {{1, 2}, {0, 1}, {3, 0}, {4, -1}, {5, 0}, {6, 6}, {7, 0}, {-8, 1}, {9, 0}}));
}

TEST(Interpret, EigOfWhatIsNotFinite) {
  const auto parts =
      apply_all(Op::eig, {grid<double>({2, 2}, {1, nan, 0, 1})}, EigAttributes{false, true});
  for (const Literal& part : parts) {
    for (const auto x : part.values<std::complex<double>>()) {
      EXPECT_TRUE(std::isnan(x.real()));
      EXPECT_TRUE(std::isnan(x.imag()));
    }
  }
}

// A = Z T Z^H, Z unitary and T triangular but for standard blocks of real matrices.
void expect_schur_form(const Literal& a) {
  const auto parts = apply_all(Op::schur, {a}, SchurAttributes{true});
  EXPECT_EQ(apply_all(Op::schur, {a}, SchurAttributes{}), std::vector<Literal>{parts[0]});
  const bool is_real = !is_complex(a.type().dtype);
  const std::int64_t size = a.type().shape[0];
  const Literal t = is_real ? as_complex(parts[0]) : parts[0];
  const Literal z = is_real ? as_complex(parts[1]) : parts[1];
  expect_near_parts(product(product(z, t), adjoint(z)), is_real ? as_complex(a) : a);
  expect_near_parts(product(adjoint(z), z), as_complex(identity(size)));
  const auto numbers = t.values<std::complex<double>>();
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i * size + j)];
  };
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (at(i, j) == 0.0) continue;
      EXPECT_TRUE(is_real && j == i - 1) << i << ", " << j;
      EXPECT_EQ(at(i, i), at(j, j));
      EXPECT_LT(at(i, j).real() * at(j, i).real(), 0);
      EXPECT_TRUE(j == 0 || at(j, j - 1) == 0.0);
    }
  }
}

TEST(Interpret, SchurFormsOfSquareMatrices) {
  using C = std::complex<double>;
  expect_schur_form(grid<double>({0, 0}, {}));
  expect_schur_form(grid<double>({1, 1}, {-7}));
  expect_schur_form(grid<double>({2, 2}, {1, 5, 0, 3}));
  expect_schur_form(grid<double>({2, 2}, {1, 0, 5, 1}));   // one vector alone
  expect_schur_form(grid<double>({2, 2}, {4, -9, 1, 2}));  // 3 + root 8 i and 3 - root 8 i
  expect_schur_form(grid<double>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10}));
  expect_schur_form(grid<double>({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}));  // a permutation
  expect_schur_form(
      grid<double>({4, 4}, {0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));  // and a longer one
  expect_schur_form(grid<double>({4, 4}, {0, -1, 3, 0, 1, 0, 0, 2, 0, 0, 0, -1, 0, 0, 1, 0}));
  expect_schur_form(
      grid<C>({3, 3}, {{1, 2}, {0, 1}, {3, 0}, {4, -1}, {5, 0}, {6, 6}, {7, 0}, {-8, 1}, {9, 0}}));
  expect_near(
      apply_all(Op::schur, {grid<double>({2, 2}, {1, nan, 0, 1})}, SchurAttributes{true})[1],
      grid<double>({2, 2}, {nan, nan, nan, nan}));
}

TEST(Interpret, BothPartsOfWhatDoesNotExistAreNaN) {
  using C = std::complex<double>;
  const Literal factor = apply(Op::cholesky, {grid<C>({2, 2}, {{-1, 0}, {0, 1}, {0, -1}, {1, 0}})},
                               TriangleAttributes{false});
  const auto values = factor.values<C>();
  for (const std::size_t i : {0u, 1u, 3u}) {
    EXPECT_TRUE(std::isnan(values[i].real()) && std::isnan(values[i].imag())) << i;
  }
  EXPECT_EQ(values[2], C(0));
  EXPECT_FALSE(std::signbit(values[2].imag()));
}

TEST(Interpret, TridiagonalSolve) {
  const Literal below = row<double>({nan, 1, 2}), on = row<double>({4, 5, 6}),
                above = row<double>({1, 3, nan});  // the two NaNs are not read
  // (4 1 0; 1 5 3; 0 2 6) times (1, 2, 3) and (0, 1, 0).
  expect_near(
      apply(Op::tridiagonal_solve, {below, on, above, grid<double>({3, 2}, {6, 1, 20, 5, 22, 2})}),
      grid<double>({3, 2}, {1, 0, 2, 1, 3, 0}));
}

TEST(Interpret, TridiagonalSolveExchangesRowsAndFindsSingularMatrices) {
  const auto solved = [](std::vector<double> below, std::vector<double> on,
                         std::vector<double> above, std::vector<double> b) {
    const auto size = static_cast<std::int64_t>(b.size());
    return apply(Op::tridiagonal_solve, {row<double>(below), row<double>(on), row<double>(above),
                                         grid<double>({size, 1}, b)});
  };
  // (0 1 0; 2 0 3; 0 4 5) (1, 2, 3): nothing but exchanges helps.
  expect_near(solved({0, 2, 4}, {0, 0, 5}, {1, 3, 0}, {2, 11, 23}),
              grid<double>({3, 1}, {1, 2, 3}));
  expect_near(solved({0}, {4}, {0}, {8}), grid<double>({1, 1}, {2}));
  expect_near(solved({0, 1}, {1, 1}, {1, 0}, {3, 4}), grid<double>({2, 1}, {nan, nan}));
  expect_near(solved({0, nan}, {1, 1}, {1, 0}, {3, 4}), grid<double>({2, 1}, {nan, nan}));
}

TEST(Interpret, FactorsOfNothing) {
  const Literal none = grid<double>({0, 3, 3}, {}), thin = grid<double>({3, 0}, {});
  EXPECT_EQ(apply(Op::cholesky, {none}, TriangleAttributes{true}), none);
  EXPECT_EQ(apply_all(Op::eigh, {none}, EighAttributes{true, true})[1], none);
  const auto parts = apply_all(Op::svd, {thin}, SvdAttributes{true, true});
  expect_near(parts[1], identity(3));
  EXPECT_EQ(parts[2], grid<double>({0, 0}, {}));
  EXPECT_EQ(apply_all(Op::eig, {none}, EigAttributes{true, true})[2].type(),
            (Type{c128, {0, 3, 3}}));
  const Literal diagonal = grid<double>({0}, {});
  EXPECT_EQ(apply(Op::tridiagonal_solve, {diagonal, diagonal, diagonal, grid<double>({0, 2}, {})}),
            grid<double>({0, 2}, {}));
  EXPECT_EQ(apply_all(Op::lu, {thin})[2], row<std::int32_t>({0, 1, 2}));
  EXPECT_EQ(apply_all(Op::qr, {thin})[1], grid<double>({0}, {}));
  EXPECT_EQ(apply_all(Op::qr_pivoted, {grid<double>({0, 2}, {}), row<std::int32_t>({0, 1})})[2],
            row<std::int32_t>({0, 1}));
}

}  // namespace
}  // namespace anabranch
