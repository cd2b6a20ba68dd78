#include "tests/support/error_bounds.h"

#include <algorithm>
#include <cmath>

#include "anabranch/error.h"
#include "ir/graph/walk.h"
#include "ir/interpret/interpret.h"
#include "tests/support/complex_bounds.h"
#include "tests/support/fft_bounds.h"
#include "tests/support/matrix_bounds.h"
#include "tests/support/spread.h"

namespace anabranch {
namespace {

using Numbers = std::vector<double>;

Literal literal_of(const Shape& shape, const Numbers& numbers) {
  return Literal::of(std::span<const double>(numbers), shape);
}

Literal all(const Shape& shape, double number) {
  return literal_of(shape, Numbers(static_cast<std::size_t>(shape.size()), number));
}

// One op as arithmetic on whole arrays, which the analysis is written in.
Literal apply(Op op, Type type, std::vector<Literal> operands, Attributes attributes = {}) {
  const Node node{op, {std::move(type)}, {}, std::move(attributes), {}, {}};
  return interpret(node, operands)[0];
}

Literal as_f64(const Literal& literal) {
  return apply(Op::convert, {f64, literal.type().shape}, {literal});
}

// The same op with f64 in place of the result's dtype.
Literal in_f64(const Node& node, std::vector<Literal> operands) {
  return apply(node.op, {f64, node.types[0].shape}, std::move(operands), node.attributes);
}

Numbers numbers_of(const Literal& literal) {
  const Literal wide = as_f64(literal);
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

bool is_exact(const Literal& bound) {
  return std::ranges::all_of(bound.values<double>(), [](double error) { return error == 0; });
}

bool all_exact(std::span<const Bounded> operands) {
  return std::ranges::all_of(operands, [](const Bounded& b) { return is_exact(b.bound); });
}

// The two ends of what an inexact float may be.
struct Ends {
  Literal low, middle, high;
};

Ends ends_of(const Bounded& operand) {
  const Literal x = as_f64(operand.value);
  return {apply(Op::subtract, x.type(), {x, operand.bound}), x,
          apply(Op::add, x.type(), {x, operand.bound})};
}

// --- elementwise
// -------------------------------------------------------------------------------------

// Unknown wherever any operand has an error.
Numbers all_or_nothing(const Node& node, std::span<const Bounded> operands) {
  Numbers spread(static_cast<std::size_t>(node.types[0].size()), 0);
  for (const Bounded& operand : operands) {
    auto errors = operand.bound.values<double>();
    for (std::size_t i = 0; i < spread.size(); ++i) {
      if (errors[i] != 0) spread[i] = unknown;
    }
  }
  return spread;
}

// The op at both ends, for one that is monotone (or convex) between them.
Numbers spread_by_ends(const Node& node, const Bounded& operand) {
  const Ends ends = ends_of(operand);
  const Numbers low = numbers_of(in_f64(node, {ends.low}));
  const Numbers middle = numbers_of(in_f64(node, {ends.middle}));
  const Numbers high = numbers_of(in_f64(node, {ends.high}));
  const Numbers operands = numbers_of(ends.middle);
  auto errors = operand.bound.values<double>();
  Numbers spread(errors.size());
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const double a = low[i], b = middle[i], c = high[i];
    const bool one_sign = std::signbit(a) == std::signbit(b) && std::signbit(b) == std::signbit(c);
    const bool same = (a == b && b == c && one_sign) || (a != a && b != b && c != c);
    // The ends say nothing of what lies between them at the poles of tan, and for acos, asin, atanh
    // and erf_inv where both are outside of all that these take.
    const bool near_pole = node.op == Op::tan && errors[i] * (1 + b * b) > 0.1;
    const bool around_domain = b != b && std::fabs(operands[i]) <= errors[i];
    if (errors[i] == 0) {
      spread[i] = 0;
    } else if (errors[i] == unknown || near_pole || around_domain) {
      spread[i] = unknown;
    } else if (!same) {
      const double below = std::fabs(a - b), above = std::fabs(c - b);
      // Zeros of both signs are no distance apart, and are not the same.
      constexpr double least = std::numeric_limits<double>::denorm_min();
      spread[i] = below == below && above == above ? std::max({below, above, least}) : unknown;
    }
  }
  return spread;
}

// Whether an inexact float converts to the same integer or bool from either end of its range.
Numbers spread_of_conversion(const Node& node, const Bounded& operand) {
  const Ends ends = ends_of(operand);
  const Literal low = apply(Op::convert, node.types[0], {ends.low});
  const Literal high = apply(Op::convert, node.types[0], {ends.high});
  const Numbers middle = numbers_of(ends.middle);
  auto errors = operand.bound.values<double>();
  Numbers spread(errors.size());
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const bool may_be_zero = node.types[0].dtype == bool_ && !(std::fabs(middle[i]) > errors[i]);
    const bool same = low.bits(at) == high.bits(at) && !may_be_zero && errors[i] < unknown;
    spread[i] = errors[i] == 0 || same ? 0 : unknown;
  }
  return spread;
}

// What bits a NaN has is nowhere promised.
Numbers spread_of_bitcast(const Node& node, std::span<const Bounded> operands) {
  Numbers spread = all_or_nothing(node, operands);
  if (!is_float(operands[0].value.type().dtype)) return spread;
  const Numbers numbers = numbers_of(operands[0].value);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    if (std::isnan(numbers[i])) spread[i] = unknown;
  }
  return spread;
}

