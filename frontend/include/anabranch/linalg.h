// Linear algebra: factorisations, systems, eigenvalues, norms, under the names of the Python Array
// API standard's extension `linalg` (and NumPy's and SciPy's where it has none).
//
// Matrices are the last two axes of an array, and the axes before them count matrices: what is said
// of a matrix holds for each. Functions take floats and complex numbers: f32, f64, c64 and c128 as
// they are; f16 and bf16 are computed in f32, and the results rounded. ^H is the conjugate
// transpose, which is the transpose of a real matrix; of complex matrices singular values, norms
// and the eigenvalues of eigh are real. LAPACK computes on the host, on whatever device the arrays
// are; matrices of a batch are divided among threads. A matrix that holds a NaN or an infinity has
// factors of NaN, and so has one that has no such factor; nothing throws for the values of a
// matrix.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "anabranch/arrange.h"
#include "anabranch/export.h"
#include "anabranch/linear_algebra.h"
#include "anabranch/manipulate.h"
#include "anabranch/operand.h"
#include "anabranch/reduce.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {
namespace linalg {

using anabranch::diagonal;
using anabranch::matmul;
using anabranch::matrix_transpose;
using anabranch::norm;
using anabranch::outer;
using anabranch::tensordot;
using anabranch::vecdot;

// --- factorisations ------------------------------------------------------------------------------

/// The lower triangle L with L L^H = x, or with `upper` the triangle U with U^H U = x, of a
/// Hermitian (real: symmetric) x of which only that triangle is read; 0 in the other. NaN in the
/// triangle where x is not positive definite. Error unless x is square.
Array cholesky(const Operand& x, bool upper = false);

/// x = q r: q has orthonormal columns, r is upper triangular.
struct QrResult {
  Array q, r;
};
enum class QrMode : std::uint8_t {
  reduced,  ///< q[m, k] and r[k, n], k the lesser of m and n
  complete  ///< q[m, m] and r[m, n]
};
/// The QR factorisation of x[m, n] by reflections (LAPACK's geqrf): the diagonal of r has either
/// sign.
QrResult qr(const Operand& x, QrMode mode = QrMode::reduced);

/// Column p[i] of x is column i of q r, for each i; p is i32.
struct PivotedQrResult {
  Array q, r, p;
};
/// The QR factorisation with column pivoting (LAPACK's geqp3; SciPy's qr with pivoting): of the
/// columns of x[m, n] in an order p[n] in which the magnitudes on the diagonal of r descend. Shapes
/// as of `qr`. Derivatives take p for constant.
PivotedQrResult qr_pivoted(const Operand& x, QrMode mode = QrMode::reduced);

/// x = u diag(s) vh, s descending.
struct SvdResult {
  Array u, s, vh;
};
/// The singular value decomposition of x[m, n] (LAPACK's gesdd): u[m, m] and vh[n, n] if
/// `full_matrices`, else u[m, k] and vh[k, n], k the lesser of m and n. The sign of a column of u
/// and its row of vh is either.
SvdResult svd(const Operand& x, bool full_matrices = true);
/// The singular values alone, descending.
Array svdvals(const Operand& x);

/// x = eigenvectors diag(eigenvalues) eigenvectors^H, the eigenvalues ascending.
struct EighResult {
  Array eigenvalues, eigenvectors;
};
/// Eigenvalues and orthonormal eigenvectors (the columns) of a Hermitian (real: symmetric) x of
/// which one triangle is read (LAPACK's syevd). The sign of a vector is either. Error unless x is
/// square.
EighResult eigh(const Operand& x, bool lower = true);
/// The eigenvalues alone, ascending.
Array eigvalsh(const Operand& x, bool lower = true);

/// x eigenvectors = eigenvectors diag(eigenvalues), both complex.
struct EigResult {
  Array eigenvalues, eigenvectors;
};
/// Eigenvalues, in any order, and eigenvectors (the columns) of any square x, complex numbers of
/// its precision (c64 of f16 and bf16): LAPACK's geev. A vector has the length 1, and its component
/// of the greatest magnitude is real; the eigenvalues of a real x that are not real come in
/// conjugate pairs, the one above the real axis first. Error unless x is square.
EigResult eig(const Operand& x);
/// The eigenvalues alone, in any order.
Array eigvals(const Operand& x);

/// x = q h q^H: q is unitary (real: orthogonal), h is 0 below the diagonal under the main one.
struct HessenbergResult {
  Array h, q;
};
/// The Hessenberg form of a square x by reflections (LAPACK's gehrd; SciPy's hessenberg with
/// calc_q), a loop of the program. Error unless x is square.
HessenbergResult hessenberg(const Operand& x);

/// x = z t z^H, z unitary (real: orthogonal).
struct SchurResult {
  Array t, z;
};
enum class SchurOutput : std::uint8_t {
  real,    ///< t and z real where x is
  complex  ///< t and z complex numbers of the precision of x (c64 of f16 and bf16)
};
/// The Schur form of a square x (LAPACK's gees; SciPy's schur): t is upper triangular, its diagonal
/// the eigenvalues in any order. A real t has a block of two rows and columns on its diagonal for
/// each pair of eigenvalues a + bi and a - bi that are not real: (a, c; d, a) with c d = -b^2. It
/// has no derivative, as in JAX. Error unless x is square.
SchurResult schur(const Operand& x, SchurOutput output = SchurOutput::real);

/// x = p l u.
struct LuResult {
  Array p, l, u;
};
/// The LU factorisation of x[m, n] with partial pivoting: a permutation p[m, m], l[m, k] with a
/// unit diagonal, u[k, n], k the lesser of m and n. (SciPy's lu.)
LuResult lu(const Operand& x);

/// l below and u on and above the diagonal of `lu`; row i was exchanged with row pivots[i], in
/// turn, so that row i of l u is row permutation[i] of x. Both i32.
struct LuFactors {
  Array lu, pivots, permutation;
};
/// The same packed in one matrix (LAPACK's getrf), for `lu_solve`. (SciPy's lu_factor.)
LuFactors lu_factor(const Operand& x);

// --- systems -------------------------------------------------------------------------------------

/// The solution of a x = b by LU: b is a vector if it has one axis, else matrices; batches
/// broadcast. Infinities or NaN where a is singular. Error unless a is square and as high as b.
Array solve(const Operand& a, const Operand& b);
/// The solution of a x = b from `lu_factor(a)`.
Array lu_solve(const LuFactors& factors, const Operand& b);

/// How `solve_triangular` takes its matrix.
struct TriangularOptions {
  bool lower = false;          ///< which triangle of a is read
  bool transpose = false;      ///< solves a^T x = b
  bool unit_diagonal = false;  ///< takes the diagonal for ones and does not read it
  bool adjoint = false;        ///< solves a^H x = b
};
/// The solution of a x = b for a triangle of a; shapes as of `solve`.
Array solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options = {});
/// The solution of a x = b from the factor that `cholesky(a, upper)` gave.
Array cho_solve(const Operand& factor, const Operand& b, bool upper = false);

