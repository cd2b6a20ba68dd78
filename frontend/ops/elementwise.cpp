#include "anabranch/elementwise.h"

#include "frontend/array/expression.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Array unary(const char* function, Op op, const Operand& x, Takes takes) {
  return record_as(function, op, {as_array(function, x, takes)}, x.where());
}

Array binary(const char* function, Op op, const Operand& a, const Operand& b, Takes takes,
             Attributes attributes = NoAttributes{}) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  broadcast(function, both, a.where());
  return record_as(function, op, both, a.where(), std::move(attributes));
}

Array compare(const char* function, Comparison direction, const Operand& a, const Operand& b) {
  return binary(function, Op::compare, a, b, Takes::anything, CompareAttributes{direction});
}

// floor, ceil, round, trunc leave integers as they are.
Array rounded(const char* function, Op op, const Operand& x) {
  Array array = as_array(function, x, Takes::real_numbers);
  return is_float(array.expression()->type.dtype) ? record_as(function, op, {array}, x.where())
                                                  : array;
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
BINARY(fmod,                 remainder,             real_numbers)
BINARY(pow,                  power,                 numbers)
BINARY(maximum,              maximum,               real_numbers)
BINARY(minimum,              minimum,               real_numbers)
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
UNARY(exp,                   exponential,           floats_or_complex)
UNARY(expm1,                 exponential_minus_one, floats_or_complex)
UNARY(log,                   log,                   floats_or_complex)
UNARY(log1p,                 log_plus_one,          floats_or_complex)
UNARY(sqrt,                  sqrt,                  floats_or_complex)
UNARY(rsqrt,                 rsqrt,                 floats_or_complex)
UNARY(cbrt,                  cbrt,                  floats)
UNARY(sin,                   sine,                  floats_or_complex)
UNARY(cos,                   cosine,                floats_or_complex)
UNARY(tan,                   tan,                   floats_or_complex)
UNARY(asin,                  asin,                  floats_or_complex)
UNARY(acos,                  acos,                  floats_or_complex)
UNARY(atan,                  atan,                  floats_or_complex)
UNARY(sinh,                  sinh,                  floats_or_complex)
UNARY(cosh,                  cosh,                  floats_or_complex)
UNARY(tanh,                  tanh,                  floats_or_complex)
UNARY(asinh,                 asinh,                 floats_or_complex)
UNARY(acosh,                 acosh,                 floats_or_complex)
UNARY(atanh,                 atanh,                 floats_or_complex)
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

Array clip(const Operand& x, const Operand& low, const Operand& high) {
  std::vector<Array> three = promote("clip", {&x, &low, &high}, Takes::real_numbers);
  broadcast("clip", three, x.where());
  return record_as("clip", Op::clamp, {three[1], three[0], three[2]}, x.where());
}

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  Array mask = as_array("where", condition, Takes::bool_only);
  std::vector<Array> values = promote("where", {&x, &y}, Takes::anything);
  std::vector<Array> three = {mask, values[0], values[1]};
  broadcast("where", three, condition.where());
  return record_as("where", Op::select, three, condition.where());
}

Array astype(const Operand& x, Dtype dtype) {
  Array array = as_array("astype", x);
  const Type& type = array.expression()->type;
  if (type.dtype == dtype && !array.expression()->weak) return array;
  Array converted =
      record(Op::convert, {array}, x.where(), NoAttributes{}, Type{dtype, type.shape});
  converted.expression()->weak = false;  // the dtype was asked for, whatever it meets
  return converted;
}

}  // namespace anabranch
