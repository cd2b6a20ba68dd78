// Elementwise functions that are made of others.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "anabranch/bits.h"
#include "anabranch/complex.h"
#include "anabranch/custom_rules.h"
#include "anabranch/elementwise.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// The operand as an array on the line of the call, for functions of several steps.
// Both operands of one dtype and one shape.
std::pair<Term, Term> terms(const char* function, const Operand& a, const Operand& b, Takes takes) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  broadcast(function, both, a.where());
  return {Term(both[0], a.where()), Term(both[1], a.where())};
}

/// x - y * trunc(x / y), and whether trunc(x / y) is one more than floor(x / y): where there is a
/// rest, and its sign is not the divisor's.
struct TruncatedRest {
  Term rest, is_one_more;
};
TruncatedRest truncated_rest(const Term& x, const Term& y) {
  const Term rest = {record(Op::remainder, {x.array(), y.array()}, x.where()), x.where()};
  return {rest, (rest != 0) & ((rest < 0) != (y < 0))};
}

}  // namespace

Array square(const Operand& x) {
  Term y = term("square", x, Takes::numbers);
  return y * y;
}

Array reciprocal(const Operand& x) { return 1 / term("reciprocal", x, Takes::floats_or_complex); }

Array trunc(const Operand& x) {
  Term y = term("trunc", x, Takes::real_numbers);
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
  const Dtype dtype = y.array().dtype();
  if (!is_float(dtype) && !is_complex(dtype)) return y == y;
  return record(Op::is_finite, {y.array()}, x.where());
}

Array isinf(const Operand& x) {
  Term y = term("isinf", x, Takes::numbers);
  if (is_complex(y.array().dtype())) {
    return Term(isinf({real(y), x.where()}), x.where()) |
           Term(isinf({imag(y), x.where()}), x.where());
  }
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
  const DtypeInfo& dtype = info(y.array().dtype());
  const double greatest = std::ldexp(2 - std::ldexp(1, 1 - dtype.precision), dtype.max_exponent);
  Term finite = minimum(maximum(y, -greatest), greatest);
  return where(y != y, nan, finite);
}

Array hypot(const Operand& a, const Operand& b) {
  auto [x, y] = terms("hypot", a, b, Takes::floats);
  Term width = magnitude(x), height = magnitude(y);
  Term is_wide = (width >= height) | (width != width);
  Term longer = where(is_wide, width, height), shorter = where(is_wide, height, width);
  // Where the longer is 0 it is the answer, and the ratio would not be a number; an infinite one is
  // the answer beside NaN, too.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Term is_infinite = (width == infinity) | (height == infinity), is_zero = longer == 0;
  Term ratio = shorter / where(is_infinite | is_zero, 1, longer);
  Term value = where(is_zero, abs(longer), longer * sqrt(1 + ratio * ratio));
  return where(is_infinite, infinity, value);
}

Array logaddexp(const Operand& a, const Operand& b) {
  auto [x, y] = terms("logaddexp", a, b, Takes::floats);
  const auto [high, apart] = high_and_apart(x, y);
  return high + log1p(exp(-apart));
}

Array remainder(const Operand& a, const Operand& b) {
  auto [x, y] = terms("remainder", a, b, Takes::real_numbers);
  const auto [rest, is_one_more] = truncated_rest(x, y);
  const Term floored = where(is_one_more, rest + y, rest);
  if (!is_float(y.array().dtype())) return floored;
  return where(y < 0, -(0 - floored), 0 + floored);  // a rest of 0 has the sign of y
}

Array floor_divide(const Operand& a, const Operand& b) {
  auto [x, y] = terms("floor_divide", a, b, Takes::real_numbers);
  const auto [rest, is_one_more] = truncated_rest(x, y);
  if (!is_float(y.array().dtype())) return where(is_one_more & (y != 0), x / y - 1, x / y);
  // x - rest is a multiple of y, whose quotient is within rounding of a whole number, where the
  // quotient of x may be rounded up to one: floor_divide(1, 0.1) is 9.
  const Term whole = round((x - rest) / y), floored = 0 + where(is_one_more, whole - 1, whole);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // A step, too, where it is the quotient itself: a zero with its sign, infinity or NaN.
  const Term exact = {detail::stop_gradients({x / y}, a.where())[0], a.where()};
  return where((x == 0) | (y == 0) | (abs(x) == infinity), exact, floored);
}

Array bitwise_right_shift(const Operand& a, const Operand& b) {
  auto [x, y] = terms("bitwise_right_shift", a, b, Takes::integers);
  bool with_sign = is_signed_integer(x.array().dtype());
  return record(with_sign ? Op::shift_right_arithmetic : Op::shift_right_logical,
                {x.array(), y.array()}, a.where());
}

}  // namespace anabranch
