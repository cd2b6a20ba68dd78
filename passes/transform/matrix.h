// Matrices as rules of linear algebra want them: the last two axes of a Quantity; those before
// count them, and are the same for all operands.
#pragma once

#include "passes/transform/quantity.h"

namespace anabranch {

std::int64_t rows_of(Quantity a);
std::int64_t columns_of(Quantity a);
/// The type of a matrix for each of a's, of the same dtype.
Type matrix_type(Quantity a, std::int64_t rows, std::int64_t columns);

Quantity matmul(Quantity a, Quantity b);
Quantity matrix_transpose(Quantity a);
/// The conjugate transpose.
Quantity adjoint(Quantity a);
/// X with op(A) X = B, or X op(A) = B unless left_side.
Quantity triangular_solve(Quantity a, Quantity b, TriangularSolveAttributes how);
/// X with A X = B, for any square A, by LU factorisation. Only b may be a tangent.
Quantity solve(Quantity a, Quantity b);
/// Row i is row rows[i]; `rows` is a vector of i32 for each matrix, as long as it has rows.
Quantity gather_rows(Quantity a, Quantity rows);

/// 1 on the diagonal and 0 elsewhere, in the type of `a`.
Quantity identity_like(Quantity a);
/// Elements whose column less their row is at most, or at least, `offset`; 0 elsewhere.
Quantity lower_triangle(Quantity a, std::int64_t offset = 0);
Quantity upper_triangle(Quantity a, std::int64_t offset = 0);
/// The Hermitian matrix with this triangle, of which the diagonal's real part counts.
Quantity hermitian_of(Quantity a, bool lower);
/// `on` on the diagonal of a matrix, which has the type of `off`, and `off` elsewhere.
Quantity on_diagonal(Quantity on, Quantity off);
/// The diagonal of a square matrix as a vector.
Quantity diagonal(Quantity a);

/// Element (i, j) is v[i], or v[j]: for all places of the matrix `like`.
Quantity along_rows(Quantity v, Quantity like);
Quantity along_columns(Quantity v, Quantity like);

/// The first rows or columns; or those and rows or columns of zeros after them.
Quantity with_rows(Quantity a, std::int64_t count);
Quantity with_columns(Quantity a, std::int64_t count);

/// The real part; itself where it is real.
Quantity real_part(Quantity a);
/// The imaginary part times i: zeros where it is real.
Quantity imaginary_part(Quantity a);

}  // namespace anabranch
