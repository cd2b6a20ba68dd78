#include "frontend/ops/lapack_entries.h"

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/creation.h"
#include "anabranch/elementwise.h"
#include "anabranch/linear_algebra.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/ops/linalg_matrix.h"
#include "frontend/trace/record.h"

namespace anabranch::lapack_entries {
namespace {

using linalg::factors_of;

// The sizes of a batch of matrices, and `more` axes after them.
Sizes batch_and(const Array& a, std::initializer_list<std::int64_t> more, SourceLocation where) {
  const Shape& shape = type_of(a).shape;
  std::vector<std::int64_t> sizes(shape.begin(), shape.end() - 2);
  sizes.insert(sizes.end(), more);
  return Sizes(std::move(sizes), where);
}

Array no_info(const Array& a, SourceLocation where) { return zeros(i32, batch_and(a, {}, where)); }

// 1 where a factor of NaN says that there is none; the axes are those of one matrix's factor.
Array info_of(const Array& factor, int axes, SourceLocation where) {
  const Array is_nan = isnan(Operand(factor, where));
  const Axes last = axes == 1 ? Axes{-1} : Axes{-2, -1};
  return astype({any({is_nan, where}, last), where}, i32);
}

// 0 before and after the elements along the last axis.
Term padded(const Term& x, std::int64_t before, std::int64_t after) {
  std::vector<std::int64_t> low(static_cast<std::size_t>(type_of(x).rank())), high = low;
  low.back() = before, high.back() = after;
  return {pad(x, Sizes(low, x.where()), Sizes(high, x.where())), x.where()};
}

std::int64_t size_from_last(const Array& x, int from_last) {
  const Shape& shape = type_of(x).shape;
  return shape[shape.rank() - from_last];
}

}  // namespace

std::vector<Array> potrf(const Array& a, bool lower, SourceLocation where) {
  const Array factor = record(Op::cholesky, {a}, where, TriangleAttributes{lower});
  const Array info = info_of(factor, 2, where);
  const Array other = lower ? triu({a, where}, 1) : tril({a, where}, -1);
  const Sizes sizes = batch_and(a, {size_from_last(a, 2), size_from_last(a, 1)}, where);
  const Operand all(ones(bool_, sizes), where);
  const Array inside = lower ? tril(all) : triu(all);
  return {anabranch::where(Term(inside, where), Term(factor, where), Term(other, where)), info};
}

std::vector<Array> getrf(const Array& a, SourceLocation where) {
  std::vector<Array> parts = lu_decomposition(a, where);
  parts[1] = add({parts[1], where}, 1);
  const Array on_diagonal = anabranch::diagonal({parts[0], where});
  const std::int64_t rank = size_from_last(on_diagonal, 1);
  if (rank == 0) {
    parts[2] = no_info(a, where);
    return parts;
  }
  const Term is_zero(equal({on_diagonal, where}, 0.0), where);
  const Term first(astype({argmax(converted(is_zero, i32), -1), where}, i32), where);
  const Term some(any(is_zero, -1), where);
  parts[2] = anabranch::where(some, first + Term(1), Term(0));
  return parts;
}

std::vector<Array> trsm(const Array& a, const Array& b, const TriangularSolveAttributes& how,
                        SourceLocation where) {
  return {linalg::triangular_solution(a, b, where, how)};
}

std::vector<Array> geqrf(const Array& a, SourceLocation where) {
  std::vector<Array> parts = factors_of(Op::qr, {a}, where);
  parts.push_back(no_info(a, where));
  return parts;
}

std::vector<Array> geqp3(const Array& a, const Array& pivots, SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::qr_pivoted, {a, pivots}, where);
  return {parts[0], add({parts[2], where}, 1), parts[1]};
}

std::vector<Array> orgqr(const Array& a, const Array& taus, SourceLocation where) {
  return {record(Op::householder_product, {a, taus}, where), no_info(a, where)};
}

