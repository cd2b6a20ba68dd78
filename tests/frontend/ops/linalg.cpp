// Factorisations put together again, systems solved, and what they refuse.
#include <limits>

#include "tests/frontend/values.h"

namespace {

namespace linalg = ab::linalg;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Of numbers between -1 and 1, or complex ones about as large, that are the same each time.
ab::Array random_matrices(ab::Sizes sizes, ab::Dtype dtype, std::uint64_t seed = 1) {
  if (ab::is_complex(dtype)) {
    const ab::Dtype part = ab::part_dtype(dtype);
    return ab::complex(0.7f * random_matrices(sizes, part, seed),
                       0.7f * random_matrices(sizes, part, seed + 50));
  }
  return ab::random::uniform(ab::random::key(seed), sizes, dtype, -1, 1);
}
ab::Array adjoint(const ab::Array& x) { return ab::conj(ab::matrix_transpose(x)); }
ab::Array positive_definite(ab::Sizes sizes, ab::Dtype dtype) {
  const ab::Array x = random_matrices(sizes, dtype, 2);
  return ab::matmul(x, adjoint(x)) + ab::eye(x.shape()[x.rank() - 1], dtype).astype(dtype);
}
double tolerance_of(ab::Dtype dtype) { return ab::part_dtype(dtype) == ab::f64 ? 1e-11 : 2e-4; }

void expect_same(const ab::Array& found, const ab::Array& expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  ASSERT_EQ(found.dtype(), expected.dtype());
  const double tolerance = tolerance_of(found.dtype());
  expect_close(doubles(ab::real(found)), doubles(ab::real(expected)), tolerance, "real part");
  expect_close(doubles(ab::imag(found)), doubles(ab::imag(expected)), tolerance, "imaginary part");
}
void expect_orthonormal_columns(const ab::Array& q) {
  const ab::Array product = ab::matmul(adjoint(q), q);
  expect_same(product,
              ab::broadcast_to(ab::eye(q.shape()[q.rank() - 1], q.dtype()), product.shape()));
}
ab::Array columns_times(const ab::Array& x, const ab::Array& factors) {
  return x * ab::expand_dims(factors, -2);
}

template <class Function>
void expect_error(Function function, const std::string& start) {
  try {
    function();
    ADD_FAILURE() << "taken, instead of: " << start;
  } catch (const ab::Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with(start))
        << error.what() << "\n   instead of " << start;
  }
}

class Linalg : public testing::TestWithParam<ab::Dtype> {};

TEST_P(Linalg, FactorsOfManyShapes) {
  for (const ab::Shape& shape :
       {ab::Shape{1, 1}, ab::Shape{3, 3}, ab::Shape{5, 2}, ab::Shape{2, 5}, ab::Shape{4, 3, 2},
        ab::Shape{2, 3, 4, 4}, ab::Shape{40, 33}, ab::Shape{33, 40}, ab::Shape{150, 150},
        ab::Shape{0, 3, 2}, ab::Shape{3, 0}, ab::Shape{0, 3}}) {
    SCOPED_TRACE(ab::to_string(shape));
    const ab::Array x = random_matrices(shape, GetParam());
    for (const auto mode : {linalg::QrMode::reduced, linalg::QrMode::complete}) {
      const auto [q, r] = linalg::qr(x, mode);
      expect_orthonormal_columns(q);
      expect_same(ab::matmul(q, r), x);
      expect_same(ab::triu(r), r);
    }
    const auto [p, l, u] = linalg::lu(x);
    expect_same(ab::matmul(ab::matmul(p, l), u), x);
    expect_orthonormal_columns(p);
    const auto [left, s, right] = linalg::svd(x, false);
    expect_same(ab::matmul(columns_times(left, s), right), x);
    expect_orthonormal_columns(left);
    expect_orthonormal_columns(adjoint(right));
    expect_same(linalg::svdvals(x), s);
    const auto all = linalg::svd(x);
    expect_orthonormal_columns(all.u);
    expect_orthonormal_columns(adjoint(all.vh));
    expect_same(all.s, s);
    const ab::Array inverse = linalg::pinv(x);
    expect_same(ab::matmul(ab::matmul(x, inverse), x), x);
  }
}

