// LAPACK's routines by element type, matrices column by column, and the one way to call them.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <cblas.h>
#include <lapacke.h>

namespace anabranch::lapack {

/// While it lives, the calling thread may call LAPACK, which then runs on this thread alone and not
/// on more threads of its own: it is the runtime that shares out cores.
class LapackCall {
 public:
  LapackCall();
  ~LapackCall();
  LapackCall(const LapackCall&) = delete;
  LapackCall& operator=(const LapackCall&) = delete;

 private:
  int threads_before_;
};

// clang-format off
/// `name` of float and double: LAPACKE_sNAME_work(LAPACK_COL_MAJOR, arguments...).
#define REAL_ROUTINE(name, parameters, ...)                                      \
  template <class T, std::enable_if_t<std::is_same_v<T, float>, int> = 0>        \
  lapack_int name parameters { return LAPACKE_s##name##_work(LAPACK_COL_MAJOR, __VA_ARGS__); } \
  template <class T, std::enable_if_t<std::is_same_v<T, double>, int> = 0>       \
  lapack_int name parameters { return LAPACKE_d##name##_work(LAPACK_COL_MAJOR, __VA_ARGS__); }

REAL_ROUTINE(potrf, (char triangle, lapack_int n, T* a), triangle, n, a, n)
REAL_ROUTINE(getrf, (lapack_int m, lapack_int n, T* a, lapack_int* pivots), m, n, a, m, pivots)
REAL_ROUTINE(geqrf, (lapack_int m, lapack_int n, T* a, T* factors, T* work, lapack_int size),
             m, n, a, m, factors, work, size)
REAL_ROUTINE(orgqr, (lapack_int m, lapack_int n, lapack_int k, T* a, const T* factors, T* work, lapack_int size),
             m, n, k, a, m, factors, work, size)
REAL_ROUTINE(gesdd, (char job, lapack_int m, lapack_int n, T* a, T* s, T* u, lapack_int ldu, T* vt, lapack_int ldvt,
                     T* work, lapack_int size, lapack_int* integers),
             job, m, n, a, m, s, u, ldu, vt, ldvt, work, size, integers)
REAL_ROUTINE(syevd, (char job, char triangle, lapack_int n, T* a, T* w, T* work, lapack_int size, lapack_int* integers,
                     lapack_int integer_count),
             job, triangle, n, a, n, w, work, size, integers, integer_count)
#undef REAL_ROUTINE
// clang-format on

/// op(A) X = B or X op(A) = B, in place of B, all row by row; b is m x n.
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO triangle, CBLAS_TRANSPOSE op, CBLAS_DIAG diagonal,
                 lapack_int m, lapack_int n, const float* a, lapack_int lda, float* b) {
  cblas_strsm(CblasRowMajor, side, triangle, op, diagonal, m, n, 1, a, lda, b, n);
}
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO triangle, CBLAS_TRANSPOSE op, CBLAS_DIAG diagonal,
                 lapack_int m, lapack_int n, const double* a, lapack_int lda, double* b) {
  cblas_dtrsm(CblasRowMajor, side, triangle, op, diagonal, m, n, 1, a, lda, b, n);
}

}  // namespace anabranch::lapack