// Q has a column for each row of the reflectors, be there reflectors for all of them or not.
std::vector<Array> ormqr(const Array& a, const Array& taus, const Array& c, bool left, bool adjoint,
                         SourceLocation where) {
  const std::int64_t rows = size_from_last(a, 2), missing = rows - size_from_last(a, 1);
  const Array reflectors =
      missing > 0 ? padded({a, where}, 0, missing).array() : linalg::first_columns(a, rows, where);
  Array q = record(Op::householder_product, {reflectors, taus}, where);
  if (adjoint) q = linalg::adjoint(q, where);
  const Operand x(c, where), by(q, where);
  return {left ? matmul(by, x) : matmul(x, by)};
}

std::vector<Array> gesdd(const Array& a, SvdMode mode, SourceLocation where, bool full) {
  if (mode == SvdMode::none) {
    const std::int64_t rows = size_from_last(a, 2), columns = size_from_last(a, 1);
    const std::int64_t least = std::min(rows, columns);
    const Array values = record(Op::svd, {a}, where, SvdAttributes{});
    const Dtype dtype = type_of(a).dtype;
    return {a, values, zeros(dtype, batch_and(a, {rows, full ? rows : least}, where)),
            zeros(dtype, batch_and(a, {full ? columns : least, columns}, where)),
            info_of(values, 1, where)};
  }
  const std::vector<Array> parts =
      factors_of(Op::svd, {a}, where, SvdAttributes{true, mode == SvdMode::all});
  return {a, parts[0], parts[1], parts[2], info_of(parts[0], 1, where)};
}

std::vector<Array> syevd(const Array& a, bool lower, bool vectors, SourceLocation where) {
  if (!vectors) {
    const Array values = record(Op::eigh, {a}, where, EighAttributes{false, lower});
    return {a, values, info_of(values, 1, where)};
  }
  const std::vector<Array> parts = factors_of(Op::eigh, {a}, where, EighAttributes{true, lower});
  return {parts[1], parts[0], info_of(parts[0], 1, where)};
}

std::vector<Array> geev(const Array& a, bool left, bool right, SourceLocation where) {
  const std::vector<Array> parts = factors_of(Op::eig, {a}, where, EigAttributes{left, right});
  const Operand values(parts[0], where);
  std::vector<Array> results = {parts[0]};
  if (!is_complex(type_of(a).dtype)) results = {real(values), imag(values)};
  const std::int64_t size = size_from_last(a, 1);
  std::size_t next = 1;
  for (const bool wanted : {left, right}) {
    results.push_back(wanted ? parts[next++]
                             : zeros(type_of(parts[0]).dtype, batch_and(a, {size, size}, where)));
  }
  results.push_back(info_of(parts[0], 1, where));
  return results;
}

std::vector<Array> gees(const Array& a, bool vectors, SourceLocation where) {
  std::vector<Array> results = factors_of(Op::schur, {a}, where, SchurAttributes{vectors});
  const Array form = results[0];
  if (!vectors) results.push_back(zeros_like({a, where}));
  const Array values = anabranch::diagonal({form, where});
  results.push_back(values);
  if (!is_complex(type_of(a).dtype)) {
    // Of a block (a, c; d, a): the roots of c d, of which one is for each of its rows.
    const auto beside = [&](std::int64_t offset) {
      const Array found = anabranch::diagonal({form, where}, offset);
      return sqrt(abs(Term(found, where)));
    };
    Array imaginary = zeros_like({values, where});
    if (size_from_last(a, 1) > 1) {
      const Term root = beside(1) * beside(-1);
      imaginary = padded(root, 0, 1) - padded(root, 1, 0);
    }
    results.push_back(imaginary);
  }
  results.push_back(no_info(a, where));
  results.push_back(info_of(form, 2, where));
  return results;
}

std::vector<Array> gtsv(const std::vector<Array>& operands, SourceLocation where) {
  std::vector<Array> results(operands.begin(), operands.begin() + 3);
  const Array x = record(Op::tridiagonal_solve, operands, where);
  results.push_back(x);
  results.push_back(info_of(x, 2, where));
  return results;
}

std::vector<Array> lu_decomposition(const Array& a, SourceLocation where) {
  return factors_of(Op::lu, {a}, where);
}

}  // namespace anabranch::lapack_entries
