// Linear algebra on values that are known: numbers of matrices, what does not exist, and what is
// refused.
#include <limits>

#include "tests/frontend/expect_error.h"
#include "tests/frontend/ops/matrices.h"

namespace {

namespace linalg = ab::linalg;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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
  EXPECT_EQ(linalg::schur(x).t.dtype(), ab::f16);
  EXPECT_EQ(linalg::schur(x, linalg::SchurOutput::complex).z.dtype(), ab::c64);
  EXPECT_EQ(linalg::qr_pivoted(x).r.dtype(), ab::f16);
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
  expect_values([&] { return linalg::schur(with_nan()).t; }, floats({2, 2}), all);
  expect_values([&] { return linalg::schur(with_nan()).z; }, floats({2, 2}), all);
  expect_values([&] { return linalg::qr_pivoted(with_nan()).q; }, floats({2, 2}), all);
  expect_values([&] { return linalg::qr_pivoted(with_nan()).p; }, {ab::i32, {2}}, {0, 1});
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
      "cholesky: takes square matrices: f32[3,2] (3 rows and 2 columns), at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::schur(ab::zeros(ab::f32, {2, 3}));
      },
      "schur: takes square matrices: f32[2,3] (2 rows and 3 columns), at linalg_values.cpp:");
  expect_error([] { linalg::qr_pivoted(ab::zeros(ab::f32, {3})); },
               "qr_pivoted: takes matrices, of at least two axes: f32[3]; reshape or expand_dims "
               "it first, at linalg_values.cpp:");
  expect_error([] { linalg::qr(ab::zeros(ab::f32, {3})); },
               "qr: takes matrices, of at least two axes: f32[3]; reshape or expand_dims it first, "
               "at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::svd(ab::zeros(ab::i32, {3, 3}));
      },
      "svd: i32[3,3] given to what takes floating-point or complex numbers; convert with "
      ".astype(ab::f32), at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::solve(ab::zeros(ab::f32, {3, 3}), ab::zeros(ab::f32, {2}));
      },
      "solve: heights differ: f32[3,3] x f32[2] (3 rows against 2), at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::solve(ab::zeros(ab::f32, {2, 3, 3}), ab::zeros(ab::f32, {3, 3, 1}));
      },
      "solve: batch sizes differ: f32[2,3,3] x f32[3,3,1] (2 against 3), at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::tridiagonal_solve(ab::zeros({2}), ab::zeros({3}), ab::zeros({3}),
                                  ab::zeros({3, 1}));
      },
      "tridiagonal_solve: a diagonal has an element for each row of the right side: f32[2], "
      "f32[3], "
      "f32[3] x f32[3,1], at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::multi_dot({ab::zeros({2, 3}), ab::zeros({2, 3})});
      },
      "multi_dot: inner sizes differ: f32[2,3] x f32[2,3] (3 against 2), at linalg_values.cpp:");
  expect_error(
      [] {
        linalg::tensorsolve(ab::zeros({2, 3}), ab::zeros({2}));
      },
      "tensorsolve: the axes of a are no square matrix as high as b: f32[2,3] x f32[2], at "
      "linalg_values.cpp:");
  expect_error(
      [] {
        linalg::tensorinv(ab::zeros({2, 3}), 1);
      },
      "tensorinv: the axes are no square matrix: f32[2,3] (2 against 3), at linalg_values.cpp:");
  expect_error([] { linalg::matrix_norm(square(), 3.0); },
               "matrix_norm: there is no norm of order 3.000000 of f32[2,2]; 1, 2 and infinity "
               "are, and their negatives, at linalg_values.cpp:");
  expect_error([] { linalg::cross(ab::zeros(ab::f32, {2}), ab::zeros(ab::f32, {2})); },
               "cross: takes vectors of three elements: f32[2] x f32[2] (2 along axis 0), at "
               "linalg_values.cpp:");
}

}  // namespace
