// BLAS's routines by element type, on matrices in rows or columns that are any number of elements
// apart.
#pragma once

#include <complex>
#include <type_traits>

#include "codegen/linalg/lapack.h"

namespace anabranch::lapack {

/// `single` for f32 and c64, `wide` for f64 and c128.
template <class T, class Routine>
constexpr Routine* routine_of(Routine* single, Routine* wide) {
  return std::is_same_v<Real<T>, float> ? single : wide;
}

/// op(A) x = b, in place of b, of n elements; A row by row.
template <class T>
void trsv(CBLAS_UPLO triangle, CBLAS_TRANSPOSE op, CBLAS_DIAG diagonal, lapack_int n, const T* a,
          lapack_int lda, T* b) {
  constexpr auto solve = [] {
    if constexpr (std::is_same_v<T, float>) {
      return cblas_strsv;
    } else if constexpr (std::is_same_v<T, double>) {
      return cblas_dtrsv;
    } else {
      return routine_of<T>(cblas_ctrsv, cblas_ztrsv);
    }
  }();
  solve(CblasRowMajor, triangle, op, diagonal, n, a, lda, b, 1);
}

/// y -= op(A) x; A is m x n, row by row.
template <class T>
void subtract_gemv(CBLAS_TRANSPOSE op, lapack_int m, lapack_int n, const T* a, lapack_int lda,
                   const T* x, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemv(CblasRowMajor, op, m, n, -1, a, lda, x, 1, 1, y, 1);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemv(CblasRowMajor, op, m, n, -1, a, lda, x, 1, 1, y, 1);
  } else {
    constexpr T one = 1, minus_one = -1;
    constexpr auto product = routine_of<T>(cblas_cgemv, cblas_zgemv);
    product(CblasRowMajor, op, m, n, &minus_one, a, lda, x, 1, &one, y, 1);
  }
}

/// op(A) X = B or X op(A) = B, in place of B, which is m x n.
template <class T>
void trsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO triangle, CBLAS_TRANSPOSE op,
          CBLAS_DIAG diagonal, lapack_int m, lapack_int n, const T* a, lapack_int lda, T* b,
          lapack_int ldb) {
  if constexpr (std::is_same_v<T, float>) {
    cblas_strsm(order, side, triangle, op, diagonal, m, n, 1, a, lda, b, ldb);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dtrsm(order, side, triangle, op, diagonal, m, n, 1, a, lda, b, ldb);
  } else {
    constexpr T one = 1;
    constexpr auto solve = routine_of<T>(cblas_ctrsm, cblas_ztrsm);
    solve(order, side, triangle, op, diagonal, m, n, &one, a, lda, b, ldb);
  }
}

/// C -= op(A) op'(B); C is m x n.
template <class T>
void subtract_gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, lapack_int m,
                   lapack_int n, lapack_int k, const T* a, lapack_int lda, const T* b,
                   lapack_int ldb, T* c, lapack_int ldc) {
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(order, op_a, op_b, m, n, k, -1, a, lda, b, ldb, 1, c, ldc);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemm(order, op_a, op_b, m, n, k, -1, a, lda, b, ldb, 1, c, ldc);
  } else {
    constexpr T one = 1, minus_one = -1;
    constexpr auto product = routine_of<T>(cblas_cgemm, cblas_zgemm);
    product(order, op_a, op_b, m, n, k, &minus_one, a, lda, b, ldb, &one, c, ldc);
  }
}

/// The lower triangle of C -= A A^H; C is n x n, A is n x k.
template <class T>
void subtract_herk(CBLAS_ORDER order, lapack_int n, lapack_int k, const T* a, lapack_int lda, T* c,
                   lapack_int ldc) {
  if constexpr (std::is_same_v<T, float>) {
    cblas_ssyrk(order, CblasLower, CblasNoTrans, n, k, -1, a, lda, 1, c, ldc);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dsyrk(order, CblasLower, CblasNoTrans, n, k, -1, a, lda, 1, c, ldc);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    cblas_cherk(order, CblasLower, CblasNoTrans, n, k, -1, a, lda, 1, c, ldc);
  } else {
    cblas_zherk(order, CblasLower, CblasNoTrans, n, k, -1, a, lda, 1, c, ldc);
  }
}

}  // namespace anabranch::lapack