/// The solution of a x = b for a[m, m] with three diagonals and b[m, k], by elimination with
/// exchanges of rows (LAPACK's gtsv, and the signature of jax.lax.linalg.tridiagonal_solve): d[m]
/// is the main one, dl[m] the one below it, whose first element is not read, du[m] the one above
/// it, whose last is not read. Batches broadcast. NaN throughout where a is singular or not finite.
/// Error for other sizes.
Array tridiagonal_solve(const Operand& dl, const Operand& d, const Operand& du, const Operand& b);

/// The inverse; infinities or NaN where x is singular. Error unless x is square.
Array inv(const Operand& x);
/// The Moore-Penrose inverse by singular values: those not above rtol times the greatest count as
/// 0. `rtol` defaults, as -1, to the greater of the sizes times the epsilon of the dtype.
Array pinv(const Operand& x, double rtol = -1);

/// x with the least sum of squares of the magnitudes of a x - b, the least such x; these sums for
/// each column of b; the rank of a (i64); its singular values.
struct LstsqResult {
  Array x, residuals, rank, s;
};
/// Least squares of a[m, n] and b[m] or b[m, k], by singular values, those not above rtol times the
/// greatest taken for 0 (as in `pinv`). Error unless both have m rows.
LstsqResult lstsq(const Operand& a, const Operand& b, double rtol = -1);

