// Systems of equations, and what is computed by solving them.
#include <cmath>
#include <optional>
#include <utility>

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/custom_rules.h"
#include "anabranch/dtype_info.h"
#include "anabranch/gather.h"
#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/linalg_matrix.h"

namespace anabranch::linalg {
namespace {

// X with A X = B from A's packed factors and the rows of B in A's order.
Array solution_of_permuted(const Array& factors, const Array& right, SourceLocation where) {
  const Array y = triangular_solution(factors, right, where, {true, true, true});
  return triangular_solution(factors, y, where, {true, false, false});
}

// X with A X = B; the batches broadcast.
Array solution_of(const char* function, const Array& packed, const Array& permutation,
                  const Array& b, SourceLocation where) {
  const auto [factors, right] = with_one_batch(function, packed, b, where);
  const Shape& shape = type_of(factors).shape;
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes.back() = 1;
  const Array column = expand_dims({permutation, where}, -1);
  const Array order = broadcast_to_shape(function, column, Shape(sizes), where);
  const Array permuted = take_along_axis({right, where}, {order, where}, -2, OutOfRange::clip);
  return solution_of_permuted(factors, permuted, where);
}

// The transpose that a triangle stands for.
Transpose transpose_of(const TriangularOptions& options) {
  if (options.adjoint) return Transpose::adjoint;
  return options.transpose ? Transpose::transpose : Transpose::no;
}

// 1, or -1 for an odd number of exchanged rows.
Term parity(const Array& pivots, Dtype dtype, SourceLocation where) {
  const Shape& shape = type_of(pivots).shape;
  const Term own(arange(shape[shape.rank() - 1], i32), where);
  const Term exchanged(count_nonzero(Term(pivots, where) != own, -1), where);
  const Term odd = converted(Term(exchanged & Term(std::int64_t{1})), dtype);
  return Term(1) - Term(2) * odd;
}

Array identity_like(const Array& x, SourceLocation where) {
  const Shape& shape = type_of(x).shape;
  const Term one = converted({eye(shape[shape.rank() - 1]), where}, type_of(x).dtype);
  return broadcast_to_shape("eye", one, shape, where);
}

Array inverse_of(const Array& a, SourceLocation where) {
  const Shape& shape = type_of(a).shape;
  const std::vector<Array> parts = factors_of(Op::lu, {a}, where);
  const Array right = selection(parts[2], shape[shape.rank() - 1], type_of(a).dtype, where);
  return solution_of_permuted(parts[0], right, where);
}

// The rules of `solve` and `inv` use the factors that there are, where the derivative of those
// would solve for a whole matrix (Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation", 2008, section 2.2).
//
// A dX = dB - dA X.
std::pair<Array, Array> solution_and_tangent(const Array& a, const Array& b, const Array& da,
                                             const Array& db, SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::lu, {a}, where);
  const Array x = solution_of("solve", parts[0], parts[2], b, where);
  const Term change = Term(db, where) - Term(anabranch::matmul({da, where}, {x, where}), where);
  return {x, solution_of("solve", parts[0], parts[2], change, where)};
}

// d(A^-1) = -A^-1 dA A^-1.
std::pair<Array, Array> inverse_and_tangent(const Array& a, const Array& da, SourceLocation where) {
  const Term x(inverse_of(a, where), where);
  const Term changed(anabranch::matmul(x, Term(da, where)), where);
  return {x, -Term(anabranch::matmul(changed, x), where)};
}

Array differentiable_inverse_of(const Array& a, SourceLocation where) {
  const auto found = [where](const Array& x) { return inverse_of(x, where); };
  const auto rule = [where](const std::tuple<Array>& x, const std::tuple<Array>& dx) {
    return inverse_and_tangent(std::get<0>(x), std::get<0>(dx), where);
  };
  return detail::CustomJvp(found, rule, where)(a);
}

// The product of the diagonal of U, which is the determinant but for the sign of P.
Term pivot_product(const Array& packed, SourceLocation where) {
  return {prod({anabranch::diagonal({packed, where}), where}, -1), where};
}

// Packed factors with something small for each zero on U's diagonal: what has a limit where that
// goes to zero is computed right to rounding. The product of the diagonal is `product` times the
// square of `root`, either of which is in range where one number for all of it is not.
struct WithoutZeroPivots {
  Array packed;
  Term product, root;  // root: with two axes of size 1 in place of the matrix
};

WithoutZeroPivots without_zero_pivots(const Array& packed, SourceLocation where) {
  const Dtype dtype = type_of(packed).dtype, real = part_dtype(dtype);
  const FloatInfo info = finfo(real);
  const Term factors(packed, where);
  const Term sizes(abs(Operand(detail::stop_gradients({packed}, where)[0], where)), where);
  const Shape& shape = type_of(packed).shape;
  const Term is_pivot(eye(shape[shape.rank() - 1], Dtype::bool_), where);
  const Term is_zero = is_pivot & (factors == Term(0));
  const auto greatest = [&](const Term& x) {
    return Term(anabranch::max(x, {-2, -1}, keepdims), where);
  };
  const Term pivot = greatest(anabranch::where(is_pivot, sizes, Term(0)));
  const Term element = greatest(sizes);
  const Term unit = anabranch::where(pivot > Term(0), pivot,
                                     anabranch::where(element > Term(0), element, Term(1)));
  // A zero becomes 2^-2h of that, from eps to its square, as far as `root` has room for.
  const Term zeros = sum_in_own_dtype(converted(is_zero, real), {-2, -1}, keepdims);
  const double digits = -std::log2(info.eps), room = -0.8 * std::log2(info.smallest_normal);
  const Term h(clip(Term(room) / maximum(zeros, Term(1)), digits / 2, digits), where);
  const auto filled = [&](const Term& x) {
    return anabranch::where(is_zero, converted(x, dtype), factors);
  };
  const Term small(exp2(-(h + h)), where);
  return {filled(unit * small), pivot_product(filled(unit), where),
          converted({exp2(-(h * zeros)), where}, dtype)};
}

Array determinant_of(const std::vector<Array>& parts, SourceLocation where) {
  return parity(parts[1], type_of(parts[0]).dtype, where) * pivot_product(parts[0], where);
}

Term trace_of_solution(const Array& packed, const Array& permutation, const Array& da,
                       SourceLocation where) {
  const Array solution = solution_of("det", packed, permutation, da, where);
  return {trace({solution, where}), where};
}

// The cofactors of up to three rows, as polynomials: these have derivatives of any order.
Term cofactors_of(const Term& a, std::int64_t size, SourceLocation where) {
  const auto moved = [&](std::int64_t rows, std::int64_t columns) {
    return Term(roll(Operand(roll(a, -rows, -2), where), -columns, -1), where);
  };
  if (size == 1) return {ones_like(a), where};
  if (size == 3) return moved(1, 1) * moved(2, 2) - moved(1, 2) * moved(2, 1);
  const Term one = converted({eye(size), where}, type_of(a).dtype);
  return moved(1, 1) * (one + one - Term(1));
}

// Jacobi's formula: tr(adj(A) dA), where the adjugate is det(A) A^-1, and finite where A has no
// inverse (Magnus and Neudecker, "Matrix Differential Calculus", section 8.3).
std::pair<Array, Array> determinant_and_tangent(const Array& a, const Array& da,
                                                SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::lu, {a}, where);
  const std::int64_t size = type_of(a).shape[type_of(a).rank() - 1];
  if (size <= 3) {
    const Term matrix(a, where), cofactors = cofactors_of(matrix, size, where);
    const auto total = [&](const Term& x) { return Term(anabranch::sum(x, {-2, -1}), where); };
    const auto constant = [&](const Term& x) {
      return Term(detail::stop_gradients({x}, where)[0], where);
    };
    // The factors' product is the more accurate value, the expansion along a row has derivatives.
    const Term value = constant({determinant_of(parts, where), where});
    const Term expansion = total({first_rows(matrix * cofactors, 1, where), where});
    const Term zero =
        anabranch::where(isfinite(expansion), expansion - constant(expansion), Term(0));
    return {value + zero, total(cofactors * Term(da, where))};
  }
  const WithoutZeroPivots u = without_zero_pivots(parts[0], where);
  const Term change = u.root * Term(da, where);
  const Term scale = parity(parts[1], type_of(a).dtype, where) * u.product *
                     Term(squeeze(u.root, {-2, -1}), where);
  return {determinant_of(parts, where),
          scale * trace_of_solution(u.packed, parts[2], change, where)};
}