TEST_P(Linalg, FactorsOfSymmetricMatrices) {
  for (const ab::Shape& shape : {ab::Shape{1, 1}, ab::Shape{5, 5}, ab::Shape{7, 3, 3},
                                 ab::Shape{130, 130}, ab::Shape{0, 0}, ab::Shape{0, 2, 2}}) {
    SCOPED_TRACE(ab::to_string(shape));
    const ab::Array x = positive_definite(shape, GetParam());
    const ab::Array lower = linalg::cholesky(ab::tril(x)), upper = linalg::cholesky(x, true);
    expect_same(ab::matmul(lower, adjoint(lower)), x);
    expect_same(upper, adjoint(lower));
    for (const bool from_lower : {false, true}) {
      const auto [values, vectors] =
          linalg::eigh(from_lower ? ab::tril(x) : ab::triu(x), from_lower);
      expect_orthonormal_columns(vectors);
      expect_same(ab::matmul(columns_times(vectors, values), adjoint(vectors)), x);
      expect_same(linalg::eigvalsh(x, from_lower), values);
    }
  }
}

TEST_P(Linalg, EigenvectorsOfAnyMatrix) {
  const ab::Dtype dtype = ab::complex_dtype(GetParam());
  for (const ab::Shape& shape : {ab::Shape{1, 1}, ab::Shape{5, 5}, ab::Shape{7, 3, 3},
                                 ab::Shape{60, 60}, ab::Shape{0, 0}, ab::Shape{0, 2, 2}}) {
    SCOPED_TRACE(ab::to_string(shape));
    const ab::Array x = random_matrices(shape, GetParam());
    const auto [values, vectors] = linalg::eig(x);
    expect_same(ab::matmul(x.astype(dtype), vectors), columns_times(vectors, values));
    expect_same(ab::norm(vectors, -2), ab::ones(ab::part_dtype(dtype), values.shape()));
    const ab::Array alone = linalg::eigvals(x);
    EXPECT_EQ(alone.dtype(), dtype);
    expect_same(ab::sum(alone, -1), linalg::trace(x).astype(dtype));
    if (shape[shape.rank() - 1] > 5) continue;  // a product of many is large, and so is its error
    expect_same(ab::prod(alone, -1), linalg::det(x).astype(dtype));
  }
}

TEST_P(Linalg, HessenbergForms) {
  for (const ab::Shape& shape : {ab::Shape{1, 1}, ab::Shape{2, 2}, ab::Shape{7, 3, 3},
                                 ab::Shape{30, 30}, ab::Shape{0, 0}, ab::Shape{0, 4, 4}}) {
    SCOPED_TRACE(ab::to_string(shape));
    const ab::Array x = random_matrices(shape, GetParam());
    const auto [h, q] = linalg::hessenberg(x);
    expect_same(ab::matmul(ab::matmul(q, h), adjoint(q)), x);
    expect_same(ab::triu(h, -1), h);
    expect_orthonormal_columns(q);
  }
}

TEST_P(Linalg, TridiagonalSystems) {
  const ab::Dtype dtype = GetParam();
  for (const std::int64_t size : {0, 1, 2, 7, 100}) {
    const ab::Array below = random_matrices({3, size}, dtype, 1),
                    on = random_matrices({size}, dtype, 2) + 3,
                    above = random_matrices({3, size}, dtype, 3),
                    b = random_matrices({size, 2}, dtype, 4);
    const ab::Array x = linalg::tridiagonal_solve(below, on, above, b);
    ASSERT_EQ(x.shape(), ab::Shape({3, size, 2}));
    if (size == 0) continue;
    const auto column = [](const ab::Array& y) { return ab::expand_dims(y, -1); };
    const auto moved = [&](std::int64_t low, std::int64_t high) {
      return ab::pad(x, {0, low, 0}, {0, high, 0});
    };
    const ab::Array all =
        column(below) * moved(1, -1) + column(on) * x + column(above) * moved(-1, 1);
    expect_same(all, ab::broadcast_to(b, x.shape()));
  }
}

