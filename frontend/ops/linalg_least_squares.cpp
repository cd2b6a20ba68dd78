// Pseudo-inverses, least squares and ranks, by singular values.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "anabranch/complex.h"
#include "anabranch/creation.h"
#include "anabranch/custom_rules.h"
#include "anabranch/dtype_info.h"
#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/linalg_matrix.h"

namespace anabranch::linalg {
namespace {

// `rtol`, or for -1 what it defaults to for such matrices, whose elements came in `dtype`.
double rtol_or_default(const char* function, double rtol, const MatrixOperand& a, Dtype dtype) {
  if (rtol >= 0) return rtol;
  if (rtol != -1) {
    fail(fmt::format("{}: rtol is {}; give a share of the greatest singular value from 0 on, or "
                     "nothing for the default",
                     function, rtol),
         a.where());
  }
  return static_cast<double>(std::max(a.rows(), a.columns())) * finfo(part_dtype(dtype)).eps;
}

// The squares of the magnitudes.
Term squared_sizes(const Term& x) {
  if (!is_complex(type_of(x).dtype)) return square(x);
  const SourceLocation where = x.where();
  return square(Term(real(x), where)) + square(Term(imag(x), where));
}

// Singular values down to which those of a matrix count, as a column beside each row of them.
Term cutoff_of(const Term& values, double rtol) {
  return Term(anabranch::max(values, -1, keepdims), values.where()) * Term(rtol);
}

Array zeros_of(Dtype dtype, std::vector<std::int64_t> sizes, SourceLocation where) {
  return zeros(dtype, Sizes(std::move(sizes), where));
}

// The sizes of x's batch, and `more` axes after it.
std::vector<std::int64_t> batch_and(const Array& x, std::initializer_list<std::int64_t> more) {
  const Shape& shape = type_of(x).shape;
  std::vector<std::int64_t> sizes(shape.begin(), shape.end() - 2);
  sizes.insert(sizes.end(), more);
  return sizes;
}

Term product(const Term& a, const Term& b) { return {anabranch::matmul(a, b), a.where()}; }
Term adjoint_of(const Term& a) { return {adjoint(a, a.where()), a.where()}; }

// A^+ of a matrix that has singular values; those that do not count are taken for 0.
struct PseudoInverse {
  Term s, u, vh;
  Term inverses;  // of s, or 0, as a column

  PseudoInverse(const Array& a, double rtol, SourceLocation where)
      : PseudoInverse(factors_of(Op::svd, {a}, where, SvdAttributes{true, false}), rtol, where) {}

  Term whole() const {  // rows times V have a factor for each column
    const Term factors(anabranch::matrix_transpose(inverses), u.where());
    return product(adjoint_of(vh) * factors, adjoint_of(u));
  }
  Term times(const Term& y) const {
    return product(adjoint_of(vh), inverses * product(adjoint_of(u), y));
  }
  Term adjoint_times(const Term& y) const { return product(u, inverses * product(vh, y)); }

  // That of X = A^+ B where no singular value begins to count:
  //
  //   dX = A^+ (dB - dA X) + A^+ A^+^H dA^H (B - A X) + (I - A^+ A) dA^H A^+^H X
  //
  // (Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
  // problems whose variables separate", 1973, section 4.) It divides by no difference of singular
  // values, as derivatives of U and V do.
  Term change_of_solution(const Term& a, const Term& b, const Term& x, const Term& da,
                          const Term& db) const {
    const Term turned = adjoint_of(da), pulled = product(turned, adjoint_times(x));
    const Term rest = product(turned, b - product(a, x));
    return times(db - product(da, x) + adjoint_times(rest) - product(a, pulled)) + pulled;
  }
  // The same of A^+ itself, in products no larger than A^+ where A has no more columns than rows.
  Term change(const Term& a, const Term& x, const Term& da) const {
    const Term turned = adjoint_of(da), pulled = product(turned, adjoint_of(x));
    const Term within = pulled - product(product(x, a), pulled) - product(x, da);
    const Term rest = turned - product(product(turned, a), x);
    return product(within, x) + product(product(x, adjoint_of(x)), rest);
  }
  // That of the singular values.
  Term change_of_values(const Term& da) const {
    const Term both = Term(conj(u), u.where()) * product(da, adjoint_of(vh));
    const Array sum = anabranch::sum(both, -2);
    return {real({sum, u.where()}), u.where()};
  }

