// What the functions of `linalg` share: matrices in the dtype that they are computed in, and the
// ops that LAPACK computes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/ops/term.h"
#include "ir/attributes.h"
#include "ir/op.h"

namespace anabranch::linalg {

/// An array of a function that takes matrices of floats or complex numbers.
struct MatrixOperand {
  Term given;   ///< as the user gave it
  Term matrix;  ///< in the dtype that it is computed in

  std::int64_t rows() const;
  std::int64_t columns() const;
  std::int64_t least() const { return std::min(rows(), columns()); }
  SourceLocation where() const { return given.where(); }
  /// A result in the dtype of the operand.
  Array rounded(const Array& result) const { return rounded_as(given, {result, where()}); }
};

/// Throws Error, naming `function`, for what holds no such matrices.
MatrixOperand matrix_operand(const char* function, const Operand& x);
/// The same for matrices that have to be square.
MatrixOperand square_operand(const char* function, const Operand& x);

/// The results of an op of linear algebra.
std::vector<Array> factors_of(Op op, const std::vector<Array>& operands, SourceLocation where,
                              Attributes attributes = NoAttributes{});
/// X with op(A) X = B, whose batches are equal.
Array triangular_solution(const Array& a, const Array& b, SourceLocation where,
                          TriangularSolveAttributes how);

/// The conjugate transpose.
Array adjoint(const Array& x, SourceLocation where);
/// The first `count` rows or columns.
Array first_rows(const Array& x, std::int64_t count, SourceLocation where);
Array first_columns(const Array& x, std::int64_t count, SourceLocation where);
/// A row of the identity of `size` for each number, as a matrix: times another one it gives the
/// rows of those numbers.
Array selection(const Array& rows, std::int64_t size, Dtype dtype, SourceLocation where);

/// What a system is solved for: b as matrices, its batch and that of the matrix broadcast.
struct System {
  Term given;  ///< b as the user gave it, in the common dtype
  Array a, b;
  bool is_vector = false;

  /// The solution in the shape of b and the dtype of both.
  Array result(const Array& solution) const;
};
/// Throws Error unless a is square (or `any_shape`) and as high as b.
System system_of(const char* function, const Operand& a, const Operand& b, bool any_shape = false);

/// Matrices broadcast to one batch. Throws Error where that fails.
std::pair<Array, Array> with_one_batch(const char* function, const Array& a, const Array& b,
                                       SourceLocation where);

}  // namespace anabranch::linalg