TEST_P(Linalg, NumbersOfAMatrix) {
  const ab::Dtype dtype = GetParam(), part = ab::part_dtype(dtype);
  const ab::Array x = random_matrices({4, 4}, dtype), s = linalg::svdvals(x);
  const auto at = [&](std::int64_t i) { return ab::index(s, i); };
  EXPECT_EQ(s.dtype(), part);
  expect_same(linalg::cond(x), at(0) / at(3));
  expect_same(linalg::cond(x, -2), at(3) / at(0));
  expect_same(linalg::cond(x, 1),
              linalg::matrix_norm(x, 1.0) * linalg::matrix_norm(linalg::inv(x), 1.0));
  expect_same(linalg::cond(x, linalg::MatrixNorm::nuclear), ab::sum(s) * ab::sum(1 / s));
  expect_same(linalg::vector_norm(x), linalg::matrix_norm(x));
  expect_same(linalg::matrix_norm(x), ab::sqrt(ab::sum(s * s)));
  expect_same(linalg::vector_norm(x, {}, false, 3),
              ab::pow(ab::sum(ab::pow(ab::abs(x), 3)), 1 / 3.0));
  const auto [sign, log] = linalg::slogdet(x);
  EXPECT_EQ(log.dtype(), part);
  expect_same(sign * ab::exp(log), linalg::det(x));
  EXPECT_EQ(linalg::matrix_rank(x).item<std::int64_t>(), 4);
  // e to the power of A commutes with A, and its determinant is e to the trace.
  const ab::Array power = linalg::expm(x);
  expect_same(ab::matmul(power, x), ab::matmul(x, power));
  expect_same(linalg::det(power), ab::exp(linalg::trace(x)));
  expect_same(linalg::matrix_power(x, -2), linalg::inv(ab::matmul(x, x)));
}

TEST_P(Linalg, ProductsOfManyAndTensors) {
  const ab::Dtype dtype = GetParam();
  const ab::Array a = random_matrices({20, 3}, dtype, 1), b = random_matrices({3, 30}, dtype, 2),
                  c = random_matrices({30, 2}, dtype, 3), v = random_matrices({2}, dtype, 4);
  expect_same(linalg::multi_dot({a, b, c}), ab::matmul(ab::matmul(a, b), c));
  expect_same(linalg::multi_dot({a, b}), ab::matmul(a, b));
  expect_same(linalg::multi_dot({a, b, c, v}), ab::matmul(ab::matmul(ab::matmul(a, b), c), v));
  expect_same(linalg::multi_dot({ab::index(a, 0), b, c, v}),
              ab::sum(ab::matmul(ab::matmul(ab::index(a, 0), b), c) * v));
  const ab::Array tensor = random_matrices({2, 3, 6}, dtype),
                  right = random_matrices({2, 3}, dtype);
  const ab::Array x = linalg::tensorsolve(tensor, right);
  EXPECT_EQ(x.shape(), ab::Shape({6}));
  expect_same(ab::tensordot(tensor, x, 1), right);
  const ab::Array inverse = linalg::tensorinv(tensor);
  EXPECT_EQ(inverse.shape(), ab::Shape({6, 2, 3}));
  expect_same(ab::tensordot(inverse, right, 2), x);
}

TEST_P(Linalg, Systems) {
  const ab::Dtype dtype = GetParam();
  for (const std::int64_t size : {0, 1, 2, 9, 140}) {
    const ab::Array a = random_matrices({3, size, size}, dtype) + 3 * ab::eye(size, dtype);
    const ab::Array b = random_matrices({size, 4}, dtype, 5);
    expect_same(ab::matmul(a, linalg::solve(a, b)), ab::broadcast_to(b, {3, size, 4}));
    expect_same(ab::matmul(a, linalg::inv(a)), ab::broadcast_to(ab::eye(size, dtype), a.shape()));
    expect_same(linalg::lu_solve(linalg::lu_factor(a), b), linalg::solve(a, b));
    const ab::Array vector = random_matrices({size}, dtype, 6);
    const ab::Array solution = linalg::solve(a, vector);
    expect_same(ab::squeeze(ab::matmul(a, ab::expand_dims(solution, -1)), -1),
                ab::broadcast_to(vector, {3, size}));
    for (const bool lower : {false, true}) {
      for (const int turned : {0, 1, 2}) {
        for (const bool unit : {false, true}) {
          ab::Array triangle = lower ? ab::tril(a) : ab::triu(a);
          if (unit) triangle = ab::where(ab::eye(size, dtype) == 1, 1, triangle / 10);
          const ab::Array given = unit ? triangle + 7 * ab::eye(size, dtype) : a;
          const ab::Array x = linalg::solve_triangular(given, b,
                                                       {.lower = lower,
                                                        .transpose = turned == 1,
                                                        .unit_diagonal = unit,
                                                        .adjoint = turned == 2});
          const ab::Array applied = turned == 0   ? triangle
                                    : turned == 1 ? ab::matrix_transpose(triangle)
                                                  : adjoint(triangle);
          expect_same(ab::matmul(applied, x), ab::broadcast_to(b, {3, size, 4}));
        }
      }
    }
    const ab::Array square = positive_definite({size, size}, dtype);
    for (const bool upper : {false, true}) {
      const ab::Array x = linalg::cho_solve(linalg::cholesky(square, upper), b, upper);
      expect_same(ab::matmul(square, x), b);
    }
  }
}