Numbers spread_of_elementwise(const Node& node, std::span<const Bounded> operands) {
  const Dtype from = operands.back().value.type().dtype;
  if (node.op == Op::bitcast_convert) return spread_of_bitcast(node, operands);
  if (node.op == Op::convert && is_float(from) && !is_float(node.types[0].dtype)) {
    return spread_of_conversion(node, operands[0]);
  }
  if (!is_float(from)) return all_or_nothing(node, operands);
  if (goes_by_ends(node.op)) return spread_by_ends(node, operands[0]);

  const bool fuses = node.op == Op::add || node.op == Op::subtract;
  std::vector<Numbers> values;
  std::vector<std::span<const double>> errors;
  for (const Bounded& operand : operands) {
    values.push_back(numbers_of(operand.value));
    errors.push_back((fuses ? operand.unrounded : operand.bound).values<double>());
  }
  Numbers spread(values[0].size());
  std::vector<Point> points(operands.size());
  for (std::size_t i = 0; i < spread.size(); ++i) {
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = {values[k][i], errors[k][i]};
    spread[i] = spread_of(node.op, points);
  }
  return spread;
}

// --- reductions and dot
// ------------------------------------------------------------------------------

// What a float type's sums and products are accumulated in.
struct Accumulator {
  double epsilon, smallest, largest;
};
Accumulator accumulator_of(Dtype dtype) {
  if (dtype == f64) return {0x1p-53, 0, 0x1.fp1023};
  return {0x1p-24, 0x1p-126, 0x1.fp127};
}

// A sum, in any order, of `terms` terms whose magnitudes add up to `magnitude` and errors to
// `error`.
double spread_of_sum(Dtype dtype, double terms, double magnitude, double error) {
  const Accumulator in = accumulator_of(dtype);
  if (!(magnitude + error < in.largest / 4)) return unknown;
  if (magnitude == 0 && error == 0) return 0;
  return error + (terms + 2) * in.epsilon * magnitude + terms * in.smallest;
}

// |x| without what is not finite: what the rounding errors of a sum are in proportion to.
Literal finite_magnitudes(const Literal& x) {
  Numbers numbers = numbers_of(x);
  for (double& number : numbers) number = std::isfinite(number) ? std::fabs(number) : 0;
  return literal_of(x.type().shape, numbers);
}

// The most roundings that one term of a float sum over some axes meets: sums are taken in blocks
// (docs/ir.md).
double roundings_per_term(const Node& node, double terms) {
  const auto axes = static_cast<double>(node.as<AxesAttributes>().axes.size());
  return std::min(terms, 64 * (axes + 1) + 3 * std::log2(std::max(terms, 1.0)));
}

