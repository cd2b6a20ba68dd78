#include "anabranch/statistics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "anabranch/arrange.h"
#include "anabranch/creation.h"
#include "anabranch/gather.h"
#include "anabranch/linear_algebra.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "anabranch/sort.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Term filled_like(const Term& x, double number) {
  const Type& type = type_of(x.array());
  const Array scalar = number_as("fill", Number(number), type.dtype, x.where());
  return {broadcast_to_shape("fill", scalar, type.shape, x.where()), x.where()};
}

// x with a number in place of NaN.
Term without_nan(const Term& x, double number) {
  const Dtype dtype = x.array().dtype();
  if (!is_float(dtype) && !is_complex(dtype)) return x;
  return where(x == x, x, filled_like(x, number));
}

// How many elements are no NaN, in x's dtype.
Term count_of_numbers(const Term& x, const Axes& axes, bool keep) {
  return sum_in_own_dtype(converted(x == x, x.array().dtype()), axes, keep);
}

// The lines that a quantile is taken of, as a last axis, and the shape that it is given.
struct QuantileLines {
  Term x;
  Shape result;

  QuantileLines(const char* function, const Term& given, const Axes& axes, bool keep) : x(given) {
    const Shape shape = type_of(given.array()).shape;
    const std::vector<std::int64_t> folded = folded_axes_of_some(function, given, axes);
    std::vector<std::int64_t> order, kept, sizes;
    std::int64_t extent = 1;
    for (std::int64_t axis = 0, next = 0; axis < shape.rank(); ++axis) {
      const bool is_folded = next < static_cast<std::int64_t>(folded.size()) &&
                             folded[static_cast<std::size_t>(next)] == axis;
      const std::int64_t size = shape[static_cast<int>(axis)];
      if (is_folded) {
        extent *= size;
        ++next;
        if (keep) sizes.push_back(1);
      } else {
        order.push_back(axis);
        kept.push_back(size);
        sizes.push_back(size);
      }
    }
    order.insert(order.end(), folded.begin(), folded.end());
    kept.push_back(extent);
    const Array moved = order.empty() ? given.array() : permute_dims(given, Axes(order));
    x = {reshape({moved, given.where()}, Sizes(kept, given.where())), given.where()};
    result = Shape(sizes);
  }
};

/// As shares of a line, each given in parts of `whole`.
std::vector<double> shares_of(const char* function, const Quantiles& q, double whole,
                              SourceLocation where) {
  if (q.all().empty()) fail(std::string(function) + ": no q; give one or more", where);
  std::vector<double> shares;
  for (double given : q.all()) {
    if (!(given >= 0 && given <= whole)) {
      fail(fmt::format("{}: q is {}, and not from 0 to {}", function, given, whole), where);
    }
    shares.push_back(given / whole);
  }
  return shares;
}

// Between the elements below and above, `part` of the way.
Term interpolated(const Term& below, const Term& above, const Term& part, Interpolation how) {
  switch (how) {
    case Interpolation::lower:
      return below;
    case Interpolation::higher:
      return where(part > 0, above, below);
    case Interpolation::midpoint:
      return where(part > 0, below * 0.5 + above * 0.5, below);
    case Interpolation::nearest:
      return where(part > 0.5, above, below);
    case Interpolation::linear:
      break;
  }
  // Infinities meet no 0, and equal ends stay as they are; the derivative is by both of these, too.
  const Term is_one = below == above;
  const Term mixed =
      where(is_one, below - (below - above) * part, below * (1 - part) + above * part);
  return where((part == 0) | (is_one & !isfinite(below)), below, mixed);
}