TEST_P(Linalg, LeastSquares) {
  const ab::Array a = random_matrices({6, 3}, GetParam()),
                  b = random_matrices({6, 2}, GetParam(), 9);
  const auto [x, residuals, rank, s] = linalg::lstsq(a, b);
  // What is left over is orthogonal to the columns.
  const ab::Array left = ab::matmul(a, x) - b;
  expect_same(ab::matmul(adjoint(a), left), ab::zeros(GetParam(), {3, 2}));
  expect_same(residuals, ab::sum(ab::abs(left) * ab::abs(left), 0));
  EXPECT_EQ(rank.item<std::int64_t>(), 3);
  expect_same(s, linalg::svdvals(a));
  const auto of_vector = linalg::lstsq(a, ab::index(b, 0, 1));
  expect_same(of_vector.x, ab::index(x, 0, 1));
  expect_same(of_vector.residuals, ab::index(residuals, 0));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Linalg, testing::Values(ab::f32, ab::f64, ab::c64, ab::c128),
                         [](const auto& info) { return std::string(ab::name(info.param)); });

ab::Array square() { return ab::array({2.0f, 1.0f, 4.0f, 3.0f}, {2, 2}); }
ab::Type floats(std::initializer_list<std::int64_t> sizes) { return {ab::f32, sizes}; }

TEST(LinalgValues, Determinants) {
  expect_values([] { return linalg::det(square()); }, floats({}), {2});
  expect_values(
      [] {
        return linalg::det(ab::stack({square(), ab::flip(square(), 0)}));
      },
      floats({2}), {2, -2});
  expect_values([] { return linalg::det(ab::ones(ab::f32, {2, 2})); }, floats({}), {0});
  expect_values([] { return linalg::det(ab::zeros(ab::f32, {0, 0})); }, floats({}), {1});
  expect_values([] { return linalg::slogdet(-square()).logabsdet; }, floats({}), {std::log(2.0)});
  expect_values([] { return linalg::slogdet(ab::flip(square(), 0)).sign; }, floats({}), {-1});
  expect_values(
      [] {
        return linalg::slogdet(ab::ones(ab::f32, {2, 2})).logabsdet;
      },
      floats({}), {-linalg::infinity});
}

