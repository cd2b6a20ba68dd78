// Factorisations, as users and other functions want their factors.
#include "anabranch/creation.h"
#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/ops/linalg_matrix.h"
#include "frontend/trace/record.h"

namespace anabranch::linalg {
namespace {

// 0 around, so that it has `columns` columns.
Array widened_to(const Array& x, std::int64_t columns, SourceLocation where) {
  const Type& type = type_of(x);
  const auto rank = static_cast<std::size_t>(type.rank());
  std::vector<std::int64_t> low(rank), high(rank);
  high.back() = columns - type.shape[type.rank() - 1];
  return pad({x, where}, Sizes(low, where), Sizes(high, where));
}

}  // namespace

Array cholesky(const Operand& x, bool upper) {
  const MatrixOperand a = square_operand("cholesky", x);
  return a.rounded(record(Op::cholesky, {a.matrix}, a.where(), TriangleAttributes{!upper}));
}

QrResult qr(const Operand& x, QrMode mode) {
  const MatrixOperand a = matrix_operand("qr", x);
  const SourceLocation where = a.where();
  const std::int64_t rank = mode == QrMode::complete ? a.rows() : a.least();
  const std::vector<Array> parts = factors_of(Op::qr, {a.matrix}, where);
  Array reflectors = rank <= a.columns() ? first_columns(parts[0], rank, where)
                                         : widened_to(parts[0], rank, where);
  const Array q = record(Op::householder_product, {reflectors, parts[1]}, where);
  const Array r = triu({first_rows(parts[0], rank, where), where});
  return {a.rounded(q), a.rounded(r)};
}

SvdResult svd(const Operand& x, bool full_matrices) {
  const MatrixOperand a = matrix_operand("svd", x);
  const std::vector<Array> parts =
      factors_of(Op::svd, {a.matrix}, a.where(), SvdAttributes{true, full_matrices});
  return {a.rounded(parts[1]), a.rounded(parts[0]), a.rounded(parts[2])};
}

Array svdvals(const Operand& x) {
  const MatrixOperand a = matrix_operand("svdvals", x);
  return a.rounded(record(Op::svd, {a.matrix}, a.where(), SvdAttributes{}));
}

EighResult eigh(const Operand& x, bool lower) {
  const MatrixOperand a = square_operand("eigh", x);
  const std::vector<Array> parts =
      factors_of(Op::eigh, {a.matrix}, a.where(), EighAttributes{true, lower});
  return {a.rounded(parts[0]), a.rounded(parts[1])};
}

Array eigvalsh(const Operand& x, bool lower) {
  const MatrixOperand a = square_operand("eigvalsh", x);
  return a.rounded(record(Op::eigh, {a.matrix}, a.where(), EighAttributes{false, lower}));
}

EigResult eig(const Operand& x) {
  const MatrixOperand a = square_operand("eig", x);
  const std::vector<Array> parts =
      factors_of(Op::eig, {a.matrix}, a.where(), EigAttributes{false, true});
  return {parts[0], parts[1]};
}

Array eigvals(const Operand& x) {
  const MatrixOperand a = square_operand("eigvals", x);
  return record(Op::eig, {a.matrix}, a.where(), EigAttributes{});
}

LuResult lu(const Operand& x) {
  const MatrixOperand a = matrix_operand("lu", x);
  const SourceLocation where = a.where();
  const std::int64_t rows = a.rows(), rank = a.least();
  const std::vector<Array> parts = factors_of(Op::lu, {a.matrix}, where);
  const Term packed(parts[0], where);
  const Dtype dtype = type_of(parts[0]).dtype;
  const Term ones = converted({eye(rows, rank), where}, dtype);
  const Term below(tril({first_columns(packed, rank, where), where}, -1), where);
  const Array upper = triu({first_rows(packed, rank, where), where});
  const Array chosen = selection(parts[2], rows, dtype, where);
  return {a.rounded(anabranch::matrix_transpose({chosen, where})), a.rounded(below + ones),
          a.rounded(upper)};
}

LuFactors lu_factor(const Operand& x) {
  const MatrixOperand a = matrix_operand("lu_factor", x);
  const std::vector<Array> parts = factors_of(Op::lu, {a.matrix}, a.where());
  return {a.rounded(parts[0]), parts[1], parts[2]};
}

}  // namespace anabranch::linalg
