// LAPACK's routines by element type, matrices column by column, and the one way
// to call them.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <cblas.h>
#include <lapacke.h>

#include "runtime/library_call.h"

namespace anabranch::lapack {

/// While it lives, the calling thread may call LAPACK, which then runs on this
/// thread alone and not on more threads of its own: it is the runtime that
/// shares out cores.
class LapackCall {
 public:
  LapackCall();
  ~LapackCall();
  LapackCall(const LapackCall&) = delete;
  LapackCall& operator=(const LapackCall&) = delete;

 private:
  const LibraryCall call_;
  int threads_before_;
};

/// The real type of a real or complex number.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

// clang-format off
/// `name` of one element type: LAPACKE_xNAME_work(LAPACK_COL_MAJOR, arguments...).
#define ROUTINE_OF(element, name, routine, parameters, ...)                          \
  template <class T, std::enable_if_t<std::is_same_v<T, element>, int> = 0>          \
  lapack_int name parameters { return LAPACKE_##routine##_work(LAPACK_COL_MAJOR, __VA_ARGS__); }
#define REAL_ROUTINE(name, routine, parameters, ...)            \
  ROUTINE_OF(float, name, s##routine, parameters, __VA_ARGS__)  \
  ROUTINE_OF(double, name, d##routine, parameters, __VA_ARGS__)
#define COMPLEX_ROUTINE(name, routine, parameters, ...)                       \
  ROUTINE_OF(std::complex<float>, name, c##routine, parameters, __VA_ARGS__)  \
  ROUTINE_OF(std::complex<double>, name, z##routine, parameters, __VA_ARGS__)
#define ROUTINE(name, parameters, ...)                \
  REAL_ROUTINE(name, name, parameters, __VA_ARGS__)   \
  COMPLEX_ROUTINE(name, name, parameters, __VA_ARGS__)

ROUTINE(potrf, (char triangle, lapack_int n, T* a, lapack_int lda), triangle, n, a, lda)
// The same by columns, not by blocks. LAPACKE has no such routine.
#define POTF2(element, letter)                                                                \
  inline lapack_int potf2(char triangle, lapack_int n, element* a, lapack_int lda) {          \
    lapack_int failed = 0;                                                                    \
    LAPACK_##letter##potf2(&triangle, &n, a, &lda, &failed);                                  \
    return failed;                                                                            \
  }
POTF2(float, s)
POTF2(double, d)
POTF2(std::complex<float>, c)
POTF2(std::complex<double>, z)
#undef POTF2
ROUTINE(getrf, (lapack_int m, lapack_int n, T* a, lapack_int* pivots), m, n, a, m, pivots)
ROUTINE(gtsv, (lapack_int n, lapack_int sides, T* below, T* on, T* above, T* b), n, sides, below, on, above, b, n)
ROUTINE(geqrf, (lapack_int m, lapack_int n, T* a, T* factors, T* work, lapack_int size), m, n, a, m, factors, work, size)

// Real matrices have routines of other names here, or of fewer arguments.
#define ORGQR (lapack_int m, lapack_int n, lapack_int k, T* a, const T* factors, T* work, lapack_int size)
REAL_ROUTINE(orgqr, orgqr, ORGQR, m, n, k, a, m, factors, work, size)
COMPLEX_ROUTINE(orgqr, ungqr, ORGQR, m, n, k, a, m, factors, work, size)
#define GESDD (char job, lapack_int m, lapack_int n, T* a, Real<T>* s, T* u, lapack_int ldu, T* vt, lapack_int ldvt, \
               T* work, lapack_int size, [[maybe_unused]] Real<T>* reals, lapack_int* integers)
REAL_ROUTINE(gesdd, gesdd, GESDD, job, m, n, a, m, s, u, ldu, vt, ldvt, work, size, integers)
COMPLEX_ROUTINE(gesdd, gesdd, GESDD, job, m, n, a, m, s, u, ldu, vt, ldvt, work, size, reals, integers)
#define SYEVD (char job, char triangle, lapack_int n, T* a, Real<T>* w, T* work, lapack_int size,                    \
               [[maybe_unused]] Real<T>* reals, [[maybe_unused]] lapack_int real_count, lapack_int* integers,        \
               lapack_int integer_count)
REAL_ROUTINE(syevd, syevd, SYEVD, job, triangle, n, a, n, w, work, size, integers, integer_count)
COMPLEX_ROUTINE(syevd, heevd, SYEVD, job, triangle, n, a, n, w, work, size, reals, real_count, integers, integer_count)
// Of real matrices `reals` gets the eigenvalues' real parts, then their imaginary parts.
#define GEEV (char left, char right, lapack_int n, T* a, [[maybe_unused]] T* w, T* vl, T* vr, T* work,                 \
              lapack_int size, Real<T>* reals)
REAL_ROUTINE(geev, geev, GEEV, left, right, n, a, n, reals, reals + n, vl, n, vr, n, work, size)
COMPLEX_ROUTINE(geev, geev, GEEV, left, right, n, a, n, w, vl, n, vr, n, work, size, reals)
#undef GEEV
// No eigenvalues are selected, and their number `chosen` is 0.
#define GEES (char job, lapack_int n, T* a, [[maybe_unused]] T* w, T* z, T* work, lapack_int size, Real<T>* reals,   \
              lapack_int* chosen)
REAL_ROUTINE(gees, gees, GEES, job, 'N', nullptr, n, a, n, chosen, reals, reals + n, z, n, work, size, nullptr)
COMPLEX_ROUTINE(gees, gees, GEES, job, 'N', nullptr, n, a, n, chosen, w, z, n, work, size, reals, nullptr)
#undef GEES
#define GEQP3 (lapack_int m, lapack_int n, T* a, lapack_int* pivots, T* factors, T* work, lapack_int size,           \
               [[maybe_unused]] Real<T>* reals)
REAL_ROUTINE(geqp3, geqp3, GEQP3, m, n, a, m, pivots, factors, work, size)
COMPLEX_ROUTINE(geqp3, geqp3, GEQP3, m, n, a, m, pivots, factors, work, size, reals)
#undef GEQP3
#undef ORGQR
#undef GESDD
#undef SYEVD
#undef ROUTINE
#undef REAL_ROUTINE
#undef COMPLEX_ROUTINE
#undef ROUTINE_OF
// clang-format on

}  // namespace anabranch::lapack