// Of sorted lines, which are known to be whole.
Term whole_quantile(const Term& sorted, double q, Interpolation how) {
  const Shape& shape = type_of(sorted.array()).shape;
  const std::int64_t extent = shape[shape.rank() - 1];
  const double place = q * static_cast<double>(extent - 1);
  const auto low = static_cast<std::int64_t>(std::floor(place));
  const std::int64_t high = std::min(low + 1, extent - 1);
  double part = place - std::floor(place);
  if (how == Interpolation::nearest) part = std::nearbyint(place) - static_cast<double>(low);
  const auto element = [&](std::int64_t at) {
    return Term(index(sorted, at, Axis(-1)), sorted.where());
  };
  const Term below = element(low);
  const Term mixed = interpolated(below, element(high), filled_like(below, part), how);
  const Term last = element(extent - 1);  // NaN if any is
  return where(last == last, mixed, last);
}

/// Sorted lines, and of each share what is there, as `find` has it.
template <class Find>
Array quantiles_of(const char* function, const Operand& x, const Quantiles& q, double whole,
                   const Axes& axes, bool keep, const Find& find) {
  const Term given = term(function, x);
  const std::vector<double> shares = shares_of(function, q, whole, x.where());
  const QuantileLines lines(function, widened(given), axes, keep);
  const Term sorted = {sort(lines.x), x.where()};
  std::vector<Operand> all;
  for (double share : shares) {
    const Term found = find(lines.x, sorted, share);
    all.emplace_back(rounded_as(given, {reshape(found, Sizes(lines.result)), x.where()}),
                     x.where());
  }
  return q.is_one() ? all[0].array() : stack(Operands(all));
}

Array quantile_of(const char* function, const Operand& x, const Quantiles& q, double whole,
                  const Axes& axes, bool keep, Interpolation how) {
  const auto find = [how](const Term&, const Term& sorted, double share) {
    return whole_quantile(sorted, share, how);
  };
  return quantiles_of(function, x, q, whole, axes, keep, find);
}

// How many numbers a line has is known only when it runs.
Term quantile_of_numbers(const Term& line, const Term& sorted, double share, Interpolation how) {
  // In f64 whatever x is: a place between elements has more digits than they may have.
  const Term is_number = converted(line == line, f64);
  const Term count = sum_in_own_dtype(is_number, Axes(Axis(-1)), keepdims);
  const Term place = maximum(count - 1, 0) * share;
  const Term low = floor(place);
  const auto element = [&](const Term& at) {
    return Term(take_along_axis(sorted, converted(at, i64), -1, OutOfRange::clip), line.where());
  };
  Term part = place - low;
  if (how == Interpolation::nearest) part = {round(place) - low, line.where()};
  const Term below = element(low), above = element(minimum(low + 1, maximum(count - 1, 0)));
  const Term mixed = interpolated(below, above, converted(part, below.array().dtype()), how);
  return where(count > 0, mixed, filled_like(mixed, NAN));
}

Array nanquantile_of(const char* function, const Operand& x, const Quantiles& q, double whole,
                     const Axes& axes, bool keep, Interpolation how) {
  const auto find = [how](const Term& line, const Term& sorted, double share) {
    return quantile_of_numbers(line, sorted, share, how);
  };
  return quantiles_of(function, x, q, whole, axes, keep, find);
}

