#include "anabranch/segments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "anabranch/creation.h"
#include "anabranch/cumulative.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/special_terms.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

void demand_count(const char* function, std::int64_t count, SourceLocation where) {
  if (count >= 0) return;
  fail(std::string(function) + ": there are " + std::to_string(count) + " of them; give 0 or more",
       where);
}

// The updates of one element each, or of slabs, by number.
ScatterDimensions by_number(int index_rank, int rank) {
  ScatterDimensions d;
  for (int axis = index_rank; axis < rank; ++axis) d.update_window_dims.push_back(axis);
  d.inserted_window_dims = d.scatter_dims_to_operand_dims = {0};
  d.index_vector_dim = index_rank;
  return d;
}

// What combines with nothing but itself.
Array identity_of(Update update, Dtype dtype, SourceLocation where) {
  const ElementBits bits = visit_any_dtype(dtype, [update]<class T>() {
    if constexpr (is_complex_storage<T>) {
      return ElementBits::of(T(update == Update::multiply ? 1 : 0));
    } else if constexpr (std::is_same_v<T, bool>) {
      return ElementBits::of(update == Update::multiply || update == Update::minimum);
    } else {
      if (update == Update::add) return ElementBits::of(T{});
      if constexpr (is_float_storage<T>) {
        const float infinity = std::numeric_limits<float>::infinity();
        if (update == Update::multiply) return ElementBits::of(T(1.0f));
        return ElementBits::of(T(update == Update::maximum ? -infinity : infinity));
      } else {
        if (update == Update::multiply) return ElementBits::of(T{1});
        return ElementBits::of(update == Update::maximum ? std::numeric_limits<T>::min()
                                                         : std::numeric_limits<T>::max());
      }
    }
  });
  return array_of(dtype, bits, where);
}

Array segmented(const char* function, const Operand& x, const Operand& ids, std::int64_t count,
                Update update) {
  const SourceLocation at = x.where();
  const Term own(as_array(function, x), at);
  demand_count(function, count, at);
  const Array numbers = positions(function, ids);
  const Shape &shape = type_of(own).shape, &places = type_of(numbers).shape;
  if (places.rank() > shape.rank() || !std::equal(places.begin(), places.end(), shape.begin())) {
    fail(std::string(function) + ": the ids, " + to_string(type_of(numbers)) +
             ", are not of the first axes of " + to_string(type_of(own)),
         at);
  }
  const bool is_summed = update == Update::add || update == Update::multiply;
  const Term wide = is_summed ? widened(own) : own;
  const Dtype dtype = type_of(wide).dtype;
  std::vector<std::int64_t> sizes(shape.begin() + places.rank(), shape.end());
  sizes.insert(sizes.begin(), count);
  const Array start = broadcast_to_shape(function, identity_of(update, dtype, at),
                                         Sizes(sizes, at).shape(function), at);
  const Term result(scatter({start, at}, {numbers, ids.where()}, wide,
                            by_number(places.rank(), shape.rank()), update),
                    at);
  return is_summed ? rounded_as(own, result) : result.array();
}

/// How many of the ascending `table` are at most each element of x, or below it: by halves.
Term count_below(const Term& x, const Term& table, bool or_equal) {
  const std::int64_t size = type_of(table).size();
  const Shape& shape = type_of(x).shape;
  const SourceLocation at = x.where();
  Term count(broadcast_to_shape("interp", number_as("interp", Number(0), i64, at), shape, at), at);
  if (size == 0) return count;
  for (std::uint64_t step = std::bit_floor(static_cast<std::uint64_t>(size)); step > 0; step /= 2) {
    const Term next = count + Term(static_cast<std::int64_t>(step));
    const Term there(take(table, Operand(next - Term(1)), 0, OutOfRange::clip), at);
    const Term is_below = or_equal ? there <= x : there < x;
    count = where((next <= Term(size)) & is_below, next, count);
  }
  return count;
}

Term vector_of(const char* function, const char* what, const Operand& x, std::int64_t least,
               Dtype dtype) {
  const Array array = as_array(function, x, Takes::real_numbers);
  if (type_of(array).rank() != 1 || type_of(array).size() < least) {
    fail(std::string(function) + ": " + what + " is " + to_string(type_of(array)) +
             "; give a vector of at least " + std::to_string(least) +
             (least == 1 ? " element" : " elements"),
         x.where());
  }
  return converted(Term(array, x.where()), dtype);
}

