// Factorisations, as users and other functions want their factors.
#include "anabranch/creation.h"
#include "anabranch/custom_rules.h"
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

using Factors = std::tuple<Array, Array>;

// Q of `rank` columns, and R.
Factors q_and_r(const Array& matrix, std::int64_t rank, SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::qr, {matrix}, where);
  const Type& type = type_of(matrix);
  Array reflectors = rank <= type.shape[type.rank() - 1] ? first_columns(parts[0], rank, where)
                                                         : widened_to(parts[0], rank, where);
  return {record(Op::householder_product, {reflectors, parts[1]}, where),
          triu({first_rows(parts[0], rank, where), where})};
}

// Those of least rank, and their tangents. R = [R1 R2], where R1 is square:
//
//   C = dA1 R1^-1,  P = Q^H C,  W = Q^H dQ is skew-Hermitian and equals P below the diagonal,
//   dQ = C - Q (P - W),  dR = Q^H dA - W R
//
// The diagonal of R is real, so that of W is what is imaginary in P's. (Walter and Lehmann,
// "Algorithmic differentiation of linear algebra functions with application in optimum experimental
// design", 2010.) The ops' own derivatives give the same, but for a column of reals with nothing
// below its diagonal: LAPACK has no reflector for it, whose derivative is none.
std::pair<Factors, Factors> qr_and_tangents(const Array& matrix, const Array& change,
                                            SourceLocation where) {
  const Type& type = type_of(matrix);
  const std::int64_t rank = std::min(type.shape[type.rank() - 2], type.shape[type.rank() - 1]);
  const Factors factors = q_and_r(matrix, rank, where);
  const Term q(std::get<0>(factors), where), r(std::get<1>(factors), where);
  const Term q_adjoint(adjoint(std::get<0>(factors), where), where);
  const Term c(triangular_solution(first_columns(std::get<1>(factors), rank, where),
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
  return {factors, {c - within, triu({from - turned, where})}};
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
  const auto factors = [rank, where](const Array& matrix) { return q_and_r(matrix, rank, where); };
  if (rank > a.columns()) {  // columns of Q that R does not determine: the reflectors do
    const auto [q, r] = factors(a.matrix);
    return {a.rounded(q), a.rounded(r)};
  }
  const auto rule = [where](const std::tuple<Array>& matrix, const std::tuple<Array>& change) {
    return qr_and_tangents(std::get<0>(matrix), std::get<0>(change), where);
  };
  const auto [q, r] = detail::CustomJvp(factors, rule, where)(a.matrix.array());
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