 private:
  PseudoInverse(const std::vector<Array>& parts, double rtol, SourceLocation where)
      : s(parts[0], where), u(parts[1], where), vh(parts[2], where), inverses(s) {
    const Term found = anabranch::where(s <= cutoff_of(s, rtol), Term(0), Term(1) / s);
    inverses = Term(expand_dims(found, -1), where);
  }
};

// Of matrices that have no more columns than rows.
Array pseudo_inverse(const Array& matrix, double rtol, SourceLocation where) {
  const auto found = [=](const Array& a) { return PseudoInverse(a, rtol, where).whole().array(); };
  const auto rule = [=](const std::tuple<Array>& matrices, const std::tuple<Array>& changes) {
    const Term a(std::get<0>(matrices), where), da(std::get<0>(changes), where);
    const PseudoInverse inverse(a, rtol, where);
    const Term x = inverse.whole();
    return std::pair(x.array(), inverse.change(a, x, da).array());
  };
  return detail::CustomJvp(found, rule, where)(matrix);
}

// X, and the singular values of A.
using Solution = std::tuple<Array, Array>;
Solution least_squares(const Array& matrix, const Array& right, double rtol, SourceLocation where) {
  const auto found = [=](const Array& a, const Array& b) {
    const PseudoInverse inverse(a, rtol, where);
    return Solution(inverse.times({b, where}), inverse.s);
  };
  using Pair = std::tuple<Array, Array>;
  const auto rule = [=](const Pair& given, const Pair& changes) {
    const Term a(std::get<0>(given), where), b(std::get<1>(given), where);
    const Term da(std::get<0>(changes), where), db(std::get<1>(changes), where);
    const PseudoInverse inverse(a, rtol, where);
    const Term x = inverse.times(b);
    return std::pair(Solution(x, inverse.s), Solution(inverse.change_of_solution(a, b, x, da, db),
                                                      inverse.change_of_values(da)));
  };
  return detail::CustomJvp(found, rule, where)(matrix, right);
}

}  // namespace

Array pinv(const Operand& x, double rtol) {
  const MatrixOperand a = matrix_operand("pinv", x);
  const SourceLocation where = a.where();
  if (a.least() == 0) {
    return zeros_of(type_of(a.given).dtype, batch_and(a.given, {a.columns(), a.rows()}), where);
  }
  rtol = rtol_or_default("pinv", rtol, a, type_of(a.given).dtype);
  if (a.rows() >= a.columns()) return a.rounded(pseudo_inverse(a.matrix, rtol, where));
  const Array turned = pseudo_inverse(adjoint(a.matrix, where), rtol, where);
  return a.rounded(adjoint(turned, where));
}

LstsqResult lstsq(const Operand& given_a, const Operand& given_b, double rtol) {
  const System system = system_of("lstsq", given_a, given_b, true);
  const SourceLocation where = given_a.where();
  const MatrixOperand a = matrix_operand("lstsq", {system.a, where});
  rtol = rtol_or_default("lstsq", rtol, a, type_of(system.given).dtype);
  const Term b(system.b, where);
  Term x(system.b, where), s(system.b, where);
  Array rank;
  if (a.least() == 0) {
    const Shape& right = type_of(system.b).shape;
    const Dtype dtype = type_of(system.a).dtype;
    x = Term(zeros_of(dtype, batch_and(system.b, {a.columns(), right[right.rank() - 1]}), where),
             where);
    s = Term(zeros_of(part_dtype(dtype), batch_and(system.a, {0}), where), where);
    rank = zeros_of(i64, batch_and(system.a, {}), where);
  } else {
    const auto& [solution, values] = least_squares(system.a, system.b, rtol, where);
    x = Term(solution, where);
    s = Term(values, where);
    rank = count_nonzero(s > cutoff_of(s, rtol), -1);
  }
  const Term left_over = Term(anabranch::matmul({system.a, where}, x), where) - b;
  Array residuals = anabranch::sum(squared_sizes(left_over), -2);
  if (system.is_vector) residuals = squeeze({residuals, where}, -1);
  return {system.result(x), rounded_as(system.given, {residuals, where}), rank,
          rounded_as(system.given, s)};
}

Array matrix_rank(const Operand& x, double rtol) {
  const MatrixOperand a = matrix_operand("matrix_rank", x);
  if (a.least() == 0) return zeros_of(i64, batch_and(a.given, {}), a.where());
  rtol = rtol_or_default("matrix_rank", rtol, a, type_of(a.given).dtype);
  const Term values(svdvals(a.matrix), a.where());
  return count_nonzero(values > cutoff_of(values, rtol), -1);
}

}  // namespace anabranch::linalg