// Sign and logarithm of the absolute value.
using Slogdet = std::pair<Array, Array>;

Slogdet slogdet_of(const std::vector<Array>& parts, SourceLocation where) {
  const Term on_diagonal(anabranch::diagonal({parts[0], where}), where);
  const Term signs(prod({anabranch::sign(on_diagonal), where}, -1), where);
  return {parity(parts[1], type_of(parts[0]).dtype, where) * signs,
          anabranch::sum(log(abs(on_diagonal)), -1)};
}

// d log det(A) = tr(A^-1 dA): its real part changes the logarithm, its imaginary part turns the
// sign.
std::pair<Slogdet, Slogdet> slogdet_and_tangent(const Array& a, const Array& da,
                                                SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::lu, {a}, where);
  const Slogdet value = slogdet_of(parts, where);
  const Term change = trace_of_solution(parts[0], parts[2], da, where);
  const Term sign(value.first, where);
  if (!is_complex(type_of(a).dtype)) return {value, {sign * Term(0), change}};
  const Term real_part(anabranch::real(change), where);
  const Term turn = change - converted(real_part, type_of(a).dtype);
  return {value, {sign * turn, real_part}};
}

}  // namespace

Array solve(const Operand& a, const Operand& b) {
  const System system = system_of("solve", a, b);
  const SourceLocation where = a.where();
  const auto found = [where](const Array& matrix, const Array& right) {
    const std::vector<Array> parts = factors_of(Op::lu, {matrix}, where);
    return solution_of("solve", parts[0], parts[2], right, where);
  };
  using Pair = std::tuple<Array, Array>;
  const auto rule = [where](const Pair& given, const Pair& changes) {
    return solution_and_tangent(std::get<0>(given), std::get<1>(given), std::get<0>(changes),
                                std::get<1>(changes), where);
  };
  return system.result(detail::CustomJvp(found, rule, where)(system.a, system.b));
}

