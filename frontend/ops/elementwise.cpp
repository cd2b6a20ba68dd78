#include "frontend/ops/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/array/expression.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Array unary(const char* function, Op op, const Operand& x, Takes takes) {
  return record(op, {as_array(function, x, takes)}, x.where());
}

Array binary(const char* function, Op op, const Operand& a, const Operand& b, Takes takes,
             Attributes attributes = NoAttributes{}) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  broadcast(function, both, a.where());
  return record(op, both, a.where(), std::move(attributes));
}

Array compare(const char* function, Comparison direction, const Operand& a, const Operand& b) {
  return binary(function, Op::compare, a, b, Takes::anything, CompareAttributes{direction});
}

// floor, ceil, round, trunc leave integers as they are.
Array rounded(const char* function, Op op, const Operand& x) {
  Array array = as_array(function, x, Takes::numbers);
  return is_float(array.expression()->type.dtype) ? record(op, {array}, x.where()) : array;
}

// The operand as an array on the line of the call, for functions of several steps.
Term term(const char* function, const Operand& x, Takes takes = Takes::floats) {
  return {as_array(function, x, takes), x.where()};
}

// Both operands of one dtype and one shape.
std::pair<Term, Term> terms(const char* function, const Operand& a, const Operand& b, Takes takes) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  broadcast(function, both, a.where());
  return {Term(both[0], a.where()), Term(both[1], a.where())};
}

}  // namespace

