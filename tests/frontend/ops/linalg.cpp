// Factorisations put together again, and systems solved.
#include "tests/frontend/ops/matrices.h"

namespace {

namespace linalg = ab::linalg;

class Linalg : public testing::TestWithParam<ab::Dtype> {};

// The columns of x in an order in which the diagonal descends: each of the columns that are left is
// no longer, in the rows that are left, than the one that is taken.
void expect_pivoted_factors(const linalg::PivotedQrResult& found, const ab::Array& x) {
  const auto& [q, r, p] = found;
  EXPECT_EQ(p.dtype(), ab::i32);
  const ab::Array order = ab::expand_dims(p, -2);
  expect_same(ab::matmul(q, r), ab::take_along_axis(x, order, -1));
  expect_orthonormal_columns(q);
  expect_same(ab::triu(r), r);
  if (x.size() == 0) return;
  const ab::Array sizes = ab::abs(r);
  const ab::Array diagonal = ab::diagonal(sizes),
                  left = ab::cumsum(ab::flip(sizes * sizes, -2), -2);
  const ab::Array squares =
      ab::slice_in_dim(ab::flip(left, -2), 0, diagonal.shape()[diagonal.rank() - 1], -2);
  const ab::Array longest = ab::sqrt(ab::max(ab::triu(squares), -1));
  expect_same(ab::maximum(longest, diagonal), diagonal);
  const std::int64_t columns = x.shape()[x.rank() - 1];
  expect_same(ab::sort(p, -1).astype(ab::f64),
              ab::broadcast_to(ab::arange(columns, ab::f64), p.shape()));
}

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
    for (const auto mode : {linalg::QrMode::reduced, linalg::QrMode::complete}) {
      expect_pivoted_factors(linalg::qr_pivoted(x, mode), x);
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

TEST_P(Linalg, SchurForms) {
  const ab::Dtype dtype = GetParam();
  for (const ab::Shape& shape : {ab::Shape{1, 1}, ab::Shape{2, 2}, ab::Shape{7, 3, 3},
                                 ab::Shape{60, 60}, ab::Shape{0, 0}, ab::Shape{0, 4, 4}}) {
    SCOPED_TRACE(ab::to_string(shape));
    const ab::Array x = random_matrices(shape, dtype);
    for (const auto output : {linalg::SchurOutput::real, linalg::SchurOutput::complex}) {
      const auto [t, z] = linalg::schur(x, output);
      const bool is_real = output == linalg::SchurOutput::real && !ab::is_complex(dtype);
      EXPECT_EQ(t.dtype(), is_real ? dtype : ab::complex_dtype(dtype));
      expect_same(ab::matmul(ab::matmul(z, t), adjoint(z)), x.astype(t.dtype()));
      expect_orthonormal_columns(z);
      EXPECT_TRUE(ab::array_equal(ab::triu(t, is_real ? -1 : 0), t).item<bool>());
      if (!is_real || shape.size() == 0 || shape[shape.rank() - 1] < 2) continue;
      // Blocks: no two next to each other, with equal elements on the diagonal.
      const ab::Array below = ab::diagonal(t, -1), above = ab::diagonal(t, 1), on = ab::diagonal(t);
      const std::int64_t count = below.shape()[below.rank() - 1];
      const auto part = [&](const ab::Array& a, std::int64_t start, std::int64_t size) {
        return ab::slice_in_dim(a, start, start + size, -1);
      };
      const ab::Array apart = part(on, 1, count) - part(on, 0, count);
      const ab::Array is_standard = (apart == 0) & (below * above < 0);
      EXPECT_TRUE(ab::all((below == 0) | is_standard).item<bool>());
      const ab::Array both = part(below, 0, count - 1) * part(below, 1, count - 1);
      EXPECT_TRUE(ab::all(both == 0).item<bool>());
    }
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

// Threads work on one matrix together.
TEST_P(Linalg, LargeMatrices) {
  const ab::Dtype dtype = GetParam();
  constexpr std::int64_t size = 260;
  const ab::Array x = positive_definite({size, size}, dtype) / 100 + ab::eye(size, dtype);
  for (const bool upper : {false, true}) {
    const ab::Array factor = linalg::cholesky(x, upper);
    expect_same(upper ? ab::matmul(adjoint(factor), factor) : ab::matmul(factor, adjoint(factor)),
                x);
  }
  constexpr std::int64_t rows = 1030;
  const ab::Array a =
      random_matrices({rows, rows}, dtype) / 300 + ab::eye(rows, dtype).astype(dtype);
  for (const std::int64_t sides : {1, 4, 200}) {
    const ab::Array b = random_matrices({rows, sides}, dtype, 7);
    const ab::Array solution = linalg::solve_triangular(a, b, {.lower = true});
    expect_same(ab::matmul(ab::tril(a), solution), b);
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

}  // namespace