double terms_per_result(const Node& node, const Bounded& operand) {
  const std::int64_t results = std::max<std::int64_t>(node.types[0].size(), 1);
  return static_cast<double>(operand.value.type().size() / results);
}

// A product may reach a sum unrounded, as it may an addition.
Numbers spread_of_reduce_sum(const Node& node, const Bounded& operand) {
  const Numbers magnitudes = numbers_of(in_f64(node, {finite_magnitudes(operand.value)}));
  Numbers spread = numbers_of(in_f64(node, {operand.unrounded}));
  const double terms = terms_per_result(node, operand);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const bool is_copy = terms <= 1 && spread[i] == 0;
    if (is_copy) continue;
    spread[i] = spread_of_sum(node.types[0].dtype, roundings_per_term(node, terms), magnitudes[i],
                              spread[i]);
  }
  return spread;
}

// Of a product of `terms` factors, whose exponents' magnitudes add up to `range` and relative
// errors to `relative`. Factors so far from 1 that some order could over- or underflow on the way
// leave it unknown.
double spread_of_product(Dtype dtype, double terms, double range, double relative, double product) {
  const bool is_copy = terms <= 1 && relative == 0;
  const double error = relative + terms * accumulator_of(dtype).epsilon;
  const bool is_safe = range < (dtype == f64 ? 900 : 110) && error < 0.1;
  const bool is_ordinary = std::isfinite(product) && product != 0;
  if (is_copy || (is_safe && !is_ordinary)) return 0;
  return is_safe ? 1.2 * error * std::fabs(product) : unknown;
}

Numbers spread_of_reduce_product(const Node& node, const Bounded& operand) {
  const Dtype dtype = node.types[0].dtype;
  const Shape& shape = operand.value.type().shape;
  const Numbers x = numbers_of(operand.value);
  auto errors = operand.bound.values<double>();
  Numbers exponents(x.size(), 0), relative(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_ordinary = std::isfinite(x[i]) && x[i] != 0;
    if (is_ordinary) exponents[i] = std::fabs(std::log2(std::fabs(x[i])));
    if (errors[i] != 0) relative[i] = is_ordinary ? errors[i] / std::fabs(x[i]) : unknown;
  }
  const Type type{f64, node.types[0].shape};
  const Numbers range =
      numbers_of(apply(Op::reduce_sum, type, {literal_of(shape, exponents)}, node.attributes));
  Numbers spread =
      numbers_of(apply(Op::reduce_sum, type, {literal_of(shape, relative)}, node.attributes));
  const Numbers products = numbers_of(in_f64(node, {as_f64(operand.value)}));
  const double terms = terms_per_result(node, operand);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = spread_of_product(dtype, terms, range[i], spread[i], products[i]);
  }
  return spread;
}

// The position is known where one element beats all others by more than the errors, or all are
// exact.
Numbers spread_of_position(const Node& node, const Bounded& operand) {
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  const AxesAttributes axes{{axis}};
  const Shape& shape = operand.value.type().shape;
  const Type kept{f64, node.types[0].shape};
  AxesAttributes kept_axes;
  for (std::int64_t other = 0; other < shape.rank(); ++other) {
    if (other != axis) kept_axes.axes.push_back(other);
  }
  Ends ends = ends_of(operand);
  const Type wide = ends.middle.type();
  if (node.op == Op::argmin) {
    std::swap(ends.low, ends.high);
    ends = {apply(Op::negate, wide, {ends.low}), ends.middle, apply(Op::negate, wide, {ends.high})};
  }
  const Literal best = apply(Op::reduce_max, kept, {ends.low}, axes);
  const Literal bar = apply(Op::broadcast_in_dim, wide, {best}, kept_axes);
  const Literal contends =
      apply(Op::compare, {bool_, shape}, {ends.high, bar}, CompareAttributes{Comparison::ge});
  const Numbers contenders = numbers_of(apply(Op::reduce_sum, kept, {as_f64(contends)}, axes));
  Numbers spread = numbers_of(apply(Op::reduce_max, kept, {operand.bound}, axes));
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = spread[i] == 0 || contenders[i] == 1 ? 0 : unknown;
  }
  return spread;
}