// --- numbers of a matrix -------------------------------------------------------------------------

/// The determinant, by LU. Error unless x is square.
Array det(const Operand& x);
/// sign * exp(logabsdet) is the determinant; 0 and -infinity of a singular matrix.
struct SlogdetResult {
  Array sign, logabsdet;
};
/// The determinant where it may overflow.
SlogdetResult slogdet(const Operand& x);
/// How many singular values are above rtol times the greatest, as i64; `rtol` as of `pinv`.
Array matrix_rank(const Operand& x, double rtol = -1);
/// The sum of the diagonal that `diagonal(x, offset)` gives; dtypes as of `sum`.
Array trace(const Operand& x, std::int64_t offset = 0);

/// For the order of a norm: the greatest magnitude, or -infinity for the least.
inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// sum(|x|^order)^(1 / order) over the axes, or all elements; `infinity` for the greatest
/// magnitude, -infinity for the least, 0 for how many are not 0.
Array vector_norm(const Operand& x, const Axes& axes = {}, bool keep = false, double order = 2);
enum class MatrixNorm : std::uint8_t {
  frobenius,  ///< the root of the sum of all squares
  nuclear     ///< the sum of the singular values
};
/// The norm of a matrix as a vector, or of its singular values.
Array matrix_norm(const Operand& x, bool keep = false, MatrixNorm order = MatrixNorm::frobenius);
/// The greatest (1, 2, infinity) or least (-1, -2, -infinity) sum of the magnitudes of a column
/// (1), singular value (2), or sum of the magnitudes of a row (infinity). Error for other orders.
Array matrix_norm(const Operand& x, double order, bool keep = false);
template <std::integral Order>
requires(!std::same_as<Order, bool>) Array
    matrix_norm(const Operand& x, Order order, bool keep = false) {
  return matrix_norm(x, static_cast<double>(order), keep);
}

/// The condition number (NumPy's cond): the greatest singular value over the least, or for -2 the
/// least over the greatest; for other orders of `matrix_norm` the norm of a square x times that of
/// its inverse. Infinity where x is singular. Error for a matrix of no elements.
Array cond(const Operand& x, double order = 2);
Array cond(const Operand& x, MatrixNorm order);

// --- products and powers -------------------------------------------------------------------------

/// x to an integer power, by squaring; a negative one is of the inverse. Error unless x is square.
Array matrix_power(const Operand& x, std::int64_t power);
/// The product of two or more matrices, in the order that takes the fewest multiplications; the
/// first may be a row and the last a column of one axis (NumPy's multi_dot). Error unless the
/// others have two axes and neighbours fit.
Array multi_dot(const Operands& arrays);
/// x with tensordot(a, x, rank of x) = b: the last axes of a, those after as many as b has, are
/// x's; their product is that of the first (NumPy's tensorsolve). Error for other sizes.
Array tensorsolve(const Operand& a, const Operand& b);
/// y with tensordot(y, x, count) the identity: the axes of x after the first `count` come first
/// (NumPy's tensorinv). Error unless the products of both are equal.
Array tensorinv(const Operand& x, std::int64_t count = 2);
/// e to the power of a matrix: the Pade approximant of order 13 of a matrix scaled down to a 1-norm
/// below 5.37, squared again (Higham, "The scaling and squaring method for the matrix exponential
/// revisited", SIAM J. Matrix Anal. Appl. 26(4), 2005). NaN if that norm overflows. Error unless x
/// is square.
Array expm(const Operand& x);
/// The vector product of vectors of three elements along an axis. Error for other sizes, and for an
/// axis that is not negative where the ranks differ.
Array cross(const Operand& a, const Operand& b, Axis axis = -1);

}  // namespace linalg
}  // namespace anabranch