Array lu_solve(const LuFactors& factors, const Operand& b) {
  const SourceLocation where = b.where();
  const System system = system_of("lu_solve", {factors.lu, where}, b);
  return system.result(solution_of("lu_solve", system.a, factors.permutation, system.b, where));
}

Array solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options) {
  const System system = system_of("solve_triangular", a, b);
  const auto [left, right] = with_one_batch("solve_triangular", system.a, system.b, a.where());
  return system.result(triangular_solution(
      left, right, a.where(), {true, options.lower, options.unit_diagonal, transpose_of(options)}));
}

Array cho_solve(const Operand& factor, const Operand& b, bool upper) {
  const System system = system_of("cho_solve", factor, b);
  const SourceLocation where = factor.where();
  const auto [left, right] = with_one_batch("cho_solve", system.a, system.b, where);
  const Transpose turned = Transpose::adjoint, same = Transpose::no;
  const Array y =
      triangular_solution(left, right, where, {true, !upper, false, upper ? turned : same});
  return system.result(
      triangular_solution(left, y, where, {true, !upper, false, upper ? same : turned}));
}

Array tridiagonal_solve(const Operand& dl, const Operand& d, const Operand& du, const Operand& b) {
  const SourceLocation where = d.where();
  const std::vector<Array> given =
      promote("tridiagonal_solve", {&dl, &d, &du, &b}, Takes::floats_or_complex);
  const Term last(given[3], where);
  Array right = widened(last);
  std::vector<Array> columns;
  const auto refuse = [&](const std::string& what) {
    fail("tridiagonal_solve: " + what + ": " + to_string(type_of(given[0])) + ", " +
             to_string(type_of(given[1])) + ", " + to_string(type_of(given[2])) + " x " +
             to_string(type_of(last)),
         where);
  };
  const Shape& sizes = type_of(right).shape;
  if (sizes.rank() < 2) refuse("the right side is no matrix; expand_dims it first");
  for (std::size_t i = 0; i < 3; ++i) {
    const Shape& shape = type_of(given[i]).shape;
    if (shape.rank() == 0 || shape[shape.rank() - 1] != sizes[sizes.rank() - 2]) {
      refuse("a diagonal has an element for each row of the right side");
    }
    const Term diagonal = widened(Term(given[i], where));
    columns.push_back(expand_dims(diagonal, -1));
    right = with_one_batch("tridiagonal_solve", columns.back(), right, where).second;
  }
  for (Array& column : columns) {
    column = with_one_batch("tridiagonal_solve", column, right, where).first;
    column = squeeze({column, where}, -1);
  }
  columns.push_back(right);
  return rounded_as(last, {factors_of(Op::tridiagonal_solve, columns, where)[0], where});
}