Numbers spread_of_reduction(const Node& node, const Bounded& operand) {
  const bool floats = is_float(operand.value.type().dtype);
  if (node.op == Op::argmax || node.op == Op::argmin) return spread_of_position(node, operand);
  if (floats && node.op == Op::reduce_sum) return spread_of_reduce_sum(node, operand);
  if (floats && node.op == Op::reduce_product) return spread_of_reduce_product(node, operand);
  const Type type{f64, node.types[0].shape};
  return numbers_of(apply(Op::reduce_max, type, {operand.bound}, node.attributes));
}

bool has_infinity(const Bounded& operand) {
  return std::ranges::any_of(numbers_of(operand.value), [](double x) { return std::isinf(x); });
}

bool is_all_finite(const Literal& x) {
  return std::ranges::all_of(numbers_of(x), [](double number) { return std::isfinite(number); });
}

// Products of bf16 may take a subnormal number for 0 (docs/ir.md).
Bounded perhaps_flushed(Bounded operand) {
  const Numbers numbers = numbers_of(operand.value);
  Numbers errors(operand.bound.values<double>().begin(), operand.bound.values<double>().end());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double magnitude = std::fabs(numbers[i]);
    if (magnitude < 0x1p-126) errors[i] += magnitude;
  }
  operand.bound = literal_of(operand.value.type().shape, errors);
  return operand;
}

// 1 where x differs from 0.
Literal nonzero(const Literal& x) {
  Numbers numbers = numbers_of(x);
  for (double& number : numbers) number = number != 0 ? 1 : 0;
  return literal_of(x.type().shape, numbers);
}

// Of each sum of a dot or a convolution.
double terms_of(const Node& node, const Type& lhs, const Type& rhs) {
  const auto product = [](const Type& type, std::span<const std::int64_t> axes) {
    double terms = 1;
    for (std::int64_t axis : axes) terms *= static_cast<double>(type.shape[static_cast<int>(axis)]);
    return terms;
  };
  if (node.op == Op::dot) return product(lhs, node.as<DotAttributes>().lhs_contracting);
  const auto& a = node.as<ConvolutionAttributes>();
  return product(rhs, std::span(a.rhs_axes).subspan(1)) / static_cast<double>(a.feature_splits);
}

// Whether a convolution puts zeros around or between elements of its left operand, whose products
// may be left out.
bool puts_zeros(const Node& node) {
  const auto* a = std::get_if<ConvolutionAttributes>(&node.attributes);
  const auto is_positive = [](std::int64_t padding) { return padding > 0; };
  return a &&
         (std::ranges::any_of(a->low, is_positive) || std::ranges::any_of(a->high, is_positive) ||
          std::ranges::count(a->lhs_dilations, 1) <
              static_cast<std::ptrdiff_t>(a->lhs_dilations.size()));
}

Numbers spread_of_dot(const Node& node, std::span<const Bounded> given) {
  const Dtype dtype = node.types[0].dtype;
  std::vector<Bounded> operands(given.begin(), given.end());
  if (dtype == bf16) {
    for (Bounded& operand : operands) operand = perhaps_flushed(std::move(operand));
    if (!all_exact(operands) && std::ranges::any_of(operands, has_infinity)) {
      return Numbers(static_cast<std::size_t>(node.types[0].size()), unknown);
    }
  }
  const bool exact = all_exact(operands);
  if (!is_float(dtype)) {
    return Numbers(static_cast<std::size_t>(node.types[0].size()), exact ? 0 : unknown);
  }
  if (puts_zeros(node) && !is_all_finite(operands[1].value)) {
    return Numbers(static_cast<std::size_t>(node.types[0].size()), unknown);
  }
  const Literal x = finite_magnitudes(operands[0].value);
  const Literal y = finite_magnitudes(operands[1].value);
  const Numbers magnitudes = numbers_of(in_f64(node, {x, y}));
  const Numbers upper =
      numbers_of(in_f64(node, {apply(Op::add, x.type(), {x, operands[0].bound}),
                               apply(Op::add, y.type(), {y, operands[1].bound})}));
  const double terms = terms_of(node, x.type(), y.type());
  // A product that is no zero, but underflows, gives a zero of its sign or, contracted, is lost.
  const Numbers products = numbers_of(in_f64(node, {nonzero(x), nonzero(y)}));
  Numbers spread(magnitudes.size());
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const double error = exact ? 0 : upper[i] - magnitudes[i] + 0x1p-50 * upper[i];
    spread[i] = spread_of_sum(dtype, terms, magnitudes[i], error);
    if (dtype == f64 && spread[i] != unknown) spread[i] += products[i] * 0x1p-1074;
  }
  return spread;
}

