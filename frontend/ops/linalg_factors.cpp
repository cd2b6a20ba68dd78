// Factorisations, as users and other functions want their factors.
#include "anabranch/creation.h"
#include "anabranch/custom_rules.h"
#include "anabranch/gather.h"
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

// Q of `rank` columns, R, and with pivoting the order of the matrix's columns.
std::vector<Array> qr_factors(const Array& matrix, std::int64_t rank, bool pivoting,
                              SourceLocation where) {
  const Type& type = type_of(matrix);
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.erase(sizes.end() - 2);
  const std::vector<Array> parts =
      pivoting ? factors_of(Op::qr_pivoted, {matrix, zeros(i32, Sizes(sizes, where))}, where)
               : factors_of(Op::qr, {matrix}, where);
  Array reflectors = rank <= type.shape[type.rank() - 1] ? first_columns(parts[0], rank, where)
                                                         : widened_to(parts[0], rank, where);
  std::vector<Array> factors = {record(Op::householder_product, {reflectors, parts[1]}, where),
                                triu({first_rows(parts[0], rank, where), where})};
  if (pivoting) factors.push_back(parts[2]);
  return factors;
}

// The tangents of those of least rank. R = [R1 R2], where R1 is square:
//
//   C = dA1 R1^-1,  P = Q^H C,  W = Q^H dQ is skew-Hermitian and equals P below the diagonal,
//   dQ = C - Q (P - W),  dR = Q^H dA - W R
//
// The diagonal of R is real, so that of W is what is imaginary in P's. (Walter and Lehmann,
// "Algorithmic differentiation of linear algebra functions with application in optimum experimental
// design", 2010.) The ops' own derivatives give the same, but for a column of reals with nothing
// below its diagonal: LAPACK has no reflector for it, whose derivative is none. The order of the
// columns is constant.
std::vector<Array> qr_tangents(const std::vector<Array>& factors, Array change,
                               SourceLocation where) {
  const bool pivoting = factors.size() > 2;
  if (pivoting) {
    const Array order = expand_dims({factors[2], where}, -2);
    change = take_along_axis({change, where}, {order, where}, -1);
  }
  const Type& type = type_of(change);
  const std::int64_t rank = std::min(type.shape[type.rank() - 2], type.shape[type.rank() - 1]);
  const Term q(factors[0], where), r(factors[1], where);
  const Term q_adjoint(adjoint(factors[0], where), where);
  const Term c(triangular_solution(first_columns(factors[1], rank, where),
                                   first_columns(change, rank, where), where, {}),
               where);
  const Array p = anabranch::matmul(q_adjoint, c);
  const Array below = tril({p, where}, -1);
  Term w = Term(below, where) - Term(adjoint(below, where), where);
  if (is_complex(type.dtype)) {
    const Array part = record(Op::imag, {p}, where);
    const Array turned = record(Op::complex, {zeros_like({part, where}), part}, where);
    w = w + Term(turned, where) * converted({eye(rank, rank), where}, type.dtype);
  }
  const Term within(anabranch::matmul(q, Term(p, where) - w), where);
  const Term from(anabranch::matmul(q_adjoint, {change, where}), where);
  const Term turned(anabranch::matmul(w, r), where);
  std::vector<Array> tangents = {c - within, triu({from - turned, where})};
  if (pivoting) tangents.push_back(factors[2]);
  return tangents;
}

std::vector<Array> qr_of(const MatrixOperand& a, QrMode mode, bool pivoting) {
  const SourceLocation where = a.where();
  const std::int64_t rank = mode == QrMode::complete ? a.rows() : a.least();
  const auto factors = [rank, pivoting, where](const Array& matrix) {
    return qr_factors(matrix, rank, pivoting, where);
  };
  // Columns of Q that R does not determine: the reflectors do.
  if (rank > a.columns()) return factors(a.matrix);
  const auto rule = [=](const std::tuple<Array>& matrix, const std::tuple<Array>& change) {
    const std::vector<Array> found = factors(std::get<0>(matrix));
    return std::pair(found, qr_tangents(found, std::get<0>(change), where));
  };
  return detail::CustomJvp(factors, rule, where)(a.matrix.array());
}

}  // namespace

Array cholesky(const Operand& x, bool upper) {
  const MatrixOperand a = square_operand("cholesky", x);
  return a.rounded(record(Op::cholesky, {a.matrix}, a.where(), TriangleAttributes{!upper}));
}

QrResult qr(const Operand& x, QrMode mode) {
  const MatrixOperand a = matrix_operand("qr", x);
  const std::vector<Array> factors = qr_of(a, mode, false);
  return {a.rounded(factors[0]), a.rounded(factors[1])};
}

PivotedQrResult qr_pivoted(const Operand& x, QrMode mode) {
  const MatrixOperand a = matrix_operand("qr_pivoted", x);
  const std::vector<Array> factors = qr_of(a, mode, true);
  return {a.rounded(factors[0]), a.rounded(factors[1]), factors[2]};
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

SchurResult schur(const Operand& x, SchurOutput output) {
  const MatrixOperand a = square_operand("schur", x);
  const Dtype dtype = type_of(a.matrix).dtype;
  const bool turns_complex = output == SchurOutput::complex && !is_complex(dtype);
  const Term matrix = turns_complex ? converted(a.matrix, complex_dtype(dtype)) : a.matrix;
  const std::vector<Array> parts =
      factors_of(Op::schur, {matrix}, a.where(), SchurAttributes{true});
  if (turns_complex) return {parts[0], parts[1]};
  return {a.rounded(parts[0]), a.rounded(parts[1])};
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