Array inv(const Operand& x) {
  const MatrixOperand a = square_operand("inv", x);
  return a.rounded(differentiable_inverse_of(a.matrix, a.where()));
}

Array det(const Operand& x) {
  const MatrixOperand a = square_operand("det", x);
  const SourceLocation where = a.where();
  const auto found = [where](const Array& matrix) {
    return determinant_of(factors_of(Op::lu, {matrix}, where), where);
  };
  const auto rule = [where](const std::tuple<Array>& given, const std::tuple<Array>& change) {
    return determinant_and_tangent(std::get<0>(given), std::get<0>(change), where);
  };
  if (a.rows() == 0) return a.rounded(found(a.matrix));
  return a.rounded(detail::CustomJvp(found, rule, where)(a.matrix.array()));
}

SlogdetResult slogdet(const Operand& x) {
  const MatrixOperand a = square_operand("slogdet", x);
  const SourceLocation where = a.where();
  const auto found = [where](const Array& matrix) {
    return slogdet_of(factors_of(Op::lu, {matrix}, where), where);
  };
  const auto rule = [where](const std::tuple<Array>& given, const std::tuple<Array>& change) {
    return slogdet_and_tangent(std::get<0>(given), std::get<0>(change), where);
  };
  const auto [sign, logabsdet] = detail::CustomJvp(found, rule, where)(a.matrix.array());
  return {a.rounded(sign), a.rounded(logabsdet)};
}

Array matrix_power(const Operand& x, std::int64_t power) {
  const MatrixOperand a = square_operand("matrix_power", x);
  const SourceLocation where = a.where();
  Array square = power < 0 ? differentiable_inverse_of(a.matrix, where) : a.matrix.array();
  // The magnitude of the least integer has no sign of its own.
  std::uint64_t left =
      power < 0 ? -static_cast<std::uint64_t>(power) : static_cast<std::uint64_t>(power);
  if (left == 0) return a.rounded(identity_like(a.matrix, where));
  std::optional<Array> result;
  for (; left > 0; left /= 2) {
    if (left % 2 == 1) {
      result = result ? anabranch::matmul({*result, where}, {square, where}) : square;
    }
    if (left > 1) square = anabranch::matmul({square, where}, {square, where});
  }
  return a.rounded(*result);
}

// Higham's algorithm 2.3 with the coefficients b_0 to b_13 of its order 13.
Array expm(const Operand& x) {
  const MatrixOperand given = square_operand("expm", x);
  const SourceLocation where = given.where();
  if (type_of(given.given).size() == 0) return given.given;
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  constexpr double greatest_norm = 5.371920351148152;
  const auto times = [&](const Term& p, const Term& q) {
    return Term(anabranch::matmul(p, q), where);
  };
  const Term size(matrix_norm(given.matrix, 1.0, keepdims), where);
  const Term is_finite = isfinite(size);  // else there is nothing to square: the result is NaN
  const Term wanted(clip(ceil(Term(log2(size / Term(greatest_norm)), where)), 0.0, 1100.0), where);
  const Term squarings = anabranch::where(is_finite, wanted, Term(0));
  const Term finite = anabranch::where(is_finite, given.matrix, Term(std::nan("")));
  const Term a = finite * Term(exp2(-squarings), where);
  const Term one(identity_like(given.matrix, where), where);
  // Scaled by b[0], so that f32 can hold what comes of them.
  const auto part = [&](const Term& power, int i) { return power * Term(b[i] / b[0]); };
  const Term a2 = times(a, a), a4 = times(a2, a2), a6 = times(a4, a2);
  const Term u = times(a, times(a6, part(a6, 13) + part(a4, 11) + part(a2, 9)) + part(a6, 7) +
                              part(a4, 5) + part(a2, 3) + part(one, 1));
  const Term v = times(a6, part(a6, 12) + part(a4, 10) + part(a2, 8)) + part(a6, 6) + part(a4, 4) +
                 part(a2, 2) + part(one, 0);
  const Array approximant = solve({v - u, where}, {v + u, where});
  const Term last = converted(Term(anabranch::max(squarings), where), i32);
  const auto square_one = [&](Array turn, Array power) {
    const Term squared(anabranch::matmul({power, where}, {power, where}), where);
    const Term still = converted(Term(turn, where), type_of(squarings).dtype) < squarings;
    return anabranch::where(still, squared, Term(power, where)).array();
  };
  return given.rounded(fori_loop(0, last, square_one, approximant));
}

}  // namespace anabranch::linalg
