// Norms, traces, and the vector product.
#include <cmath>

#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/linalg_matrix.h"

namespace anabranch::linalg {
namespace {

// One number per matrix, its two axes of size 1 where they are kept.
Array per_matrix(const MatrixOperand& a, Array numbers, bool keep) {
  if (keep) numbers = expand_dims({expand_dims({numbers, a.where()}, -1), a.where()}, -1);
  return a.rounded(numbers);
}

Term greatest_or_least(const Term& x, bool greatest) {
  return {greatest ? anabranch::max(x, -1) : anabranch::min(x, -1), x.where()};
}

// NaN becomes infinity, unless the matrix holds one.
Term or_infinite(const Term& condition, const MatrixOperand& a) {
  const Term is_nan(isnan(condition), a.where());
  const Term holds_nan(any({isnan(a.matrix), a.where()}, {-2, -1}), a.where());
  return where(is_nan & !holds_nan, Term(infinity), condition);
}

}  // namespace

Array vector_norm(const Operand& x, const Axes& axes, bool keep, double order) {
  const Term given = term("vector_norm", x, Takes::floats_or_complex);
  const Axes folded = std::isinf(order) ? folded_axes_of_some("vector_norm", given, axes)
                                        : folded_axes("vector_norm", given, axes);
  if (order == 2) return anabranch::norm(given, folded, keep);
  const Term sizes = abs(widened(given));
  const SourceLocation where = x.where();
  const auto made = [&](const Array& result) { return rounded_as(given, {result, where}); };
  if (std::isinf(order)) {
    return made(order > 0 ? anabranch::max(sizes, folded, keep)
                          : anabranch::min(sizes, folded, keep));
  }
  if (order == 0) {
    return made(astype({count_nonzero(sizes, folded, keep), where}, type_of(sizes).dtype));
  }
  if (order == 1) return made(anabranch::sum(sizes, folded, keep));
  const Array sum = anabranch::sum({pow(sizes, order), where}, folded, keep);
  return made(pow(Operand(sum, where), 1 / order));
}

Array matrix_norm(const Operand& x, bool keep, MatrixNorm order) {
  const MatrixOperand a = matrix_operand("matrix_norm", x);
  if (order == MatrixNorm::frobenius) return anabranch::norm(a.given, {-2, -1}, keep);
  return per_matrix(a, anabranch::sum({svdvals(a.matrix), a.where()}, -1), keep);
}

namespace {

Array norm_of_order(const char* function, const MatrixOperand& a, double order, bool keep) {
  const bool greatest = order > 0;
  const double kind = std::fabs(order);
  if (kind == 2) {
    folded_axes_of_some(function, a.given, {-2, -1});
    const Term values(svdvals(a.matrix), a.where());
    return per_matrix(a, greatest_or_least(values, greatest), keep);
  }
  if (kind != 1 && !std::isinf(kind)) {
    fail(std::string(function) + ": there is no norm of order " + std::to_string(order) + " of " +
             to_string(type_of(a.given)) + "; 1, 2 and infinity are, and their negatives",
         a.where());
  }
  folded_axes_of_some(function, a.given, kind == 1 ? -1 : -2);
  const Term sums(anabranch::sum(abs(a.matrix), kind == 1 ? -2 : -1), a.where());
  return per_matrix(a, greatest_or_least(sums, greatest), keep);
}

}  // namespace

Array matrix_norm(const Operand& x, double order, bool keep) {
  return norm_of_order("matrix_norm", matrix_operand("matrix_norm", x), order, keep);
}

Array cond(const Operand& x, double order) {
  if (std::fabs(order) != 2) {
    const MatrixOperand a = square_operand("cond", x);
    const auto norm_of = [&](const Term& matrix) {
      return Term(norm_of_order("cond", {matrix, matrix}, order, false), a.where());
    };
    const Term own = norm_of(a.matrix);
    const Term inverse = norm_of({inv(a.matrix), a.where()});
    return a.rounded(or_infinite(own * inverse, a));
  }
  const MatrixOperand a = matrix_operand("cond", x);
  if (a.least() == 0) {
    fail("cond: " + to_string(type_of(a.given)) +
             " has no singular values; give matrices of at least one row and one column",
         x.where());
  }
  const Term values(svdvals(a.matrix), a.where());
  const Term greatest = greatest_or_least(values, true), least = greatest_or_least(values, false);
  return a.rounded(or_infinite(order > 0 ? greatest / least : least / greatest, a));
}

Array cond(const Operand& x, MatrixNorm order) {
  const MatrixOperand a = square_operand("cond", x);
  const Term own(matrix_norm(a.matrix, false, order), a.where());
  const Term inverse(matrix_norm({inv(a.matrix), a.where()}, false, order), a.where());
  return a.rounded(or_infinite(own * inverse, a));
}

Array trace(const Operand& x, std::int64_t offset) {
  const Array array = as_array("trace", x, Takes::numbers);
  if (type_of(array).rank() < 2) {
    fail("trace: " + describe(x) + " has fewer than two axes", x.where());
  }
  return anabranch::sum({anabranch::diagonal({array, x.where()}, offset), x.where()}, -1);
}

Array cross(const Operand& a, const Operand& b, Axis axis) {
  std::vector<Array> both = promote("cross", {&a, &b}, Takes::numbers);
  const SourceLocation where = a.where();
  demand_axis_of_both("cross", axis, both[0], both[1], where);
  const auto check = [&](const Array& x) {
    const std::int64_t along = axis_of("cross", axis, type_of(x).shape, where);
    const std::int64_t size = type_of(x).shape[static_cast<int>(along)];
    if (size == 3) return;
    fail("cross: takes vectors of three elements: " + to_string(type_of(both[0])) + " x " +
             to_string(type_of(both[1])) + " (" + std::to_string(size) + " along axis " +
             std::to_string(along) + ")",
         where);
  };
  check(both[0]);
  check(both[1]);
  broadcast("cross", both, where);
  const auto rolled = [&](const Array& x, std::int64_t shift) {
    return Term(roll({x, where}, shift, axis), where);
  };
  return rolled(both[0], -1) * rolled(both[1], 1) - rolled(both[0], 1) * rolled(both[1], -1);
}

}  // namespace anabranch::linalg
