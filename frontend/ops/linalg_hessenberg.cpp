// Reductions by reflections from both sides: to a Hessenberg matrix, and of a Hermitian matrix to
// one of three diagonals.
#include <limits>

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/custom_rules.h"
#include "anabranch/dynamic.h"
#include "anabranch/linalg.h"
#include "frontend/array/expression.h"
#include "frontend/ops/lapack_entries.h"
#include "frontend/ops/linalg_matrix.h"
#include "frontend/trace/record.h"

namespace anabranch::linalg {
namespace {

std::int64_t rows_of(const Array& a) { return type_of(a).shape[type_of(a).rank() - 2]; }

// x, or NaN for each matrix of `a` that is not finite.
Term of_finite(const Term& x, const Array& a) {
  const Term are_finite = isfinite(Term(a, x.where()));
  const Term is_finite(all(are_finite, {-2, -1}, keepdims), x.where());
  return anabranch::where(is_finite, x, Term(std::numeric_limits<double>::quiet_NaN()));
}

// A reflection I - tau v v^H that takes (alpha, x) to (beta, 0), as LAPACK's larfg makes it; one of
// each for each matrix, v as a column.
struct Reflection {
  Term v, tau, beta;
};

// For the part of a column from row `first` on, which a scalar says. As in larfg, it is scaled by
// its greatest element, so that no square overflows, nor all underflow. The scale is constant to
// derivatives: the reflection does not depend on it.
Reflection reflection_of(const Term& given, const Term& rows, const Term& first) {
  const SourceLocation where = given.where();
  const Dtype dtype = type_of(given).dtype;
  const Term at = rows == first, below = rows > first;
  const Term re(real(given), where), im(imag(given), where), sizes = maximum(abs(re), abs(im));
  const auto greatest = [&](const Term& among) {
    return Term(max(anabranch::where(among, sizes, Term(0)), -2, keepdims), where);
  };
  const Term tail = greatest(below), whole = greatest(at | below);
  const Term not_zero = anabranch::where(whole == Term(0), Term(1), whole);
  const Term scale(detail::stop_gradients({not_zero}, where)[0], where), re_part = re / scale;
  const Term column = is_complex(dtype) ? Term(complex(re_part, im / scale), where) : re_part;
  const auto total = [&](const Term& x) { return Term(sum(x, -2, keepdims), where); };
  const Term alpha = total(anabranch::where(at, column, Term(0)));
  const Term x = anabranch::where(below, column, Term(0));
  const Term x_sizes = abs(x), alpha_real(real(alpha), where), alpha_size = abs(alpha);
  const Term squares = total(square(x_sizes));
  const Term is_done = (tail == Term(0)) & (Term(imag(alpha), where) == Term(0));
  const Term length = sqrt(squares + square(alpha_size));
  const Term reflected = anabranch::where(alpha_real < Term(0), length, -length);
  const Term beta = anabranch::where(is_done, alpha_real, reflected);
  const Term difference = converted(beta, dtype) - alpha;
  const Term divisor = anabranch::where(is_done, Term(1), beta);
  const Term tau = difference / converted(divisor, dtype);
  const Term unit(ones_like(alpha), where);
  const Term scaled = x / anabranch::where(is_done, unit, -difference);
  const Term one(ones_like(scaled), where);
  return {anabranch::where(at, one, scaled), tau, beta * scale};
}

// 0, 1, ... down a column or along a row.
Term positions(std::int64_t size, bool is_column, SourceLocation where) {
  const Operand line(arange(size, i64), where);
  return {expand_dims(line, is_column ? 1 : 0), where};
}

// LAPACK's gehd2: a matrix with its Hessenberg form, the reflections' vectors below, their factors.
std::vector<Array> hessenberg_packed(const Array& given, SourceLocation where) {
  const Term a = of_finite({given, where}, given);
  const std::int64_t size = rows_of(a);
  const std::span<const std::int64_t> sizes = type_of(a).shape.sizes();
  std::vector<std::int64_t> factor_sizes(sizes.begin(), sizes.end() - 1);
  factor_sizes.back() = std::max<std::int64_t>(size - 1, 0);
  const Array none = zeros(type_of(a).dtype, Sizes(factor_sizes, where));
  if (size < 2) return {a, none};
  const Term rows = positions(size, true, where), columns = positions(size, false, where);
  const Term places(arange(size - 1, i64), where);
  const auto step = [&](Array index, std::tuple<Array, Array> packed) {
    const Term k = converted(Term(index, where), i64);
    const Term whole(std::get<0>(packed), where);
    const Term column(dynamic_slice_in_dim(whole, k, 1, -1), where);
    const auto [v, tau, beta] = reflection_of(column, rows, k + Term(1));
    const Term row(adjoint(v, where), where);
    const Term turned = whole - tau * Term(anabranch::matmul(whole, v), where) * row;
    const Term change = Term(conj(tau), where) * v * Term(anabranch::matmul(row, turned), where);
    const Term both = anabranch::where(columns > k, turned - change, turned);
    const Term ends =
        anabranch::where(rows == k + Term(1), converted(beta, type_of(whole).dtype), column);
    const Term own = anabranch::where(rows > k + Term(1), v, ends);
    const Term tau_there(squeeze(tau, -1), where), taus(std::get<1>(packed), where);
    return std::tuple<Array, Array>(anabranch::where(columns == k, own, both),
                                    anabranch::where(places == k, tau_there, taus));
  };
  const auto [packed, taus] =
      fori_loop(0, size - 1, step, std::tuple<Array, Array>(a.array(), none));
  return {packed, taus};
}

// Both axes of each matrix the other way round.
Array turned_round(const Array& a, SourceLocation where) { return flip({a, where}, {-2, -1}); }

}  // namespace

HessenbergResult hessenberg(const Operand& x) {
  const MatrixOperand a = square_operand("hessenberg", x);
  const SourceLocation where = a.where();
  const std::int64_t size = a.rows();
  const std::vector<Array> parts = hessenberg_packed(a.matrix, where);
  const Array h = triu({parts[0], where}, -1);
  const auto unitary = [&](const Array& q) { return a.rounded(of_finite({q, where}, a.matrix)); };
  if (size < 2) return {a.rounded(h), unitary(ones_like(a.matrix))};
  const Array below = slice_in_dim({first_columns(parts[0], size - 1, where), where}, 1, size, -2);
  const Array small = record(Op::householder_product, {below, parts[1]}, where);
  std::vector<std::int64_t> low(static_cast<std::size_t>(type_of(small).rank()), 0);
  const std::vector<std::int64_t> high = low;
  low[low.size() - 2] = low.back() = 1;
  const Term padded(pad({small, where}, Sizes(low, where), Sizes(high, where)), where);
  const Term corner = (positions(size, true, where) + positions(size, false, where)) == Term(0);
  const Term one(ones_like(padded), where);
  return {a.rounded(h), unitary(anabranch::where(corner, one, padded))};
}

}  // namespace anabranch::linalg