// --- in order along an axis
// ------------------------------------------------------------------------------------------

std::int64_t axis_of(const Node& node) {
  if (node.op == Op::sort) return node.as<SortAttributes>().axis;
  if (node.op == Op::argsort) return node.as<ArgsortAttributes>().axis;
  return node.as<CumulativeAttributes>().axis;
}

// The element of rank i moves by no more than any element does; a position may be any where not all
// elements are exact.
Numbers spread_of_sort(const Node& node, const Bounded& operand) {
  const Shape& shape = operand.value.type().shape;
  AxesAttributes line{{axis_of(node)}}, others;
  std::vector<std::int64_t> sizes;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis == line.axes[0]) continue;
    others.axes.push_back(axis);
    sizes.push_back(shape[static_cast<int>(axis)]);
  }
  const Literal most = apply(Op::reduce_max, {f64, Shape(sizes)}, {operand.bound}, line);
  Numbers spread = numbers_of(apply(Op::broadcast_in_dim, {f64, shape}, {most}, others));
  if (node.op == Op::argsort) {
    for (double& error : spread) error = error == 0 ? 0 : unknown;
  }
  return spread;
}

// The same running combination of other numbers, in f64.
Numbers running(const Node& node, const Literal& numbers, Running of) {
  CumulativeAttributes attributes = node.as<CumulativeAttributes>();
  attributes.of = of;
  return numbers_of(apply(Op::cumulative, numbers.type(), {numbers}, attributes));
}

// Each sum and product as that of a reduction of what it combines, in any order.
Numbers spread_of_cumulative(const Node& node, const Bounded& operand) {
  const Dtype dtype = node.types[0].dtype;
  const Running of = node.as<CumulativeAttributes>().of;
  const bool adds = of == Running::sum;
  if (!is_float(dtype) || (!adds && of != Running::product)) {
    return running(node, operand.bound, Running::maximum);
  }
  const Shape& shape = node.types[0].shape;
  const Numbers terms = running(node, all(shape, 1), Running::sum);
  const Numbers x = numbers_of(operand.value);
  Numbers spread(x.size());
  if (adds) {
    const Numbers magnitudes = running(node, finite_magnitudes(operand.value), Running::sum);
    const Numbers errors = running(node, operand.bound, Running::sum);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      const bool is_copy = terms[i] == 1 && errors[i] == 0;
      spread[i] = is_copy ? 0 : spread_of_sum(dtype, terms[i], magnitudes[i], errors[i]);
    }
    return spread;
  }
  const auto errors = operand.bound.values<double>();
  Numbers exponents(x.size(), 0), relative(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_ordinary = std::isfinite(x[i]) && x[i] != 0;
    if (is_ordinary) exponents[i] = std::fabs(std::log2(std::fabs(x[i])));
    if (errors[i] != 0) relative[i] = is_ordinary ? errors[i] / std::fabs(x[i]) : unknown;
  }
  const Numbers range = running(node, literal_of(shape, exponents), Running::sum);
  const Numbers error = running(node, literal_of(shape, relative), Running::sum);
  const Numbers products = running(node, as_f64(operand.value), Running::product);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = spread_of_product(dtype, terms[i], range[i], error[i], products[i]);
  }
  return spread;
}