// In bins between `edges`; the last bin holds its upper edge.
Array counted(const Term& values, const Term& edges) {
  const std::int64_t bins = type_of(edges).size() - 1;
  const Term below = count_below(values, edges, true) - Term(1);
  const Term last(take(edges, Operand(bins), 0, OutOfRange::clip), edges.where());
  const Term bin = where(values == last, Term(bins - 1), below);
  const Term kept = where(values == values, bin, Term(std::int64_t{-1}));
  return bincount(Operand(reshape(kept, {-1}), values.where()), bins);
}

// What the floats among the operands come to, numbers being weak; nothing where there are none.
std::optional<Dtype> dtype_of_floats(const char* function, const std::vector<Operand>& operands) {
  std::optional<Dtype> common;
  for (const Operand& operand : operands) {
    const Array array = as_array(function, operand, Takes::real_numbers);
    const Dtype dtype = type_of(array).dtype;
    if (!is_float(dtype) || array.expression()->weak) continue;
    common = common ? promoted(*common, dtype) : dtype;
  }
  return common;
}

Term floats_of(const char* function, const Operand& x) {
  const Term own(as_array(function, x, Takes::real_numbers), x.where());
  return is_float(type_of(own).dtype) ? own : converted(own, default_float);
}

}  // namespace

Array segment_sum(const Operand& x, const Operand& ids, std::int64_t count) {
  return segmented("segment_sum", x, ids, count, Update::add);
}
Array segment_prod(const Operand& x, const Operand& ids, std::int64_t count) {
  return segmented("segment_prod", x, ids, count, Update::multiply);
}
Array segment_max(const Operand& x, const Operand& ids, std::int64_t count) {
  return segmented("segment_max", x, ids, count, Update::maximum);
}
Array segment_min(const Operand& x, const Operand& ids, std::int64_t count) {
  return segmented("segment_min", x, ids, count, Update::minimum);
}

Array bincount(const Operand& x, std::int64_t length) {
  const Array numbers = positions("bincount", x);
  const Shape& shape = type_of(numbers).shape;
  // Ones are an array, which is written and read: of 32 bits where no count can be larger.
  const Dtype counter = shape.size() <= std::numeric_limits<std::int32_t>::max() ? i32 : i64;
  const Array ones = broadcast_to_shape(
      "bincount", number_as("bincount", Number(1), counter, x.where()), shape, x.where());
  const Term counts(
      segmented("bincount", {ones, x.where()}, {numbers, x.where()}, length, Update::add),
      x.where());
  return converted(counts, i64);
}

Array bincount(const Operand& x, std::int64_t length, const Operand& weights) {
  const Array numbers = positions("bincount", x);
  const Array given = broadcast_to_shape("bincount", as_array("bincount", weights, Takes::numbers),
                                         type_of(numbers).shape, weights.where());
  return segmented("bincount", {given, x.where()}, {numbers, x.where()}, length, Update::add);
}

namespace {

Array bin_edges(const char* function, const Operand& x, std::int64_t bins,
                std::optional<HistogramRange> range) {
  const Term values = floats_of(function, x);
  const SourceLocation at = x.where();
  if (bins < 1)
    fail(std::string(function) + ": " + std::to_string(bins) + " bins; give 1 or more", at);
  if (range && !(range->low <= range->high && std::isfinite(range->high - range->low))) {
    fail(std::string(function) + ": the range is " + to_string(Number(range->low)) + " to " +
             to_string(Number(range->high)) + "; give low <= high, finitely far apart",
         at);
  }
  if (!range && type_of(values).size() == 0) range = HistogramRange{0, 1};
  const Dtype dtype = type_of(values).dtype;
  const auto number = [&](double value) {
    return Term(number_as(function, Number(value), dtype, at), at);
  };
  Term low = range ? number(range->low) : Term(min(values), at);
  Term high = range ? number(range->high) : Term(max(values), at);
  const Term is_point = low == high;
  const Term half = where(is_point, number(0.5), number(0));
  low = widened(low - half);
  high = widened(high + half);
  const Dtype wide = type_of(low).dtype;
  const Term counted(record(Op::iota, {}, at, AxisAttributes{0}, Type{wide, {bins + 1}}), at);
  const Term edges = low + counted * ((high - low) / Term(static_cast<double>(bins)));
  return rounded_as(values, where(counted == Term(static_cast<double>(bins)), high, edges));
}

}  // namespace

