#include "tests/support/complex_bounds.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "tests/support/spread.h"

namespace anabranch {
namespace {

using Numbers = std::vector<double>;
using Complex = std::complex<double>;

constexpr double least = std::numeric_limits<double>::denorm_min();

Literal literal_of(const Shape& shape, const Numbers& numbers) {
  return Literal::of(std::span<const double>(numbers), shape);
}

// Elements of any dtype as complex numbers.
std::vector<Complex> complex_numbers(const Literal& literal) {
  std::vector<Complex> numbers;
  visit_any_dtype(literal.type().dtype, [&]<class T>() {
    for (T value : literal.values<T>()) numbers.push_back(convert_scalar<Complex>(value));
  });
  return numbers;
}

// The greater of both parts; NaN where either is.
double size_of(Complex z) {
  if (std::isnan(z.real()) || std::isnan(z.imag())) return NAN;
  return std::max(std::fabs(z.real()), std::fabs(z.imag()));
}

double distance(Complex x, Complex y) { return size_of(x - y); }

// What an element is made of, with its bounds.
struct Places {
  std::vector<std::vector<Complex>> values;
  std::vector<std::span<const double>> errors;
  std::vector<Complex> results;

  double error(std::size_t operand, std::size_t i) const { return errors[operand][i]; }
};

bool is_exact(const Places& places, std::size_t i) {
  return std::ranges::all_of(places.errors, [&](auto errors) { return errors[i] == 0; });
}

// --- elementwise
// -------------------------------------------------------------------------------------

// Of ops whose parts are rounded once, or not at all.
double linear_spread(const Node& node, const Places& places, std::size_t i) {
  if (node.op == Op::select) {
    if (places.error(0, i) != 0) return unknown;
    return places.error(places.values[0][i] != Complex(0) ? 1 : 2, i);
  }
  double sum = 0;
  for (auto errors : places.errors) sum += errors[i];
  return sum;
}

double spread_of_comparison(const Places& places, std::size_t i) {
  if (is_exact(places, i)) return 0;
  const double apart = distance(places.values[0][i], places.values[1][i]);
  return apart > places.error(0, i) + places.error(1, i) ? 0 : unknown;
}

// To what a conversion makes of complex numbers that is none.
double spread_of_conversion(const Node& node, const Places& places, std::size_t i) {
  const double error = places.error(0, i);
  return error == 0 || is_float(node.types[0].dtype) ? error : unknown;
}

// The sum of two products.
double bound_of_product(Dtype part, const Places& places, std::size_t i) {
  const double x = size_of(places.values[0][i]), y = size_of(places.values[1][i]);
  const double ex = places.error(0, i), ey = places.error(1, i);
  const double largest = 2 * (x + ex) * (y + ey);
  const double epsilon = part == f64 ? 0x1p-53 : 0x1p-24;
  if (!(largest < (part == f64 ? 0x1p1022 : 0x1p126))) return unknown;
  const double passed_on = ex == 0 && ey == 0 ? 0 : 2 * (x * ey + y * ex + ex * ey);
  return 1.01 * passed_on + 4 * epsilon * largest + 4 * ulp(part, 0);
}

double bound_of_quotient(Dtype part, const Places& places, std::size_t i) {
  const double x = size_of(places.values[0][i]), y = size_of(places.values[1][i]);
  const double ex = places.error(0, i), ey = places.error(1, i);
  const double quotient = size_of(places.results[i]);
  if (!std::isfinite(quotient) || !std::isfinite(x) || !std::isfinite(y) || y <= 2 * ey) {
    return unknown;
  }
  const double spread =
      ex == 0 && ey == 0 ? 0 : 4 * (ex + (ey == 0 ? 0 : ey * quotient)) / (y - 1.5 * ey);
  return rounding_bound(part, quotient, spread, 16);
}

// The op in c128 at the four ends of what each operand may be; both at once move no farther than
// one after the other, about.
std::vector<double> spread_of_function(const Node& node, std::span<const Bounded> operands,
                                       const Places& places) {
  const Shape& shape = node.types[0].shape;
  const Node wide{node.op, {Type{c128, shape}}, {}, node.attributes, {}, {}};
  std::vector<Literal> middle;
  for (const auto& values : places.values) {
    middle.push_back(Literal::of(std::span<const Complex>(values), shape));
  }
  const auto of_middle = complex_numbers(interpret(wide, middle)[0]);
  std::vector<double> spread(of_middle.size(), 0);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    for (Complex direction : {Complex(1, 0), Complex(-1, 0), Complex(0, 1), Complex(0, -1)}) {
      std::vector<Complex> moved = places.values[k];
      for (std::size_t i = 0; i < moved.size(); ++i) {
        if (places.error(k, i) != 0) moved[i] += 1.5 * places.error(k, i) * direction;
      }
      std::vector<Literal> arguments = middle;
      arguments[k] = Literal::of(std::span<const Complex>(moved), shape);
      const auto there = complex_numbers(interpret(wide, arguments)[0]);
      for (std::size_t i = 0; i < spread.size(); ++i) {
        if (places.error(k, i) == 0) continue;
        const double apart = distance(there[i], of_middle[i]);
        spread[i] = apart < unknown ? std::max({spread[i], 4 * apart, least}) : unknown;
      }
    }
  }
  // A pole or a cut may be near.
  for (std::size_t i = 0; i < spread.size(); ++i) {
    if (spread[i] > 0.1 * size_of(of_middle[i])) spread[i] = unknown;
  }
  return spread;
}

// In units in the last place of the greater part.
double units_of(const Node& node, const Places& places, std::size_t i, double units) {
  if (node.op != Op::power) return 4 * units;
  const Complex turns = places.values[1][i] * std::log(places.values[0][i]);
  return 4 * units * (1 + std::abs(turns));
}

bool is_tame(Complex z) {
  const double size = size_of(z);
  return size == 0 || (size > 0x1p-480 && size < 0x1p480);
}

double bound_of_element(const Node& node, const Places& places, std::size_t i, double units) {
  const Dtype to = node.types[0].dtype, part = part_dtype(to);
  const double size = size_of(places.results[i]);
  switch (node.op) {
    case Op::compare:
      return spread_of_comparison(places, i);
    case Op::is_finite:
      return places.error(0, i) < unknown ? 0 : unknown;
    case Op::multiply:
      return bound_of_product(part, places, i);
    case Op::divide: {
      const bool tame = is_tame(places.values[0][i]) && is_tame(places.values[1][i]);
      return tame ? bound_of_quotient(part, places, i) : unknown;
    }
    case Op::abs:
      return rounding_bound(part, size, 1.5 * places.error(0, i), units);
    case Op::convert:
      if (!is_float(part)) return spread_of_conversion(node, places, i);
      [[fallthrough]];
    default:
      return rounding_bound(part, size, linear_spread(node, places, i), 0);
  }
}

bool is_function(Op op) {
  switch (op) {
    case Op::real:
    case Op::imag:
    case Op::complex:
    case Op::negate:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::convert:
    case Op::select:
    case Op::compare:
    case Op::is_finite:
    case Op::abs:
      return false;
    default:
      return true;
  }
}

Numbers bounds_of_elements(const Node& node, std::span<const Bounded> operands,
                           const Literal& value, double units, bool unrounded) {
  Places places;
  for (const Bounded& operand : operands) {
    places.values.push_back(complex_numbers(operand.value));
    places.errors.push_back((unrounded ? operand.unrounded : operand.bound).values<double>());
  }
  places.results = complex_numbers(value);
  Numbers bounds(places.results.size());
  if (!is_function(node.op)) {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      bounds[i] = bound_of_element(node, places, i, units);
    }
    return bounds;
  }
  const Numbers spread = spread_of_function(node, operands, places);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const Complex z = places.values[0][i];
    const bool finite = std::isfinite(size_of(z)) && std::isfinite(size_of(places.results[i]));
    bounds[i] = finite ? rounding_bound(part_dtype(node.types[0].dtype), size_of(places.results[i]),
                                        spread[i], units_of(node, places, i, units))
                       : unknown;
  }
  return bounds;
}