// clang-format off
#define UNARY(function, op, takes) \
  Array function(const Operand& x) { return unary(#function, Op::op, x, Takes::takes); }
#define BINARY(function, op, takes) \
  Array function(const Operand& a, const Operand& b) { return binary(#function, Op::op, a, b, Takes::takes); }
#define COMPARE(function, direction) \
  Array function(const Operand& a, const Operand& b) { return compare(#function, Comparison::direction, a, b); }
#define ROUND(function, op) \
  Array function(const Operand& x) { return rounded(#function, Op::op, x); }

//     function              op                     takes
BINARY(add,                  add,                   numbers)
BINARY(subtract,             subtract,              numbers)
BINARY(multiply,             multiply,              numbers)
BINARY(divide,               divide,                numbers)
BINARY(fmod,                 remainder,             numbers)
BINARY(pow,                  power,                 numbers)
BINARY(maximum,              maximum,               numbers)
BINARY(minimum,              minimum,               numbers)
BINARY(atan2,                atan2,                 floats)
BINARY(logical_and,          and_,                  bool_only)
BINARY(logical_or,           or_,                   bool_only)
BINARY(logical_xor,          xor_,                  bool_only)
BINARY(bitwise_and,          and_,                  integers_or_bool)
BINARY(bitwise_or,           or_,                   integers_or_bool)
BINARY(bitwise_xor,          xor_,                  integers_or_bool)
BINARY(bitwise_left_shift,   shift_left,            integers)

COMPARE(equal,               eq)
COMPARE(not_equal,           ne)
COMPARE(less,                lt)
COMPARE(less_equal,          le)
COMPARE(greater,             gt)
COMPARE(greater_equal,       ge)

UNARY(negative,              negate,                numbers)
UNARY(sign,                  sign,                  numbers)
UNARY(logical_not,           not_,                  bool_only)
UNARY(bitwise_invert,        not_,                  integers_or_bool)
UNARY(bitwise_count,         popcnt,                integers)
UNARY(count_leading_zeros,   count_leading_zeros,   integers)
UNARY(exp,                   exponential,           floats)
UNARY(expm1,                 exponential_minus_one, floats)
UNARY(log,                   log,                   floats)
UNARY(log1p,                 log_plus_one,          floats)
UNARY(sqrt,                  sqrt,                  floats)
UNARY(rsqrt,                 rsqrt,                 floats)
UNARY(cbrt,                  cbrt,                  floats)
UNARY(sin,                   sine,                  floats)
UNARY(cos,                   cosine,                floats)
UNARY(tan,                   tan,                   floats)
UNARY(asin,                  asin,                  floats)
UNARY(acos,                  acos,                  floats)
UNARY(atan,                  atan,                  floats)
UNARY(sinh,                  sinh,                  floats)
UNARY(cosh,                  cosh,                  floats)
UNARY(tanh,                  tanh,                  floats)
UNARY(asinh,                 asinh,                 floats)
UNARY(acosh,                 acosh,                 floats)
UNARY(atanh,                 atanh,                 floats)
UNARY(erf,                   erf,                   floats)
UNARY(erfinv,                erf_inv,               floats)

ROUND(floor,                 floor)
ROUND(ceil,                  ceil)
ROUND(round,                 round_nearest_even)
// clang-format on
#undef UNARY
#undef BINARY
#undef COMPARE
#undef ROUND

Array abs(const Operand& x) {
  Array array = as_array("abs", x, Takes::numbers);
  return record(Op::abs, {array}, x.where());
}

Array positive(const Operand& x) { return as_array("positive", x, Takes::numbers); }

Array square(const Operand& x) {
  Term y = term("square", x, Takes::numbers);
  return y * y;
}

Array reciprocal(const Operand& x) { return 1 / term("reciprocal", x); }

Array exp2(const Operand& x) { return exp(term("exp2", x) * std::numbers::ln2); }
Array log2(const Operand& x) { return log(term("log2", x)) * std::numbers::log2e; }
Array log10(const Operand& x) { return log(term("log10", x)) * std::numbers::log10e; }

Array trunc(const Operand& x) {
  Term y = term("trunc", x, Takes::numbers);
  if (!is_float(y.array().dtype())) return y;
  return where(y < 0, ceil(y), floor(y));
}

// An integer equals itself; so does every float but NaN.
Array isnan(const Operand& x) {
  Term y = term("isnan", x, Takes::numbers);
  return y != y;
}

Array isfinite(const Operand& x) {
  Term y = term("isfinite", x, Takes::numbers);
  if (!is_float(y.array().dtype())) return y == y;
  return record(Op::is_finite, {y.array()}, x.where());
}

Array isinf(const Operand& x) {
  Term y = term("isinf", x, Takes::numbers);
  if (!is_float(y.array().dtype())) return y != y;
  return abs(y) == std::numeric_limits<double>::infinity();
}

Array signbit(const Operand& x) {
  Term y = term("signbit", x);
  const std::size_t bytes = byte_size(y.array().dtype());
  const Dtype bits = bytes == 2 ? i16 : bytes == 4 ? i32 : i64;
  return Term(bitcast(y, bits), x.where()) < 0;
}

Array copysign(const Operand& a, const Operand& b) {
  auto [x, y] = terms("copysign", a, b, Takes::floats);
  Term differ = {not_equal({signbit(x), a.where()}, {signbit(y), a.where()}), a.where()};
  return where(differ, -x, x);
}

Array nan_to_num(const Operand& x, double nan) {
  Term y = term("nan_to_num", x);
  const double greatest = visit_dtype(y.array().dtype(), []<class T>() -> double {
    if constexpr (std::is_same_v<T, Float16>)
      return 65504;
    else if constexpr (std::is_same_v<T, BFloat16>)
      return BFloat16::from_bits(0x7f7f);
    else
      return static_cast<double>(std::numeric_limits<T>::max());
  });
  Term finite = minimum(maximum(y, -greatest), greatest);
  return where(y != y, nan, finite);
}

Array hypot(const Operand& a, const Operand& b) {
  auto [x, y] = terms("hypot", a, b, Takes::floats);
  Term longer = maximum(abs(x), abs(y));
  Term shorter = minimum(abs(x), abs(y));
  // Where the longer is 0 or infinite it is the answer, and the ratio would not be a number.
  Term ratio = shorter / longer;
  Term plain = (longer == 0) | (longer == std::numeric_limits<double>::infinity());
  return where(plain, longer, longer * sqrt(1 + ratio * ratio));
}

Array logaddexp(const Operand& a, const Operand& b) {
  auto [x, y] = terms("logaddexp", a, b, Takes::floats);
  Term apart = abs(x - y);
  // Equal infinities leave NaN; the sum is then the operand itself.
  return where(x == y, x + std::numbers::ln2, maximum(x, y) + log1p(exp(-apart)));
}

Array clip(const Operand& x, const Operand& low, const Operand& high) {
  std::vector<Array> three = promote("clip", {&x, &low, &high}, Takes::numbers);
  broadcast("clip", three, x.where());
  return record(Op::clamp, {three[1], three[0], three[2]}, x.where());
}

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  Array mask = as_array("where", condition, Takes::bool_only);
  std::vector<Array> values = promote("where", {&x, &y}, Takes::anything);
  std::vector<Array> three = {mask, values[0], values[1]};
  broadcast("where", three, condition.where());
  return record(Op::select, three, condition.where());
}

Array remainder(const Operand& a, const Operand& b) {
  auto [x, y] = terms("remainder", a, b, Takes::numbers);
  Term rest = {record(Op::remainder, {x.array(), y.array()}, a.where()), a.where()};
  return where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest);
}

Array floor_divide(const Operand& a, const Operand& b) {
  auto [x, y] = terms("floor_divide", a, b, Takes::numbers);
  Term quotient = x / y;
  if (is_float(quotient.array().dtype())) return floor(quotient);
  // Truncation is one too high where there is a rest whose sign is not the divisor's.
  Term rest = {record(Op::remainder, {x.array(), y.array()}, a.where()), a.where()};
  return where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient);
}

Array bitwise_right_shift(const Operand& a, const Operand& b) {
  auto [x, y] = terms("bitwise_right_shift", a, b, Takes::integers);
  bool with_sign = is_signed_integer(x.array().dtype());
  return record(with_sign ? Op::shift_right_arithmetic : Op::shift_right_logical,
                {x.array(), y.array()}, a.where());
}

Array astype(const Operand& x, Dtype dtype) {
  Array array = as_array("astype", x);
  const Type& type = array.expression()->type;
  if (type.dtype == dtype && !array.expression()->weak) return array;
  return record(Op::convert, {array}, x.where(), NoAttributes{}, Type{dtype, type.shape});
}

Array bitcast(const Operand& x, Dtype dtype) {
  Array array = as_array("bitcast", x);
  return record(Op::bitcast_convert, {array}, x.where(), NoAttributes{},
                Type{dtype, array.expression()->type.shape});
}

Array as_array_like(const Term& a, const Term& b) {
  return number_as("constant", a.number(), b.array().dtype(), b.where());
}

}  // namespace anabranch
