#include "frontend/stablehlo/element_ops.h"

#include <algorithm>
#include <array>
#include <limits>

#include "anabranch/complex.h"
#include "frontend/array/expression.h"
#include "frontend/ops/term.h"

namespace anabranch::stablehlo {
namespace {

Array compare(const Site& site, Comparison direction, const std::vector<Array>& operands) {
  return site.record(Op::compare, operands, CompareAttributes{direction});
}

// A bool holds 0 or 1: what integers have under these names is logic of bools.
Op logic_of(Op op) {
  if (op == Op::subtract) return Op::xor_;
  if (op == Op::maximum) return Op::or_;
  return op == Op::minimum ? Op::and_ : op;
}

// Complex numbers are ordered by their real parts and, where those are equal, by the others.
Array lexicographic(const Site& site, Comparison direction, const std::vector<Array>& operands) {
  const auto parts = [&](Op part) {
    const Array first = site.record(part, {operands[0]});
    const Array second = site.record(part, {operands[1]});
    return std::vector<Array>{first, second};
  };
  const std::vector<Array> re = parts(Op::real), im = parts(Op::imag);
  const Array is_tie = compare(site, Comparison::eq, re);
  const Array by_im = compare(site, direction, im), by_re = compare(site, direction, re);
  return site.record(Op::select, {is_tie, by_im, by_re});
}

// The one that is before the other in that direction.
Array complex_extreme(const Site& site, Comparison direction, const std::vector<Array>& operands) {
  const Array is_first = lexicographic(site, direction, operands);
  return site.record(Op::select, {is_first, operands[0], operands[1]});
}

// -i log((x + iy) / sqrt(x^2 + y^2))
Array complex_atan2(const Site& site, const Array& of_y, const Array& of_x) {
  const SourceLocation at = site.where();
  const Term y(of_y, at), x(of_x, at);
  const Term re(real(y), at), im(imag(y), at);
  const Term turned(complex(-im, re), at);
  const Term logarithm = log((x + turned) / sqrt(x * x + y * y));
  const Term along(real(logarithm), at), across(imag(logarithm), at);
  return complex(across, -along);
}

// The root of the angle nearest to 0.
Array complex_cbrt(const Site& site, const Array& z) {
  const SourceLocation at = site.where();
  const Array re = site.record(Op::real, {z}), im = site.record(Op::imag, {z});
  const Term radius(site.record(Op::cbrt, {site.record(Op::abs, {z})}), at);
  const Term angle = Term(site.record(Op::atan2, {im, re}), at) / 3.0;
  const Term cosine(site.record(Op::cosine, {angle.array()}), at);
  const Term sine(site.record(Op::sine, {angle.array()}), at);
  return complex(radius * cosine, radius * sine);
}

Comparison direction_of(const Site& site) {
  const std::string direction = site.word("comparison_direction");
  constexpr std::array<std::string_view, 6> directions = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto found = std::find(directions.begin(), directions.end(), direction);
  if (found == directions.end()) {
    site.fail("there is no comparison " + direction + "; EQ, NE, LT, LE, GT and GE are");
  }
  return static_cast<Comparison>(found - directions.begin());
}

std::string comparison_kind(const Site& site) {
  const std::string kind = site.word("compare_type", "NOTYPE");
  for (const char* known : {"NOTYPE", "FLOAT", "SIGNED", "UNSIGNED", "TOTALORDER", "WEAKORDER"}) {
    if (kind == known) return kind;
  }
  site.fail("there is no comparison type " + kind +
            "; FLOAT, TOTALORDER, WEAKORDER, SIGNED and UNSIGNED are");
}

// One NaN for all of them, and 0 for -0: what a weak order takes for equal.
Array without_signs(const Site& site, const Array& x) {
  const Type type = type_of(x);
  const auto constant = [&](double value) {
    return site.repeated(site.scalar(value, type.dtype), type.shape);
  };
  const Array zero = constant(0);
  const Array one_nan = constant(std::numeric_limits<double>::quiet_NaN());
  const Array is_zero = compare(site, Comparison::eq, {x, zero});
  const Array is_nan = compare(site, Comparison::ne, {x, x});
  return site.record(Op::select, {is_nan, one_nan, site.record(Op::select, {is_zero, zero, x})});
}

}  // namespace

Array element_op(const Site& site, Op op, const std::vector<Array>& operands) {
  const Dtype dtype = type_of(operands[0]).dtype;
  if (dtype == bool_) return site.record(logic_of(op), operands);
  if (is_complex(dtype)) {
    if (op == Op::maximum) return complex_extreme(site, Comparison::gt, operands);
    if (op == Op::minimum) return complex_extreme(site, Comparison::lt, operands);
    if (op == Op::atan2) return complex_atan2(site, operands[0], operands[1]);
    if (op == Op::cbrt) return complex_cbrt(site, operands[0]);
  }
  return site.record(op, operands);
}

Array compared(const Site& site, std::vector<Array> operands) {
  const Comparison direction = direction_of(site);
  const std::string kind = comparison_kind(site);
  const Dtype dtype = type_of(operands[0]).dtype;
  if (is_float(dtype) && kind.ends_with("ORDER")) {
    for (Array& operand : operands) {
      if (kind == "WEAKORDER") operand = without_signs(site, operand);
      operand = total_order_key(site, operand);
    }
  }
  const bool is_ordered = direction != Comparison::eq && direction != Comparison::ne;
  if (is_complex(dtype) && is_ordered) return lexicographic(site, direction, operands);
  return compare(site, direction, operands);
}

// A negative float's other bits are inverted.
Array total_order_key(const Site& site, const Array& x) {
  const Type type = type_of(x);
  const int bits = info(type.dtype).bits;
  const Dtype word = bits == 8 ? i8 : bits == 16 ? i16 : bits == 32 ? i32 : i64;
  const Type as_word{word, type.shape};
  const Array raw = site.record(Op::bitcast_convert, {x}, NoAttributes{}, as_word);
  auto constant = [&](std::uint64_t value) {
    const Literal scalar = Literal::scalar(word, ElementBits(value));
    return site.repeated(site.importer.constant({scalar, false}, {word, {}}, site.where()),
                         type.shape);
  };
  const auto width = static_cast<std::uint64_t>(bits);
  const Array sign = site.record(Op::shift_right_arithmetic, {raw, constant(width - 1)});
  const Array rest = site.record(Op::and_, {sign, constant(~std::uint64_t{0} >> (65 - width))});
  return site.record(Op::xor_, {raw, rest});
}

}  // namespace anabranch::stablehlo