Term extreme_of_numbers(const char* function, const Operand& x, const Axes& axes, bool keep,
                        bool greatest) {
  const Term y = term(function, x, Takes::real_numbers);
  const Axes folded = folded_axes_of_some(function, y, axes);
  if (!is_float(y.array().dtype())) {
    return {greatest ? max(y, folded, keep) : min(y, folded, keep), x.where()};
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const Term rest = without_nan(y, greatest ? -infinity : infinity);
  const Term found = {greatest ? max(rest, folded, keep) : min(rest, folded, keep), x.where()};
  const Term is_any = {any(y == y, folded, keep), x.where()};
  return where(is_any, found, filled_like(found, NAN));
}

Array position_of_numbers(const char* function, const Operand& x, const Axes& axis, bool keep,
                          bool greatest) {
  const Term y = term(function, x, Takes::real_numbers);
  folded_axes_of_position(function, y, axis);
  const double infinity = std::numeric_limits<double>::infinity();
  const Term rest = without_nan(y, greatest ? -infinity : infinity);
  const Term found = {greatest ? argmax(rest, axis, keep) : argmin(rest, axis, keep), x.where()};
  if (!is_float(y.array().dtype())) return found;
  // The first number, where no number beats what stands for NaN.
  const Term first = {argmax(y == y, axis, keep), x.where()};
  const Term best = {greatest ? max(rest, axis, keep) : min(rest, axis, keep), x.where()};
  const Term is_any = {any(y == y, axis, keep), x.where()};
  const Term is_least = best == filled_like(best, greatest ? -infinity : infinity);
  const Term none = {broadcast_to_shape(function, number_as(function, Number(-1), i64, x.where()),
                                        type_of(found.array()).shape, x.where()),
                     x.where()};
  return where(is_any, where(is_least, first, found), none);
}

Term variance_of_numbers(const Term& x, const Axes& axes, bool keep, double correction) {
  const Term numbers = without_nan(x, 0);
  const Term mean = sum_in_own_dtype(numbers, axes, keepdims) / count_of_numbers(x, axes, keepdims);
  const Term away = where(x == x, numbers - mean, filled_like(x, 0));  // infinities leave it NaN
  const Term divisor = count_of_numbers(x, axes, keep) - correction;
  const Term total = sum_in_own_dtype(square(away), axes, keep);
  return where(divisor > 0, total / divisor, filled_like(total, NAN));
}

}  // namespace

Array quantile(const Operand& x, const Quantiles& q, const Axes& axes, bool keep,
               Interpolation how) {
  return quantile_of("quantile", x, q, 1, axes, keep, how);
}

Array percentile(const Operand& x, const Quantiles& q, const Axes& axes, bool keep,
                 Interpolation how) {
  return quantile_of("percentile", x, q, 100, axes, keep, how);
}

Array median(const Operand& x, const Axes& axes, bool keep) {
  return quantile_of("median", x, 0.5, 1, axes, keep, Interpolation::linear);
}

Array nanquantile(const Operand& x, const Quantiles& q, const Axes& axes, bool keep,
                  Interpolation how) {
  return nanquantile_of("nanquantile", x, q, 1, axes, keep, how);
}

Array nanpercentile(const Operand& x, const Quantiles& q, const Axes& axes, bool keep,
                    Interpolation how) {
  return nanquantile_of("nanpercentile", x, q, 100, axes, keep, how);
}

Array nanmedian(const Operand& x, const Axes& axes, bool keep) {
  return nanquantile_of("nanmedian", x, 0.5, 1, axes, keep, Interpolation::linear);
}

Array nansum(const Operand& x, const Axes& axes, bool keep) {
  const Term y = term("nansum", x, Takes::anything);
  return sum(without_nan(y, 0), folded_axes("nansum", y, axes), keep);
}

Array nanprod(const Operand& x, const Axes& axes, bool keep) {
  const Term y = term("nanprod", x, Takes::anything);
  return prod(without_nan(y, 1), folded_axes("nanprod", y, axes), keep);
}

Array nanmax(const Operand& x, const Axes& axes, bool keep) {
  return extreme_of_numbers("nanmax", x, axes, keep, true);
}

Array nanmin(const Operand& x, const Axes& axes, bool keep) {
  return extreme_of_numbers("nanmin", x, axes, keep, false);
}

Array nanmean(const Operand& x, const Axes& axes, bool keep) {
  const Term given = term("nanmean", x), y = widened(given);
  const Axes folded = folded_axes("nanmean", given, axes);
  return rounded_as(
      given, sum_in_own_dtype(without_nan(y, 0), folded, keep) / count_of_numbers(y, folded, keep));
}

Array nanvar(const Operand& x, const Axes& axes, bool keep, double correction) {
  const Term given = term("nanvar", x);
  const Axes folded = folded_axes("nanvar", given, axes);
  return rounded_as(given, variance_of_numbers(widened(given), folded, keep, correction));
}