TEST(LinalgValues, RanksAndNorms) {
  expect_values([] { return linalg::matrix_rank(ab::ones(ab::f32, {3, 2})); }, {ab::i64, {}}, {1});
  expect_values(
      [] {
        return linalg::matrix_rank(ab::zeros(ab::f32, {2, 3, 0}));
      },
      {ab::i64, {2}}, {0, 0});
  const auto x = [] { return ab::array({3.0f, -4.0f, 0.0f, 12.0f}, {2, 2}); };
  expect_values([&] { return linalg::vector_norm(x()); }, floats({}), {13});
  expect_values([&] { return linalg::vector_norm(x(), 1, true, 1); }, floats({2, 1}), {7, 12});
  expect_values([&] { return linalg::vector_norm(x(), {}, false, linalg::infinity); }, floats({}),
                {12});
  expect_values([&] { return linalg::vector_norm(x(), {}, false, -linalg::infinity); }, floats({}),
                {0});
  expect_values([&] { return linalg::vector_norm(x(), {}, false, 0); }, floats({}), {3});
  expect_values([&] { return linalg::vector_norm(x(), 1, false, 3); }, floats({2}),
                {std::cbrt(91.0), 12});
  expect_values([&] { return linalg::matrix_norm(x()); }, floats({}), {13});
  expect_values([&] { return linalg::matrix_norm(x(), 1.0); }, floats({}), {16});
  expect_values([&] { return linalg::matrix_norm(x(), -linalg::infinity, true); }, floats({1, 1}),
                {7});
  const auto diagonal = [] { return ab::diag(ab::array({3.0f, -5.0f})); };
  expect_values([&] { return linalg::matrix_norm(diagonal(), 2.0); }, floats({}), {5});
  expect_values([&] { return linalg::matrix_norm(diagonal(), -2.0); }, floats({}), {3});
  expect_values([&] { return linalg::matrix_norm(diagonal(), 2, true); }, floats({1, 1}), {5});
  expect_values([&] { return linalg::matrix_norm(diagonal(), false, linalg::MatrixNorm::nuclear); },
                floats({}), {8});
}

TEST(LinalgValues, PowersTracesAndCrossProducts) {
  expect_values([] { return linalg::matrix_power(square(), 3); }, floats({2, 2}), {36, 23, 92, 59});
  expect_values([] { return linalg::matrix_power(square(), 0); }, floats({2, 2}), {1, 0, 0, 1});
  expect_values([] { return linalg::matrix_power(square(), -1); }, floats({2, 2}),
                {1.5, -0.5, -2, 1});
  expect_values([] { return linalg::trace(square()); }, floats({}), {5});
  expect_values([] { return linalg::trace(square().astype(ab::i32), 1); }, {ab::i64, {}}, {1});
  expect_values(
      [] {
        return linalg::cross(ab::array({1, 2, 3}), ab::array({4, 5, 6}));
      },
      {ab::i32, {3}}, {-3, 6, -3});
  const double e = std::exp(1.0);
  expect_values(
      [] {
        return linalg::expm(ab::zeros(ab::f32, {2, 2}));
      },
      floats({2, 2}), {1, 0, 0, 1});
  expect_values(
      [] {
        return linalg::expm(ab::array({1.0f, 1.0f, 0.0f, 1.0f}, {2, 2}));
      },
      floats({2, 2}), {e, e, 0, e});
  expect_values(
      [] {
        return linalg::expm(ab::stack({ab::full({1, 1}, 9.0), ab::full({1, 1}, -30.0)}));
      },
      floats({2, 1, 1}), {std::exp(9.0), std::exp(-30.0)}, 5e-5);
}

TEST(LinalgValues, NarrowFloatsAreComputedInF32) {
  const ab::Array x = positive_definite({3, 3}, ab::f32).astype(ab::f16);
  EXPECT_EQ(linalg::cholesky(x).dtype(), ab::f16);
  EXPECT_EQ(linalg::eigh(x).eigenvectors.dtype(), ab::f16);
  EXPECT_EQ(linalg::solve(x, ab::ones(ab::f16, {3})).dtype(), ab::f16);
}

TEST(LinalgValues, WhatDoesNotExistIsNaN) {
  const auto indefinite = [] { return ab::array({1.0f, 2.0f, 2.0f, 1.0f}, {2, 2}); };
  expect_values([&] { return linalg::cholesky(indefinite()); }, floats({2, 2}), {nan, 0, nan, nan});
  const auto with_nan = [] { return ab::array({1.0f, float(nan), 2.0f, 1.0f}, {2, 2}); };
  const std::vector<double> all(4, nan);
  expect_values([&] { return linalg::svd(with_nan()).u; }, floats({2, 2}), all);
  expect_values([&] { return linalg::svdvals(with_nan()); }, floats({2}), {nan, nan});
  expect_values([&] { return linalg::eigh(with_nan(), false).eigenvectors; }, floats({2, 2}), all);
  expect_values([&] { return linalg::qr(with_nan()).q; }, floats({2, 2}), all);
  expect_values([&] { return linalg::inv(with_nan()); }, floats({2, 2}), all);
  EXPECT_FALSE(std::isfinite(
      linalg::solve(ab::ones(ab::f32, {2, 2}), ab::array({1.0f, 2.0f})).to_vector<float>()[0]));
}

