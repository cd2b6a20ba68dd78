#include "tests/support/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "anabranch/error.h"

namespace anabranch {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

struct Format {
  int digits;        // of the significand
  int min_exponent;  // of the least normal number, as frexp counts
  double largest;
};

Format format_of(Dtype dtype) {
  switch (dtype) {
    case f16:
      return {11, -13, 65504};
    case bf16:
      return {8, -125, 0x1.fep127};
    case f32:
      return {24, -125, 0x1.fffffep127};
    default:
      return {53, -1021, std::numeric_limits<double>::max()};
  }
}

// An error of 0 stays 0 even times infinity.
double scaled(double error, double by) { return error == 0 ? 0 : error * std::fabs(by); }

double spread_of_product(Point x, Point y) {
  return scaled(x.error, y.value) + scaled(y.error, x.value) + scaled(x.error, y.error);
}

double spread_of_quotient(Point x, Point y) {
  if (y.error == 0) return x.error == 0 ? 0 : x.error / std::fabs(y.value);
  if (std::fabs(y.value) <= y.error) return unknown;
  const double quotient = x.value / y.value;
  return (x.error + scaled(y.error, quotient)) / (std::fabs(y.value) - y.error);
}

// With an exact divisor, and no multiple of it within reach, the remainder is as smooth as x.
double spread_of_remainder(Point x, Point y) {
  if (x.error == 0 && y.error == 0) return 0;
  const double rest = std::fabs(std::fmod(x.value, y.value));
  const bool smooth = y.error == 0 && rest > x.error && std::fabs(y.value) - rest > x.error;
  return smooth ? x.error : unknown;
}

// Monotone in either operand where the base stays positive.
double spread_of_power(Point x, Point y) {
  if (x.error == 0 && y.error == 0) return 0;
  if (!(x.value - x.error > 0)) return unknown;
  const double middle = std::pow(x.value, y.value);
  double spread = 0;
  for (double base : {x.value - x.error, x.value + x.error}) {
    for (double exponent : {y.value - y.error, y.value + y.error}) {
      const double distance = std::fabs(std::pow(base, exponent) - middle);
      if (!(distance < unknown)) return unknown;
      spread = std::max(spread, distance);
    }
  }
  // In f64 the powers themselves are only this good.
  return spread + 0x1p-50 * middle;
}

// Smooth away from the origin and from the cut along the negative x axis.
double spread_of_angle(Point y, Point x) {
  if (x.error == 0 && y.error == 0) return 0;
  const double distance = std::hypot(x.value, y.value) - x.error - y.error;
  const bool on_cut = x.value - x.error <= 0 && std::fabs(y.value) <= y.error;
  return distance > 0 && !on_cut ? (x.error + y.error) / distance : unknown;
}

// The order of the two is certain where they are farther apart than their errors.
double spread_of_order(Point x, Point y) {
  const double error = x.error + y.error;
  return error == 0 || std::fabs(x.value - y.value) > error ? 0 : unknown;
}

double spread_of_choice(Point condition, Point yes, Point no) {
  if (condition.error == 0) return condition.value != 0 ? yes.error : no.error;
  return std::fabs(yes.value - no.value) + yes.error + no.error;
}

double greatest_error(std::span<const Point> operands) {
  double greatest = 0;
  for (const Point& operand : operands) greatest = std::max(greatest, operand.error);
  return greatest;
}

}  // namespace

double ulp(Dtype dtype, double number) {
  const Format format = format_of(dtype);
  int exponent = format.min_exponent;
  if (number != 0) {
    std::frexp(number, &exponent);
    exponent = std::max(exponent, format.min_exponent);
  }
  return std::ldexp(1.0, exponent - format.digits);
}

bool goes_by_ends(Op op) {
  switch (op) {
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round_nearest_even:
    case Op::round_nearest_afz:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::cbrt:
    case Op::exponential:
    case Op::exponential_minus_one:
    case Op::log:
    case Op::log_plus_one:
    case Op::logistic:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erf_inv:
      return true;
    default:
      return false;
  }
}

double spread_of(Op op, std::span<const Point> operands) {
  const Point x = operands.front();
  const Point y = operands.size() > 1 ? operands[1] : x;
  switch (op) {
    case Op::abs:
    case Op::negate:
    case Op::sine:
    case Op::cosine:
    case Op::convert:
    case Op::maximum:
    case Op::minimum:
    case Op::clamp:
      return greatest_error(operands);
    case Op::is_finite:
      return x.error < unknown ? 0 : unknown;
    case Op::add:
    case Op::subtract:
      return x.error + y.error;
    case Op::multiply:
      return spread_of_product(x, y);
    case Op::divide:
      return spread_of_quotient(x, y);
    case Op::remainder:
      return spread_of_remainder(x, y);
    case Op::power:
      return spread_of_power(x, y);
    case Op::atan2:
      return spread_of_angle(x, y);
    case Op::compare:
      return spread_of_order(x, y);
    case Op::select:
      return spread_of_choice(x, y, operands[2]);
    default:
      throw InternalError("error bounds", std::string(name(op)) + " has no analysis");
  }
}

double rounding_bound(Dtype dtype, double number, double spread, double own) {
  if (std::isnan(spread)) return unknown;
  if (!std::isfinite(number)) return spread == 0 ? 0 : unknown;
  if (spread == 0 && own == 0) return 0;
  const double reach = std::fabs(number) + spread;
  if (!(reach < format_of(dtype).largest)) return unknown;
  const double rounding = (own + (spread > 0 ? 1 : 0)) * ulp(dtype, reach);
  const double bound = 1.01 * spread + rounding;
  return std::fabs(number) + bound < format_of(dtype).largest ? bound : unknown;
}

}  // namespace anabranch