Array nanstd(const Operand& x, const Axes& axes, bool keep, double correction) {
  const Term given = term("nanstd", x);
  const Axes folded = folded_axes("nanstd", given, axes);
  return rounded_as(given, sqrt(variance_of_numbers(widened(given), folded, keep, correction)));
}

Array nanargmax(const Operand& x, const Axes& axis, bool keep) {
  return position_of_numbers("nanargmax", x, axis, keep, true);
}

Array nanargmin(const Operand& x, const Axes& axis, bool keep) {
  return position_of_numbers("nanargmin", x, axis, keep, false);
}

Array ptp(const Operand& x, const Axes& axes, bool keep) {
  const Term y = term("ptp", x, Takes::real_numbers);
  const Axes folded = folded_axes_of_some("ptp", y, axes);
  return Term(max(y, folded, keep), x.where()) - Term(min(y, folded, keep), x.where());
}

Array average(const Operand& x, const Operand& weights, const Axes& axes, bool keep) {
  const std::vector<Array> both = promote("average", {&x, &weights}, Takes::floats);
  const Term given = {both[0], x.where()}, y = widened(given);
  const Term all = {broadcast_to_shape("average", both[1], type_of(both[0]).shape, x.where()),
                    x.where()};
  const Term w = widened(all);
  const Axes folded = folded_axes("average", given, axes);
  return rounded_as(given,
                    sum_in_own_dtype(y * w, folded, keep) / sum_in_own_dtype(w, folded, keep));
}

Array trapezoid(const Operand& y, const Operand& spacing, Axis axis) {
  const Term given = term("trapezoid", y), x = widened(given);
  const Shape& shape = type_of(x.array()).shape;
  const std::int64_t along = axis_of("trapezoid", axis, shape, y.where());
  const std::int64_t extent = shape[static_cast<int>(along)];
  const std::int64_t pairs = std::max<std::int64_t>(extent - 1, 0);
  const Term left = {slice_in_dim(x, 0, pairs, along), y.where()};
  const Term right = {slice_in_dim(x, extent - pairs, extent, along), y.where()};
  const Term total = sum_in_own_dtype((left + right) * 0.5, Axes(Axis(along)));
  return rounded_as(given, total * Term(spacing));
}

namespace {

Array covariances(const char* function, const Operand& x, double correction) {
  const Term given = term(function, x), y = widened(given);
  const Shape& shape = type_of(y.array()).shape;
  if (shape.rank() < 1 || shape.rank() > 2) {
    fail(std::string(function) + ": " + describe(x) +
             " is neither a vector nor a matrix; its rows are the variables",
         x.where());
  }
  if (shape.rank() == 1) return var(given, {}, false, correction);
  const double count = static_cast<double>(shape[1]);
  const Term mean = sum_in_own_dtype(y, Axes(Axis(1)), keepdims) / count;
  const Term away = y - mean;
  const Term products = {matmul(away, Operand(matrix_transpose(away), x.where())), x.where()};
  return rounded_as(given, products / std::max(count - correction, 0.0));
}

}  // namespace

Array cov(const Operand& x, double correction) { return covariances("cov", x, correction); }

Array corrcoef(const Operand& x) {
  const Term given = term("corrcoef", x), y = widened(given);
  const Term all = {covariances("corrcoef", y, 1), x.where()};
  if (type_of(all.array()).rank() == 0) return rounded_as(given, all / all);
  const Term deviations = sqrt(Term(diagonal(all), x.where()));
  const Term rows = {expand_dims(deviations, 1), x.where()};
  const Term columns = {expand_dims(deviations, 0), x.where()};
  const Term scaled = all / rows / columns;
  return rounded_as(given, {clip(scaled, -1, 1), x.where()});  // rounding may go beyond
}

}  // namespace anabranch
