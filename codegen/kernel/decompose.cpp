#include "codegen/kernel/decompose.h"

#include <algorithm>
#include <cmath>

namespace anabranch {
namespace {

bool any(Dtype) { return true; }
bool is_bool(Dtype dtype) { return dtype == bool_; }

template <Op op>
Compute same_operands(ScalarWriter&, const std::vector<Ref>& x, Dtype) {
  return {op, x};
}

Compute converted(ScalarWriter&, const std::vector<Ref>& x, Dtype) { return {Op::convert, {x[0]}}; }

Compute itself(ScalarWriter&, const std::vector<Ref>& x, Dtype) { return {Op::or_, {x[0], x[0]}}; }

Compute and_not(ScalarWriter& to, const std::vector<Ref>& x, Dtype) {
  return {Op::and_, {x[0], to.compute(Op::not_, bool_, {x[1]})}};
}

Compute clamp(ScalarWriter& to, const std::vector<Ref>& x, Dtype dtype) {
  return {Op::minimum, {to.compute(Op::maximum, dtype, {x[1], x[0]}), x[2]}};
}

Compute bool_clamp(ScalarWriter& to, const std::vector<Ref>& x, Dtype) {
  return {Op::and_, {to.compute(Op::or_, bool_, {x[1], x[0]}), x[2]}};
}

Compute is_finite(ScalarWriter& to, const std::vector<Ref>& x, Dtype dtype) {
  const Ref magnitude = to.compute(Op::abs, dtype, {x[0]});
  return {Op::compare, {magnitude, to.number(dtype, INFINITY)}, Comparison::lt};
}

// A float that is neither above nor below 0 stays as it is.
Compute float_sign(ScalarWriter& to, const std::vector<Ref>& x, Dtype dtype) {
  const Ref zero = to.number(dtype, 0);
  const Ref above = to.compute(Op::compare, bool_, {x[0], zero}, Comparison::gt);
  const Ref below = to.compute(Op::compare, bool_, {x[0], zero}, Comparison::lt);
  const Ref rest = to.compute(Op::select, dtype, {below, to.number(dtype, -1), x[0]});
  return {Op::select, {above, to.number(dtype, 1), rest}};
}

Compute integer_sign(ScalarWriter& to, const std::vector<Ref>& x, Dtype dtype) {
  const Ref zero = to.number(dtype, 0);
  const Ref above = to.compute(Op::compare, bool_, {x[0], zero}, Comparison::gt);
  if (!is_signed_integer(dtype)) return {Op::convert, {above}};
  const Ref below = to.compute(Op::compare, bool_, {x[0], zero}, Comparison::lt);
  return {Op::subtract, {to.convert(above, dtype), to.convert(below, dtype)}};
}

constexpr Decomposition rows[] = {
    {"clamp(a, x, b) = (x or a) and b", Op::clamp, is_bool, bool_clamp},
    {"clamp(a, x, b) = minimum(maximum(x, a), b)", Op::clamp, any, clamp},
    {"is_finite(x) = |x| < inf", Op::is_finite, is_float, is_finite},
    {"sign(x) = x > 0 ? 1 : x < 0 ? -1 : x", Op::sign, is_float, float_sign},
    {"sign(x) = (x > 0) - (x < 0)", Op::sign, is_integer, integer_sign},
    {"optimization_barrier(x) = x", Op::optimization_barrier, any, converted},
    {"popcnt(x) = x", Op::popcnt, is_bool, itself},
    {"count_leading_zeros(x) = not x", Op::count_leading_zeros, is_bool, same_operands<Op::not_>},
    {"x + y = x or y", Op::add, is_bool, same_operands<Op::or_>},
    {"x * y = x and y", Op::multiply, is_bool, same_operands<Op::and_>},
    {"maximum(x, y) = x or y", Op::maximum, is_bool, same_operands<Op::or_>},
    {"minimum(x, y) = x and y", Op::minimum, is_bool, same_operands<Op::and_>},
    {"x << y = x and not y", Op::shift_left, is_bool, and_not},
    {"x >> y = x and not y", Op::shift_right_logical, is_bool, and_not},
    {"x >> y = x, with copies of the sign", Op::shift_right_arithmetic, is_bool, itself},
};

constexpr bool has_row(Op op) {
  return std::ranges::any_of(rows, [op](const Decomposition& row) { return row.op == op; });
}

#define COMPOSED_OP(name) \
  static_assert(has_row(Op::name), "a composed op of ops.def has no row above");
#include "ir/ops_by_kind.def"

}  // namespace

std::span<const Decomposition> decompositions() { return rows; }

Kernel decompose(const Kernel& kernel, KernelContext&) {
  Kernel made = kernel;
  const auto rewrite = [](ScalarWriter& writer, Ref ref, const Compute& compute) {
    const Dtype dtype = writer[compute.operands.back()].dtype;
    for (const Decomposition& row : rows) {
      if (row.op != compute.op || !row.applies(dtype)) continue;
      return writer.become(ref, row.make(writer, compute.operands, dtype), writer[ref].dtype);
    }
  };
  rewrite_ops(made, {.compute = rewrite});
  return made;
}

}  // namespace anabranch
