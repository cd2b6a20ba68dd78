// Matrices that are the same each time, and what tests of linear algebra hold about them.
#pragma once

#include "tests/support/values.h"

// Of numbers between -1 and 1, or complex ones about as large, that are the same each time.
inline ab::Array random_matrices(ab::Sizes sizes, ab::Dtype dtype, std::uint64_t seed = 1) {
  if (ab::is_complex(dtype)) {
    const ab::Dtype part = ab::part_dtype(dtype);
    return ab::complex(0.7f * random_matrices(sizes, part, seed),
                       0.7f * random_matrices(sizes, part, seed + 50));
  }
  return ab::random::uniform(ab::random::key(seed), sizes, dtype, -1, 1);
}
inline ab::Array adjoint(const ab::Array& x) { return ab::conj(ab::matrix_transpose(x)); }
inline ab::Array positive_definite(ab::Sizes sizes, ab::Dtype dtype) {
  const ab::Array x = random_matrices(sizes, dtype, 2);
  return ab::matmul(x, adjoint(x)) + ab::eye(x.shape()[x.rank() - 1], dtype).astype(dtype);
}
inline double tolerance_of(ab::Dtype dtype) {
  return ab::part_dtype(dtype) == ab::f64 ? 1e-11 : 2e-4;
}

inline void expect_same(const ab::Array& found, const ab::Array& expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  ASSERT_EQ(found.dtype(), expected.dtype());
  const double tolerance = tolerance_of(found.dtype());
  expect_close(doubles(ab::real(found)), doubles(ab::real(expected)), tolerance, "real part");
  expect_close(doubles(ab::imag(found)), doubles(ab::imag(expected)), tolerance, "imaginary part");
}
inline void expect_orthonormal_columns(const ab::Array& q) {
  const ab::Array product = ab::matmul(adjoint(q), q);
  expect_same(product,
              ab::broadcast_to(ab::eye(q.shape()[q.rank() - 1], q.dtype()), product.shape()));
}
inline ab::Array columns_times(const ab::Array& x, const ab::Array& factors) {
  return x * ab::expand_dims(factors, -2);
}
