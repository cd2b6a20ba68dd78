#include "anabranch/elementwise_more.h"

#include <cmath>
#include <numbers>

#include "anabranch/bits.h"
#include "anabranch/complex.h"
#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/elementwise.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

bool holds_floats(const Term& x) { return is_float(type_of(x.array()).dtype); }

// 2^exponent of an integer exponent within the normal ones of x's dtype.
Term power_of_two(const Term& exponent, Dtype dtype) {
  const DtypeInfo& format = info(dtype);
  const Dtype bits = format.bits == 16 ? i16 : format.bits == 32 ? i32 : i64;
  const Term biased = converted(exponent, bits) + format.max_exponent;
  return {bitcast(biased << (format.precision - 1), dtype), exponent.where()};
}

// x 2^exponent in two steps, so that neither power is beyond the normal numbers.
Term times_power_of_two(const Term& x, const Term& exponent) {
  const Dtype dtype = type_of(x.array()).dtype;
  const Term half = exponent >> 1;
  return x * power_of_two(half, dtype) * power_of_two(exponent - half, dtype);
}

struct Parts {
  Term mantissa, exponent;
};

// Of floats; the exponent is of the integer dtype of x's width.
Parts parts_of(const Term& x) {
  const Dtype dtype = type_of(x.array()).dtype;
  const DtypeInfo& format = info(dtype);
  const Dtype holds = format.bits == 16 ? i16 : format.bits == 32 ? i32 : i64;
  const int mantissa_bits = format.precision - 1;
  const std::int64_t exponents = (std::int64_t{1} << (format.bits - 1 - mantissa_bits)) - 1;
  // Below the normal numbers a power of 2 brings x among them.
  const Term is_small = abs(x) < std::ldexp(1.0, 1 - format.max_exponent);
  const Term normal = where(is_small, x * std::ldexp(1.0, format.precision), x);
  const Term bits = {bitcast(normal, holds), x.where()};
  const Term biased = (bits >> mantissa_bits) & exponents;
  const Term exponent = biased - (format.max_exponent - 1);
  // By products, which have derivatives.
  const Term mantissa = times_power_of_two(normal, -exponent);
  const Term plain = (x == 0) | !isfinite(x);
  const Term own = exponent - where(is_small, Term(format.precision), 0);
  return {where(plain, x, mantissa), where(plain, 0, own)};
}

// Both parts of complex numbers by themselves: in a product with factor + 0i an infinite one would
// make the other NaN.
Term scaled(const Term& x, double factor) {
  const Term re{real(x), x.where()}, im{imag(x), x.where()};
  return {complex(re * factor, im * factor), x.where()};
}

// Both of one dtype and one shape, for other functions.
std::pair<Operand, Operand> promoted_pair(const char* function, const Operand& a, const Operand& b,
                                          Takes takes) {
  std::vector<Array> both = promote(function, {&a, &b}, takes);
  broadcast(function, both, a.where());
  return {Operand(both[0], a.where()), Operand(both[1], a.where())};
}

// Turn by turn, until every second number is 0.
Term greatest_divisor(const char* function, const Term& a, const Term& b) {
  const SourceLocation where = a.where();
  detail::Loop loop{function, where,
                    detail::taken_apart(std::vector<Array>{a.array(), b.array()}, "carry")};
  loop.condition = [&](const detail::Leaves& leaves, const detail::Leaves&) -> Array {
    return any({not_equal({leaves[1], where}, 0), where});
  };
  loop.body = [&](const detail::Leaves& leaves, const detail::Leaves&) {
    const Term x = {leaves[0], where}, y = {leaves[1], where};
    const Term done = y == 0, divisor = anabranch::where(done, 1, y);
    const Term rest = {fmod(x, divisor), where};
    const Term next = anabranch::where(done, x, y), after = anabranch::where(done, 0, rest);
    return detail::taken_apart(std::vector<Array>{next.array(), after.array()}, "carry");
  };
  const Term divisor = {detail::run_while(loop)[0], where};
  return is_signed_integer(type_of(divisor.array()).dtype) ? abs(divisor) : divisor;
}

}  // namespace

Array isposinf(const Operand& x) {
  const Term y = term("isposinf", x, Takes::real_numbers);
  return holds_floats(y) ? y == infinity : y != y;
}

Array isneginf(const Operand& x) {
  const Term y = term("isneginf", x, Takes::real_numbers);
  return holds_floats(y) ? y == -infinity : y != y;
}

Array isclose(const Operand& a, const Operand& b, double relative, double absolute,
              bool equal_nan) {
  const auto [given, other] = terms_of("isclose", a, b, Takes::numbers);
  const bool are_integers = is_integer(type_of(given.array()).dtype);
  const Term x = are_integers ? converted(given, f64) : widened(given);
  const Term y = are_integers ? converted(other, f64) : widened(other);
  const Term near = isfinite(y) & (abs(x - y) <= absolute + relative * abs(y));
  const Term close = near | (x == y);
  return equal_nan ? close | (isnan(x) & isnan(y)) : close;
}

Array allclose(const Operand& a, const Operand& b, double relative, double absolute,
               bool equal_nan) {
  const auto [x, y] = promoted_pair("allclose", a, b, Takes::numbers);
  return all({isclose(x, y, relative, absolute, equal_nan), a.where()});
}

