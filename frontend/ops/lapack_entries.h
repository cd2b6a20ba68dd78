// LAPACK's routines as programs call them by name: what JAX exports for a CPU, and XLA's own names.
//
// A StableHLO `custom_call` names one of these; the operands are arrays of matrices with
// any number of batch axes before the last two. `?` is s, d, c or z
// (orgqr, ormqr, syevd and sytrd of complex matrices are called ungqr, unmqr, heevd and hetrd). The
// older targets without `_ffi` have the same results (their leading operands, sizes as i32 scalars,
// are left out here).
//
//   target                        attributes             operands   results                function
//   lapack_?potrf_ffi             uplo 'L' 'U'           a          a, info                potrf
//   lapack_?getrf_ffi                                    a          lu, pivots, info       getrf
//   lapack_?trsm_ffi (blas_?trsm) side uplo trans_x diag a, b [, 1] x                      trsm
//   lapack_?geqrf_ffi                                    a          a, taus [, info]       geqrf
//   lapack_?geqp3_ffi                                    a, pivots  a, pivots, taus        geqp3
//   lapack_?orgqr_ffi                                    a, taus    q [, info]             orgqr
//   lapack_?ormqr_ffi             left, transpose: bools a, taus, c x                      ormqr
//   lapack_?gesdd_ffi             mode 'A' 'S' 'N'       a          a, s, u, vt, info      gesdd
//   lapack_?gesvd_ffi             mode 'A' 'S' 'N'       a          a, s, u, vt, info      gesdd
//   lapack_?syevd_ffi             mode 'V' 'N', uplo     a          v, w, info             syevd
//   lapack_?geev_ffi              compute_left,
//                                 compute_right 'V' 'N'  a          w, vl, vr, info        geev
//   lapack_?gees_ffi              mode 'V' 'N',
//                                 sort 'N'               a          t, z, w, chosen, info  gees
//   lapack_?gehrd_ffi             (low, high)            a          a, taus, info          gehrd
//   lapack_?sytrd_ffi             uplo                   a          a, d, e, taus, info    sytrd
//   lapack_?gtsv_ffi                                     dl, d,     dl, d, du, x, info     gtsv
//                                                        du, b
//   LuDecomposition                                      a          lu, pivots, permutation
//   lu_decomposition Qr                                                   a          a, taus geqrf
//   ProductOfElementaryHouseholderReflectors             a, taus    q                      orgqr
//   Eigh                          lower, in the config   a          v, w                   syevd
//
// `info` is i32, one per matrix: 0 where all went well. What goes wrong is told apart no further
// than LAPACK's users do: potrf, gesdd, syevd, geev, gees and gtsv give 1 where there is no result,
// and getrf the first column, from 1, whose pivot is 0. A result that does not exist is NaN
// throughout. Trailing results that a program does not ask for may be dropped.
#pragma once

#include <vector>

#include "anabranch/array.h"
#include "anabranch/source_location.h"
#include "ir/attributes.h"

namespace anabranch::lapack_entries {

/// The factor in the triangle that is read, and the operand's elements in the other; info.
std::vector<Array> potrf(const Array& a, bool lower, SourceLocation where);
/// The packed factors; the row that each row was exchanged with, from 1, i32; info.
std::vector<Array> getrf(const Array& a, SourceLocation where);
/// X with op(A) X = B, or X op(A) = B.
std::vector<Array> trsm(const Array& a, const Array& b, const TriangularSolveAttributes& how,
                        SourceLocation where);
/// R and the reflectors below it; their factors; info.
std::vector<Array> geqrf(const Array& a, SourceLocation where);
/// As geqrf of the columns in another order, which is given from 1, i32; there is no info. Columns
/// whose pivot is not 0 come first.
std::vector<Array> geqp3(const Array& a, const Array& pivots, SourceLocation where);
/// The first columns of the product of reflectors; info.
std::vector<Array> orgqr(const Array& a, const Array& taus, SourceLocation where);
/// Q C, or C Q where Q is not on the left; Q is the product of all reflectors, square, or its
/// adjoint.
std::vector<Array> ormqr(const Array& a, const Array& taus, const Array& c, bool left, bool adjoint,
                         SourceLocation where);

enum class SvdMode : char { all = 'A', some = 'S', none = 'N' };
/// The operand, which LAPACK works in; singular values; U; V^H; info. U and V^H of `none` are zeros
/// of the shapes of `all` if `full`, else of `some`.
std::vector<Array> gesdd(const Array& a, SvdMode mode, SourceLocation where, bool full = true);
/// Eigenvectors as columns (without `vectors` the operand); eigenvalues; info.
std::vector<Array> syevd(const Array& a, bool lower, bool vectors, SourceLocation where);
/// Eigenvalues, of real matrices as the real and the imaginary parts; left and right eigenvectors
/// as columns, zeros where they are not asked for; info.
std::vector<Array> geev(const Array& a, bool left, bool right, SourceLocation where);
/// The Schur form; the vectors, zeros without `vectors`; eigenvalues, of real matrices as the real
/// and the imaginary parts; how many are chosen, 0; info.
std::vector<Array> gees(const Array& a, bool vectors, SourceLocation where);
/// The Hessenberg form, the reflections' vectors below it, their factors; info, 0. What is outside
/// of the rows and columns from `low` to `high` is triangular already.
std::vector<Array> gehrd(const Array& a, SourceLocation where);
/// Of the Hermitian matrix whose triangle is read, three diagonals and the reflections' vectors in
/// that triangle; the main diagonal and the one beside it, real; the factors; info, 0.
std::vector<Array> sytrd(const Array& a, bool lower, SourceLocation where);
/// The diagonals as they were, which LAPACK works in; the solution; info.
std::vector<Array> gtsv(const std::vector<Array>& operands, SourceLocation where);
/// As getrf, but rows from 0, and instead of info the row of the operand that came to each row.
std::vector<Array> lu_decomposition(const Array& a, SourceLocation where);

}  // namespace anabranch::lapack_entries
