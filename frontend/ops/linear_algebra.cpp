#include "anabranch/linear_algebra.h"

#include <algorithm>
#include <numeric>

#include "anabranch/complex.h"
#include "anabranch/elementwise.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

[[noreturn]] void refuse(const char* function, const Array& a, const Array& b,
                         const std::string& what, SourceLocation where) {
  fail(std::string(function) + ": " + what + ": " + to_string(type_of(a)) + " x " +
           to_string(type_of(b)),
       where);
}

void check_inner(const char* function, const Array& a, std::int64_t a_axis, const Array& b,
                 std::int64_t b_axis, SourceLocation where) {
  std::int64_t left = type_of(a).shape[static_cast<int>(a_axis)];
  std::int64_t right = type_of(b).shape[static_cast<int>(b_axis)];
  if (left == right) return;
  fail(std::string(function) + ": inner sizes differ: " + to_string(type_of(a)) + " x " +
           to_string(type_of(b)) + " (" + std::to_string(left) + " against " +
           std::to_string(right) + ")",
       where);
}

// The first `rank - 2` sizes.
std::vector<std::int64_t> batch_of(const Type& type) {
  auto sizes = type.shape.sizes();
  return {sizes.begin(), sizes.end() - 2};
}

Array with_batch(const Array& array, const std::vector<std::int64_t>& batch, SourceLocation where) {
  std::vector<std::int64_t> sizes = batch;
  auto own = type_of(array).shape.sizes();
  sizes.insert(sizes.end(), own.end() - 2, own.end());
  return broadcast_to_shape("matmul", array, Shape(std::move(sizes)), where);
}

// The batches that both broadcast to.
std::vector<std::int64_t> common_batch(const Array& a, const Array& b, SourceLocation where) {
  std::vector<std::int64_t> left = batch_of(type_of(a)), right = batch_of(type_of(b));
  std::size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (left[i] != right[i] && left[i] != 1 && right[i] != 1) {
      refuse("matmul", a, b,
             "batch sizes differ (" + std::to_string(left[i]) + " against " +
                 std::to_string(right[i]) + ")",
             where);
    }
    if (left[i] == 1) left[i] = right[i];
  }
  return left;
}

std::vector<std::int64_t> first(std::int64_t count) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

// Both of at least two axes, with equal inner sizes.
Array matrix_product(Array a, Array b, SourceLocation where) {
  if (type_of(b).rank() == 2) {  // rows of a, however many axes count them
    return record(Op::dot, {a, b}, where, DotAttributes{{}, {}, {type_of(a).rank() - 1}, {0}});
  }
  std::vector<std::int64_t> batch = common_batch(a, b, where);
  a = with_batch(a, batch, where);
  b = with_batch(b, batch, where);
  auto axes = static_cast<std::int64_t>(batch.size());
  return record(Op::dot, {a, b}, where,
                DotAttributes{first(axes), first(axes), {axes + 1}, {axes}});
}

}  // namespace

Array matmul(const Operand& a, const Operand& b) {
  const SourceLocation where = a.where();
  std::vector<Array> both = promote("matmul", {&a, &b}, Takes::numbers);
  const bool row = type_of(both[0]).rank() == 1, column = type_of(both[1]).rank() == 1;
  if (type_of(both[0]).rank() == 0 || type_of(both[1]).rank() == 0) {
    refuse("matmul", both[0], both[1], "a scalar has no inner axis; multiply instead", where);
  }
  check_inner("matmul", both[0], type_of(both[0]).rank() - 1, both[1],
              column ? 0 : type_of(both[1]).rank() - 2, where);
  if (row && column) {
    return record(Op::dot, both, where, DotAttributes{{}, {}, {0}, {0}});
  }
  Array left = row ? expand_dims({both[0], where}, 0) : both[0];
  Array right = column ? expand_dims({both[1], where}, 1) : both[1];
  Array result = matrix_product(left, right, where);
  if (row) return squeeze({result, where}, -2);
  if (column) return squeeze({result, where}, -1);
  return result;
}

Array dot(const Operand& a, const Operand& b) {
  std::vector<Array> both = promote("dot", {&a, &b}, Takes::numbers);
  const int left = type_of(both[0]).rank(), right = type_of(both[1]).rank();
  if (left == 0 || right == 0) return multiply({both[0], a.where()}, {both[1], a.where()});
  const std::int64_t inner = right == 1 ? 0 : right - 2;
  check_inner("dot", both[0], left - 1, both[1], inner, a.where());
  return record(Op::dot, both, a.where(), DotAttributes{{}, {}, {left - 1}, {inner}});
}

Array vecdot(const Operand& a, const Operand& b, Axis axis) {
  std::vector<Array> both = promote("vecdot", {&a, &b}, Takes::numbers);
  const SourceLocation where = a.where();
  demand_axis_of_both("vecdot", axis, both[0], both[1], where);
  std::int64_t left = axis_of("vecdot", axis, type_of(both[0]).shape, where);
  std::int64_t right = axis_of("vecdot", axis, type_of(both[1]).shape, where);
  check_inner("vecdot", both[0], left, both[1], right, where);
  broadcast("vecdot", both, where);
  const Term given = {both[0], where};
  const Term conjugate = {conj(given), where};
  const Term products = widened(conjugate) * widened({both[1], where});
  return rounded_as(given, sum_in_own_dtype(products, axis));
}

Array tensordot(const Operand& a, const Operand& b, Extent axes) {
  std::vector<Array> both = promote("tensordot", {&a, &b}, Takes::numbers);
  const int left = type_of(both[0]).rank();
  const std::int64_t count = axes.value;
  if (count < 0 || count > left || count > type_of(both[1]).rank()) {
    refuse("tensordot", both[0], both[1],
           std::to_string(count) + " axes to sum over, which one does not have", a.where());
  }
  std::vector<std::int64_t> last = first(count);
  for (std::int64_t& axis : last) axis += left - count;
  return tensordot({both[0], a.where()}, {both[1], a.where()}, Axes(last), Axes(first(count)));
}

Array tensordot(const Operand& a, const Operand& b, const Axes& a_axes, const Axes& b_axes) {
  std::vector<Array> both = promote("tensordot", {&a, &b}, Takes::numbers);
  const SourceLocation where = a.where();
  auto left = a_axes.in_order("tensordot", type_of(both[0]).shape, where);
  auto right = b_axes.in_order("tensordot", type_of(both[1]).shape, where);
  if (left.size() != right.size()) {
    refuse("tensordot", both[0], both[1],
           std::to_string(left.size()) + " axes of one and " + std::to_string(right.size()) +
               " of the other",
           where);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    check_inner("tensordot", both[0], left[i], both[1], right[i], where);
  }
  return record(Op::dot, both, where, DotAttributes{{}, {}, left, right});
}

Array outer(const Operand& a, const Operand& b) {
  std::vector<Array> both = promote("outer", {&a, &b}, Takes::numbers);
  if (type_of(both[0]).rank() != 1 || type_of(both[1]).rank() != 1) {
    refuse("outer", both[0], both[1], "takes two vectors; ravel them first", a.where());
  }
  return multiply({expand_dims({both[0], a.where()}, 1), a.where()}, {both[1], a.where()});
}

}  // namespace anabranch