// --- any op
// ------------------------------------------------------------------------------------------

Numbers spread_of_node(const Node& node, std::span<const Bounded> operands) {
  if (is_elementwise(node.op)) return spread_of_elementwise(node, operands);
  if (is_reduction(node.op)) return spread_of_reduction(node, operands[0]);
  return spread_of_dot(node, operands);
}

// Whether even exact operands leave the result open.
bool is_free(const Node& node) {
  if (node.op == Op::bitcast_convert) return true;
  if (!is_float(node.types[0].dtype)) return false;
  return info(node.op).has(OpInfo::approximate) || node.op == Op::reduce_sum ||
         node.op == Op::reduce_product || info(node.op).kind == OpKind::library;
}

// The spread of the unrounded result and its rounding to the dtype.
Literal rounded(const Node& node, const Literal& value, Numbers spread, double units) {
  const Dtype dtype = node.types[0].dtype;
  if (is_float(dtype)) {
    const double own = info(node.op).has(OpInfo::approximate) ? units : 0;
    const Numbers numbers = numbers_of(value);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      spread[i] = rounding_bound(dtype, numbers[i], spread[i], own);
    }
  }
  return literal_of(value.type().shape, spread);
}

// A product may reach an addition unrounded, also by way of ops that simplify to one of their
// operands (x / 1, the maximum of x and x).
Literal unrounded(const Node& node, std::span<const Bounded> operands, const Bounded& result,
                  double units) {
  const Dtype dtype = node.types[0].dtype;
  if (dtype != f32 && dtype != f64) return result.bound;
  Literal bound = result.bound;
  const bool passes_on =
      std::ranges::any_of(operands, [](const Bounded& b) { return !(b.unrounded == b.bound); });
  if (passes_on) {
    std::vector<Bounded> as_they_reach_it(operands.begin(), operands.end());
    for (Bounded& operand : as_they_reach_it) operand.bound = operand.unrounded;
    bound = rounded(node, result.value, spread_of_node(node, as_they_reach_it), units);
  }
  if (node.op != Op::multiply) return bound;
  const Numbers numbers = numbers_of(result.value);
  Numbers sum = numbers_of(bound);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    // An overflow may not happen in the sum.
    sum[i] += std::isinf(numbers[i])   ? unknown
              : std::isnan(numbers[i]) ? 0
                                       : ulp(dtype, numbers[i]);
  }
  return literal_of(result.value.type().shape, sum);
}

// What comes of something that may have gone either way.
std::vector<Bounded> all_unknown(std::vector<Literal> values) {
  std::vector<Bounded> results;
  for (Literal& value : values) {
    const Literal bound = all(value.type().shape, unknown);
    results.push_back({std::move(value), bound, bound});
  }
  return results;
}

// The operands that say where to move from or to, and not what.
std::size_t first_start(const Node& node) {
  if (node.op == Op::dynamic_slice || node.op == Op::gather) return 1;
  return node.op == Op::dynamic_update_slice ? 2 : node.inputs.size();
}

// Index ops move bounds as they move elements.
std::vector<Bounded> moved(const Node& node, std::span<const Bounded> operands, Literal value) {
  std::vector<Literal> bounds, unrounded_bounds;
  const std::size_t arrays = first_start(node);
  if (!all_exact(operands.subspan(arrays))) return all_unknown({std::move(value)});
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bounds.push_back(i < arrays ? operands[i].bound : operands[i].value);
    unrounded_bounds.push_back(i < arrays ? operands[i].unrounded : operands[i].value);
  }
  return {{std::move(value), in_f64(node, bounds), in_f64(node, unrounded_bounds)}};
}