Array histogram_bin_edges(const Operand& x, std::int64_t bins,
                          std::optional<HistogramRange> range) {
  return bin_edges("histogram_bin_edges", x, bins, range);
}

std::pair<Array, Array> histogram(const Operand& x, std::int64_t bins,
                                  std::optional<HistogramRange> range) {
  const Term values = floats_of("histogram", x);
  const Array edges = bin_edges("histogram", values, bins, range);
  return {counted(values, Term(edges, x.where())), edges};
}

Array histogram(const Operand& x, const Operand& edges) {
  const Term values = floats_of("histogram", x);
  return counted(values, vector_of("histogram", "edges", edges, 2, type_of(values).dtype));
}

Array interp(const Operand& x, const Operand& xp, const Operand& fp, std::optional<double> left,
             std::optional<double> right) {
  constexpr const char* function = "interp";
  const Term given = floats_of(function, x);
  const std::optional<Dtype> common = dtype_of_floats(function, {x, xp, fp});
  const Term own = common ? with_own_dtype(converted(given, *common)) : given, at = widened(own);
  const Dtype dtype = type_of(at).dtype;
  const Term places = vector_of(function, "xp", xp, 1, dtype);
  const Term values = vector_of(function, "fp", fp, 1, dtype);
  if (type_of(places).size() != type_of(values).size()) {
    fail("interp: " + std::to_string(type_of(places).size()) + " places and " +
             std::to_string(type_of(values).size()) + " values; give one value per place",
         x.where());
  }
  const std::int64_t last = type_of(places).size() - 1;
  const auto number = [&](double value) {
    return Term(number_as(function, Number(value), dtype, x.where()), x.where());
  };
  const auto picked = [&](const Term& table, const Term& index) {
    return Term(take(table, index, 0, OutOfRange::clip), x.where());
  };
  const Term above = count_below(at, places, true), below = above - Term(1);
  const Term x0 = picked(places, maximum(below, Term(0))), x1 = picked(places, above);
  const Term y0 = picked(values, maximum(below, Term(0))), y1 = picked(values, above);
  const Term width = x1 - x0;
  const Term line = y0 + (at - x0) * ((y1 - y0) / where(width == number(0), number(1), width));
  const Term first_value = left ? number(*left) : Term(take(values, 0, 0), x.where());
  const Term last_value = right ? number(*right) : Term(take(values, last, 0), x.where());
  const Term first_place(take(places, 0, 0), x.where()),
      last_place(take(places, last, 0), x.where());
  Term result = where(at < first_place, first_value, line);
  result = where(at > last_place, last_value, result);
  return rounded_as(own, where(at == at, result, at));
}

std::vector<Array> nonzero(const Operand& x, std::int64_t size, std::int64_t fill) {
  constexpr const char* function = "nonzero";
  const SourceLocation at = x.where();
  const Array array = as_array(function, x);
  demand_count(function, size, at);
  const Type& type = type_of(array);
  const Term mask(astype({reshape({array, at}, {-1}), at}, bool_), at);
  const std::int64_t count = type.size();
  const Term so_far(cumsum(mask, 0), at);  // itself included
  const Term target = where(mask, so_far - Term(1), Term(std::int64_t{-1}));
  const Term number(record(Op::iota, {}, at, AxisAttributes{0}, Type{i64, {count}}), at);
  std::vector<Array> all;
  const std::vector<std::int64_t> strides = type.shape.strides();
  for (int axis = 0; axis < type.rank(); ++axis) {
    const Term whole =
        number / Term(std::max<std::int64_t>(strides[static_cast<std::size_t>(axis)], 1));
    const Term place(fmod(whole, Operand(std::max<std::int64_t>(type.shape[axis], 1))), at);
    const Array none = broadcast_to_shape(function, number_as(function, Number(fill), i64, at),
                                          Sizes({size}, at).shape(function), at);
    all.push_back(scatter({none, at}, target, place, by_number(1, 1)));
  }
  return all;
}

}  // namespace anabranch
