#include "frontend/ops/linalg_matrix.h"

#include <algorithm>

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/linalg.h"
#include "anabranch/nn.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch::linalg {
namespace {

std::int64_t size_from_last(const Array& x, int from_last) {
  const Shape& shape = type_of(x).shape;
  return shape[shape.rank() - from_last];
}

void demand_matrix(const char* function, const Array& x, bool is_square, SourceLocation where) {
  const Type& type = type_of(x);
  if (type.rank() < 2) {
    fail(std::string(function) + ": takes matrices, of at least two axes: " + to_string(type) +
             "; reshape or expand_dims it first",
         where);
  }
  if (is_square && size_from_last(x, 1) != size_from_last(x, 2)) {
    fail(std::string(function) + ": takes square matrices: " + to_string(type) + " (" +
             std::to_string(size_from_last(x, 2)) + " rows and " +
             std::to_string(size_from_last(x, 1)) + " columns)",
         where);
  }
}

std::vector<std::int64_t> sizes_of_batch(const Array& x) {
  const Shape& shape = type_of(x).shape;
  return {shape.begin(), shape.end() - 2};
}

// The batch that both broadcast to.
std::vector<std::int64_t> common_batch(const char* function, const Array& a, const Array& b,
                                       SourceLocation where) {
  std::vector<std::int64_t> left = sizes_of_batch(a), right = sizes_of_batch(b);
  const std::size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (left[i] != right[i] && left[i] != 1 && right[i] != 1) {
      fail(std::string(function) + ": batch sizes differ: " + to_string(type_of(a)) + " x " +
               to_string(type_of(b)) + " (" + std::to_string(left[i]) + " against " +
               std::to_string(right[i]) + ")",
           where);
    }
    if (left[i] == 1) left[i] = right[i];
  }
  return left;
}

}  // namespace

std::int64_t MatrixOperand::rows() const { return size_from_last(matrix, 2); }
std::int64_t MatrixOperand::columns() const { return size_from_last(matrix, 1); }

MatrixOperand matrix_operand(const char* function, const Operand& x) {
  const Term given = term(function, x, Takes::floats_or_complex);
  demand_matrix(function, given, false, x.where());
  return {given, widened(given)};
}

MatrixOperand square_operand(const char* function, const Operand& x) {
  const Term given = term(function, x, Takes::floats_or_complex);
  demand_matrix(function, given, true, x.where());
  return {given, widened(given)};
}

std::vector<Array> factors_of(Op op, const std::vector<Array>& operands, SourceLocation where,
                              Attributes attributes) {
  return record_all(op, operands, where, std::move(attributes));
}

Array triangular_solution(const Array& a, const Array& b, SourceLocation where,
                          TriangularSolveAttributes how) {
  return record(Op::triangular_solve, {a, b}, where, how);
}

Array adjoint(const Array& x, SourceLocation where) {
  return conj({anabranch::matrix_transpose({x, where}), where});
}

Array first_rows(const Array& x, std::int64_t count, SourceLocation where) {
  return slice_in_dim({x, where}, 0, count, -2);
}
Array first_columns(const Array& x, std::int64_t count, SourceLocation where) {
  return slice_in_dim({x, where}, 0, count, -1);
}

Array selection(const Array& rows, std::int64_t size, Dtype dtype, SourceLocation where) {
  return one_hot({rows, where}, size, dtype);
}

std::pair<Array, Array> with_one_batch(const char* function, const Array& a, const Array& b,
                                       SourceLocation where) {
  const std::vector<std::int64_t> batch = common_batch(function, a, b, where);
  const auto repeated = [&](const Array& x) {
    std::vector<std::int64_t> sizes = batch;
    sizes.insert(sizes.end(), {size_from_last(x, 2), size_from_last(x, 1)});
    return broadcast_to_shape(function, x, Shape(std::move(sizes)), where);
  };
  return {repeated(a), repeated(b)};
}

Array System::result(const Array& solution) const {
  const SourceLocation where = given.where();
  return rounded_as(given, {is_vector ? squeeze({solution, where}, -1) : solution, where});
}

System system_of(const char* function, const Operand& a, const Operand& b, bool any_shape) {
  const SourceLocation where = a.where();
  const std::vector<Array> both = promote(function, {&a, &b}, Takes::floats_or_complex);
  demand_matrix(function, both[0], !any_shape, where);
  if (type_of(both[1]).rank() == 0) {
    fail(std::string(function) + ": the right side is a number: " + to_string(type_of(both[0])) +
             " x " + to_string(type_of(both[1])) + "; give a vector or a matrix",
         where);
  }
  System system{{both[1], where}, widened({both[0], where}), widened({both[1], where})};
  system.is_vector = type_of(both[1]).rank() == 1;
  if (system.is_vector) system.b = expand_dims({system.b, where}, 1);
  if (size_from_last(system.a, 2) != size_from_last(system.b, 2)) {
    fail(std::string(function) + ": heights differ: " + to_string(type_of(both[0])) + " x " +
             to_string(type_of(both[1])) + " (" + std::to_string(size_from_last(system.a, 2)) +
             " rows against " + std::to_string(size_from_last(system.b, 2)) + ")",
         where);
  }
  common_batch(function, system.a, system.b, where);
  return system;
}

}  // namespace anabranch::linalg