// A general body runs in one order, so that exact operands give exact results; it may add, so that
// they are exact only where no product reaches it unrounded.
std::vector<Bounded> folded(std::span<const Bounded> operands, const std::vector<Literal>& values) {
  const bool exact = std::ranges::all_of(
      operands, [](const Bounded& b) { return is_exact(b.bound) && is_exact(b.unrounded); });
  std::vector<Bounded> results;
  for (const Literal& value : values) {
    const Literal bound = all(value.type().shape, exact ? 0 : unknown);
    results.push_back({value, bound, bound});
  }
  return results;
}

// The functions of random graphs only move elements (random_calls.cpp), and so their bounds; they
// read and write memory, where all is rounded.
std::vector<Bounded> called(const Node& node, std::span<const Bounded> operands,
                            std::vector<Literal> values) {
  if (!node.as<CustomCallAttributes>().name.starts_with("moves_")) {
    throw InternalError("error bounds", "of a function that is none of random_calls.cpp's");
  }
  Node on_bounds = node;
  for (Type& type : on_bounds.types) type.dtype = f64;
  std::vector<Literal> bounds;
  for (const Bounded& operand : operands) bounds.push_back(operand.bound);
  bounds = interpret(on_bounds, bounds);
  std::vector<Bounded> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    results.push_back({std::move(values[i]), bounds[i], bounds[i]});
  }
  return results;
}

// One element after the other is combined and rounded, on every device in one order: exact operands
// give exact results. What is replaced is moved, bounds and all.
std::vector<Bounded> scattered(const Node& node, std::span<const Bounded> operands, Literal value) {
  const auto& attributes = node.as<ScatterAttributes>();
  const bool exact = is_exact(operands[0].bound) && is_exact(operands[2].bound);
  if (!is_exact(operands[1].bound)) return all_unknown({std::move(value)});
  if (exact) return {Bounded::exact(std::move(value))};
  const auto combined = [&](ScatterCombiner combiner, const Literal& x, const Literal& updates) {
    ScatterAttributes with = attributes;
    with.combiner = combiner;
    return apply(Op::scatter, {f64, node.types[0].shape}, {x, operands[1].value, updates}, with);
  };
  const auto bounds_by = [&](ScatterCombiner combiner) {
    return combined(combiner, operands[0].bound, operands[2].bound);
  };
  const bool is_wide = node.types[0].dtype == f32 || node.types[0].dtype == f64;
  Literal bound;
  if (attributes.combiner == ScatterCombiner::replace) {
    bound = bounds_by(ScatterCombiner::replace);
  } else if (attributes.combiner == ScatterCombiner::add && is_wide) {
    const Numbers terms = numbers_of(combined(ScatterCombiner::add, all(node.types[0].shape, 1),
                                              all(operands[2].value.type().shape, 1)));
    const Numbers magnitudes =
        numbers_of(combined(ScatterCombiner::add, finite_magnitudes(operands[0].value),
                            finite_magnitudes(operands[2].value)));
    Numbers spread = numbers_of(bounds_by(ScatterCombiner::add));
    for (std::size_t i = 0; i < spread.size(); ++i) {
      if (spread[i] == 0) continue;
      spread[i] = spread_of_sum(node.types[0].dtype, terms[i], magnitudes[i], spread[i]);
    }
    bound = rounded(node, value, std::move(spread), 1);
  } else {
    return all_unknown({std::move(value)});
  }
  return {{std::move(value), bound, bound}};
}

// What the host computes reads and writes memory, where all is rounded.
std::vector<Bounded> in_order(const Node& node, const Bounded& operand, Literal value,
                              double units) {
  Numbers spread = node.op == Op::cumulative ? spread_of_cumulative(node, operand)
                                             : spread_of_sort(node, operand);
  const bool rounds = node.op == Op::cumulative && is_float(node.types[0].dtype);
  const Literal bound = rounds ? rounded(node, value, std::move(spread), units)
                               : literal_of(value.type().shape, spread);
  return {{std::move(value), bound, bound}};
}

std::vector<Bounded> run_bounded(const Graph& graph, std::span<const Bounded> inputs,
                                 double units) {
  return walk(graph, inputs, [units](const Node& node, std::span<const Bounded> operands) {
    return interpret_bounded(node, operands, units);
  });
}