Array array_equal(const Operand& a, const Operand& b) {
  const Array x = as_array("array_equal", a), y = as_array("array_equal", b);
  if (type_of(x).shape != type_of(y).shape) return scalar(false);
  const auto [p, q] = promoted_pair("array_equal", a, b, Takes::anything);
  return all({equal(p, q), a.where()});
}

Array fmax(const Operand& a, const Operand& b) {
  const auto [x, y] = terms_of("fmax", a, b, Takes::real_numbers);
  return where(isnan(x), y, where(isnan(y), x, maximum(x, y)));
}

Array fmin(const Operand& a, const Operand& b) {
  const auto [x, y] = terms_of("fmin", a, b, Takes::real_numbers);
  return where(isnan(x), y, where(isnan(y), x, minimum(x, y)));
}

Array heaviside(const Operand& x, const Operand& at_zero) {
  const auto [y, zero] = terms_of("heaviside", x, at_zero);
  return where(isnan(y), y, where(y == 0, zero, converted(y > 0, type_of(y.array()).dtype)));
}

MantissaAndExponent frexp(const Operand& x) {
  const auto [mantissa, exponent] = parts_of(with_own_dtype(term("frexp", x)));
  return {mantissa, converted(exponent, i32)};
}

Array ldexp(const Operand& x, const Operand& exponent) {
  const Term given = with_own_dtype(term("ldexp", x)), y = in_f64(given);
  const Term by = {astype({as_array("ldexp", exponent, Takes::integers), x.where()}, i64),
                   x.where()};
  std::vector<Array> both = {y.array(), by.array()};
  broadcast("ldexp", both, x.where());
  const auto [mantissa, own] = parts_of({both[0], x.where()});
  // In two steps, of which the first is exact; the sum of exponents beyond any f64 stays there.
  const Term bounded = minimum(maximum(Term(both[1], x.where()), -5000), 5000);
  const Term sum = minimum(maximum(own + bounded, -1200), 1100);
  return as_dtype_of(given, times_power_of_two(mantissa, sum));
}

FractionAndWhole modf(const Operand& x) {
  const Term y = term("modf", x);
  const Term whole = {copysign({trunc(y), x.where()}, y), x.where()};
  const Term fraction = where(isfinite(y), y - whole, where(isnan(y), y, 0));
  return {copysign(fraction, y), whole};
}

QuotientAndRemainder divmod(const Operand& a, const Operand& b) {
  const auto [x, y] = promoted_pair("divmod", a, b, Takes::real_numbers);
  return {floor_divide(x, y), remainder(x, y)};
}

Array gcd(const Operand& a, const Operand& b) {
  const auto [x, y] = terms_of("gcd", a, b, Takes::integers);
  return greatest_divisor("gcd", with_own_dtype(x), with_own_dtype(y));
}

Array lcm(const Operand& a, const Operand& b) {
  const auto [given, other] = terms_of("lcm", a, b, Takes::integers);
  const Term x = with_own_dtype(given), y = with_own_dtype(other);
  const Term divisor = greatest_divisor("lcm", x, y);
  const Term multiple = x / where(divisor == 0, 1, divisor) * y;
  return is_signed_integer(type_of(x.array()).dtype) ? abs(multiple) : multiple;
}

Array exp2(const Operand& x) {
  const Term y = term("exp2", x, Takes::floats_or_complex);
  if (is_complex(type_of(y.array()).dtype)) return exp(scaled(y, std::numbers::ln2));
  return pow(Term(as_array_like(2, y), x.where()), y);
}

Array log2(const Operand& x) {
  const Term given = with_own_dtype(term("log2", x, Takes::floats_or_complex));
  if (is_complex(type_of(given.array()).dtype)) return scaled(log(given), std::numbers::log2e);
  const Term y = widened(given);
  const auto [half, above] = parts_of(y);
  // A mantissa around 1, so that the logarithm of what is close to 1 is no difference.
  const Term is_low = half < std::numbers::sqrt2 / 2;
  const Term mantissa = where(is_low, 2 * half, half);
  const Term exponent = converted(where(is_low, above - 1, above), type_of(y.array()).dtype);
  return rounded_as(given, log(mantissa) * std::numbers::log2e + exponent);
}

Array log10(const Operand& x) {
  const Term given = term("log10", x, Takes::floats_or_complex);
  if (is_complex(type_of(given.array()).dtype)) return scaled(log(given), std::numbers::log10e);
  return as_dtype_of(given, log(in_f64(given)) * std::numbers::log10e);
}

Array logaddexp2(const Operand& a, const Operand& b) {
  const auto [given, other] = terms_of("logaddexp2", a, b);
  const auto [high, apart] = high_and_apart(widened(given), widened(other));
  const Term ratio{exp2(-apart), a.where()};
  return rounded_as(given, high + log1p(ratio) * std::numbers::log2e);
}

Array deg2rad(const Operand& x) { return term("deg2rad", x) * (std::numbers::pi / 180); }
Array rad2deg(const Operand& x) { return term("rad2deg", x) * (180 / std::numbers::pi); }

}  // namespace anabranch