namespace anabranch::lapack_entries {

std::vector<Array> gehrd(const Array& a, SourceLocation where) {
  std::vector<Array> results = linalg::hessenberg_packed(a, where);
  const std::span<const std::int64_t> sizes = type_of(a).shape.sizes();
  const std::vector<std::int64_t> batch(sizes.begin(), sizes.end() - 2);
  results.push_back(zeros(i32, Sizes(batch, where)));
  return results;
}

std::vector<Array> sytrd(const Array& a, bool lower, SourceLocation where) {
  const Term given(a, where);
  const Term beside(lower ? tril(given, -1) : triu(given, 1), where);
  const Term mirrored(linalg::adjoint(beside, where), where);
  const Term rows = linalg::positions(linalg::rows_of(a), true, where);
  const Term columns = linalg::positions(linalg::rows_of(a), false, where);
  const Term on_diagonal = converted(Term(real(given), where), type_of(a).dtype);
  Array whole = anabranch::where(rows == columns, on_diagonal, beside + mirrored);
  if (!lower) whole = linalg::turned_round(whole, where);
  std::vector<Array> parts = gehrd(whole, where);
  if (!lower) {
    parts[0] = linalg::turned_round(parts[0], where);
    parts[1] = flip({parts[1], where}, -1);
  }
  const Term reduced(parts[0], where);
  const auto diagonal = [&](std::int64_t offset) {
    const Array found = anabranch::diagonal(reduced, offset);
    return real({found, where});
  };
  const Term is_own = lower ? columns <= rows : columns >= rows;
  return {anabranch::where(is_own, reduced, given), diagonal(0), diagonal(lower ? -1 : 1), parts[1],
          parts[2]};
}

}  // namespace anabranch::lapack_entries