TEST(LinalgValues, ConditionOfSingularMatricesAndOfNaN) {
  const auto ones = [] { return ab::ones(ab::f32, {2, 2}); };
  expect_values(
      [&] {
        return linalg::cond(ab::zeros(ab::f32, {2, 2}));
      },
      floats({}), {linalg::infinity});
  expect_values([&] { return linalg::cond(ones(), 1); }, floats({}), {linalg::infinity});
  expect_values([&] { return linalg::cond(ones() * float(nan)); }, floats({}), {nan});
}

TEST(LinalgValues, JittedFactorsAreTrees) {
  const auto f = ab::jit([](ab::Array x) { return linalg::qr(x); });
  const auto [q, r] = f(square());
  expect_same(ab::matmul(q, r), square());
}

// Each matrix is computed by one thread, whichever that is.
TEST(LinalgValues, ABatchHasTheBitsOfItsMatrices) {
  const ab::Array x = random_matrices({64, 20, 20}, ab::f32);
  const auto together = linalg::inv(x).to_vector<float>();
  for (int i : {0, 31, 63}) {
    const auto alone = linalg::inv(ab::index(x, i)).to_vector<float>();
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + i * 400)) << i;
  }
}

TEST(LinalgErrors, NameTheFunctionTheTypesAndTheRemedy) {
  expect_error(
      [] {
        linalg::cholesky(ab::zeros(ab::f32, {3, 2}));
      },
      "cholesky: takes square matrices: f32[3,2] (3 rows and 2 columns), at linalg.cpp:");
  expect_error([] { linalg::qr(ab::zeros(ab::f32, {3})); },
               "qr: takes matrices, of at least two axes: f32[3]; reshape or expand_dims it first, "
               "at linalg.cpp:");
  expect_error(
      [] {
        linalg::svd(ab::zeros(ab::i32, {3, 3}));
      },
      "svd: i32[3,3] given to what takes floating-point or complex numbers; convert with "
      ".astype(ab::f32), at linalg.cpp:");
  expect_error(
      [] {
        linalg::solve(ab::zeros(ab::f32, {3, 3}), ab::zeros(ab::f32, {2}));
      },
      "solve: heights differ: f32[3,3] x f32[2] (3 rows against 2), at linalg.cpp:");
  expect_error(
      [] {
        linalg::solve(ab::zeros(ab::f32, {2, 3, 3}), ab::zeros(ab::f32, {3, 3, 1}));
      },
      "solve: batch sizes differ: f32[2,3,3] x f32[3,3,1] (2 against 3), at linalg.cpp:");
  expect_error(
      [] {
        linalg::tridiagonal_solve(ab::zeros({2}), ab::zeros({3}), ab::zeros({3}),
                                  ab::zeros({3, 1}));
      },
      "tridiagonal_solve: a diagonal has an element for each row of the right side: f32[2], "
      "f32[3], "
      "f32[3] x f32[3,1], at linalg.cpp:");
  expect_error(
      [] {
        linalg::multi_dot({ab::zeros({2, 3}), ab::zeros({2, 3})});
      },
      "multi_dot: inner sizes differ: f32[2,3] x f32[2,3] (3 against 2), at linalg.cpp:");
  expect_error(
      [] {
        linalg::tensorsolve(ab::zeros({2, 3}), ab::zeros({2}));
      },
      "tensorsolve: the axes of a are no square matrix as high as b: f32[2,3] x f32[2], at "
      "linalg.cpp:");
  expect_error(
      [] {
        linalg::tensorinv(ab::zeros({2, 3}), 1);
      },
      "tensorinv: the axes are no square matrix: f32[2,3] (2 against 3), at linalg.cpp:");
  expect_error([] { linalg::matrix_norm(square(), 3.0); },
               "matrix_norm: there is no norm of order 3.000000 of f32[2,2]; 1, 2 and infinity "
               "are, and their negatives, at linalg.cpp:");
  expect_error([] { linalg::cross(ab::zeros(ab::f32, {2}), ab::zeros(ab::f32, {2})); },
               "cross: takes vectors of three elements: f32[2] x f32[2] (2 along axis 0), at "
               "linalg.cpp:");
}

}  // namespace