// Turn by turn, for as long as the condition is certain.
std::vector<Bounded> looped(const Node& node, std::span<const Bounded> operands, double units) {
  std::vector<Bounded> values(operands.begin(), operands.end());
  while (true) {
    const Bounded holds = run_bounded(node.regions[0], values, units)[0];
    if (!is_exact(holds.bound)) {
      std::vector<Literal> literals;
      for (const Bounded& operand : operands) literals.push_back(operand.value);
      return all_unknown(interpret(node, literals));
    }
    if (!holds.value.values<bool>()[0]) break;
    std::vector<Bounded> next = run_bounded(node.regions[1], values, units);
    std::move(next.begin(), next.end(), values.begin());
  }
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(node.types.size()), values.end());
  return values;
}

std::vector<Bounded> branched(const Node& node, std::span<const Bounded> operands, double units) {
  if (!is_exact(operands[0].bound)) {
    std::vector<Literal> literals;
    for (const Bounded& operand : operands) literals.push_back(operand.value);
    return all_unknown(interpret(node, literals));
  }
  const std::int64_t wanted = operands[0].value.values<std::int32_t>()[0];
  const auto last = static_cast<std::int64_t>(node.regions.size()) - 1;
  const auto branch = static_cast<std::size_t>(wanted < 0 || wanted > last ? last : wanted);
  return run_bounded(node.regions[branch], operands.subspan(1), units);
}

}  // namespace

Bounded Bounded::exact(Literal value) {
  Literal bound = all(value.type().shape, 0);
  return {std::move(value), bound, bound};
}

double units_missed(const Device& device) { return device.kind() == DeviceKind::cuda ? 6 : 3; }

std::vector<Bounded> interpret_bounded(const Node& node, std::span<const Bounded> operands,
                                       double units) {
  if (node.op == Op::fusion) throw InternalError("error bounds", "of a fusion");
  if (node.op == Op::while_) return looped(node, operands, units);
  if (node.op == Op::case_) return branched(node, operands, units);
  if (node.op == Op::transfer || node.op == Op::optimization_barrier) return {operands[0]};
  if (node.op == Op::composite) return run_bounded(node.regions[0], operands, units);
  std::vector<Literal> literals;
  for (const Bounded& operand : operands) literals.push_back(operand.value);
  std::vector<Literal> values = interpret(node, literals);
  if (node.op == Op::check) return {operands.begin() + 1, operands.end()};
  if (is_index(node.op)) return moved(node, operands, std::move(values[0]));
  if (node.op == Op::reduce) return folded(operands, values);
  if (node.op == Op::scatter) return scattered(node, operands, std::move(values[0]));
  const bool is_ordered = node.op == Op::sort || node.op == Op::argsort;
  if (is_ordered || (node.op == Op::cumulative && !is_complex(node.types[0].dtype))) {
    return in_order(node, operands[0], std::move(values[0]), units);
  }
  if (node.op == Op::custom_call) return called(node, operands, std::move(values));
  if (node.op == Op::fft) return {fft_bounded(node, operands[0], std::move(values[0]))};
  if (is_call(node.op) && node.op != Op::cumulative)
    return matrix_bounds(node, operands, std::move(values));
  if (computes_with_complex(node, operands)) {
    return {complex_bounded(node, operands, std::move(values[0]), units)};
  }
  Bounded result = Bounded::exact(values[0]);
  const bool exact = std::ranges::all_of(
      operands, [&](const Bounded& b) { return is_exact(b.bound) && is_exact(b.unrounded); });
  if (!exact || is_free(node)) {
    result.bound = rounded(node, values[0], spread_of_node(node, operands), units);
  }
  result.unrounded = unrounded(node, operands, result, units);
  return {result};
}

std::vector<Bounded> interpret_bounded(const Graph& graph, std::span<const Literal> inputs,
                                       double units) {
  std::vector<Bounded> exact;
  for (const Literal& input : inputs) exact.push_back(Bounded::exact(input));
  return run_bounded(graph, exact, units);
}

}  // namespace anabranch