// --- reductions and dot
// ------------------------------------------------------------------------------

// The same op on the numbers' sizes, which do not cancel.
Bounded sizes_of(const Bounded& operand) {
  const Type part{part_dtype(operand.value.type().dtype), operand.value.type().shape};
  Numbers sizes;
  for (Complex z : complex_numbers(operand.value)) sizes.push_back(std::hypot(z.real(), z.imag()));
  const Node narrow{Op::convert, {part}, {}, NoAttributes{}, {}, {}};
  const std::vector<Literal> wide = {literal_of(part.shape, sizes)};
  return {interpret(narrow, wide)[0], operand.bound, operand.bound};
}

Numbers bounds_of_sums(const Node& node, std::span<const Bounded> operands, const Literal& value,
                       double units) {
  std::vector<Bounded> sizes;
  bool finite = true;
  for (const Bounded& operand : operands) {
    sizes.push_back(sizes_of(operand));
    for (Complex z : complex_numbers(sizes.back().value))
      finite = finite && std::isfinite(z.real());
  }
  const Type type{part_dtype(node.types[0].dtype), node.types[0].shape};
  const Node real{node.op, {type}, {}, node.attributes, {}, {}};
  const Bounded of_sizes = interpret_bounded(real, sizes, units)[0];
  const auto bounds = of_sizes.bound.values<double>();
  const auto results = complex_numbers(value);
  const bool is_running = node.op == Op::cumulative;
  const bool only_adds =
      is_running ? node.as<CumulativeAttributes>().of == Running::sum : node.op == Op::reduce_sum;
  Numbers made;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const bool known = finite && std::isfinite(size_of(results[i])) && bounds[i] < unknown;
    made.push_back(!known ? unknown : only_adds ? bounds[i] : std::max(8 * bounds[i], least));
  }
  return made;
}

}  // namespace

bool computes_with_complex(const Node& node, std::span<const Bounded> operands) {
  const OpKind kind = info(node.op).kind;
  if (node.op == Op::cumulative) return is_complex(node.types[0].dtype);
  if (!is_elementwise(node.op) && kind != OpKind::library &&
      (!is_reduction(node.op) || node.op == Op::reduce)) {
    return false;
  }
  return is_complex(node.types[0].dtype) || is_complex(operands.back().value.type().dtype);
}

Bounded complex_bounded(const Node& node, std::span<const Bounded> operands, Literal value,
                        double units) {
  const Shape& shape = value.type().shape;
  if (!is_elementwise(node.op)) {
    const Literal bound = literal_of(shape, bounds_of_sums(node, operands, value, units));
    return {std::move(value), bound, bound};
  }
  const Literal bound = literal_of(shape, bounds_of_elements(node, operands, value, units, false));
  const Literal unrounded =
      literal_of(shape, bounds_of_elements(node, operands, value, units, true));
  return {std::move(value), bound, unrounded};
}

}  // namespace anabranch
