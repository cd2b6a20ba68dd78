#include "anabranch/sort.h"

#include <bit>
#include <limits>
#include <optional>

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/control_flow.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/comparator.h"
#include "frontend/ops/order.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/sorting_network.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"
#include "frontend/trace/scalar_function.h"

namespace anabranch {
namespace {

// In the narrowest dtype that holds them.
Array positions_of_reals(const Array& x, std::int64_t axis, bool descending, SourceLocation where) {
  const std::int64_t extent = type_of(x).shape[static_cast<int>(axis)];
  const bool is_long = extent > std::numeric_limits<std::int32_t>::max();
  return record(
      Op::argsort, {x}, where,
      ArgsortAttributes{axis, descending, is_long ? PositionDtype::i64 : PositionDtype::i32});
}

// Positions come from a sort of the same axis, and so are in range.
Array at_positions(const Array& x, const Array& positions, std::int64_t axis,
                   SourceLocation where) {
  return take_along_axis({x, where}, {positions, where}, axis, OutOfRange::clip);
}

// Complex numbers by their real parts, and by their imaginary ones where those are equal.
Array positions_in_order(const Array& x, std::int64_t axis, bool descending, SourceLocation where) {
  if (!is_complex(type_of(x).dtype)) return positions_of_reals(x, axis, descending, where);
  const Operand z(x, where);
  const Array first = positions_of_reals(imag(z), axis, descending, where);
  const Array reals = at_positions(real(z), first, axis, where);
  return at_positions(first, positions_of_reals(reals, axis, descending, where), axis, where);
}

Array line_sorted(const Array& x, std::int64_t axis, bool descending, SourceLocation where) {
  if (!is_complex(type_of(x).dtype)) {
    return record(Op::sort, {x}, where, SortAttributes{axis, descending});
  }
  return at_positions(x, positions_in_order(x, axis, descending, where), axis, where);
}

// By the last key first: each sort keeps the order of what its key leaves equal.
Array order_of(const std::vector<SortKey>& keys, const ScalarFunction& comparator,
               const std::vector<Array>& scalars, std::int64_t axis, SourceLocation where) {
  std::optional<Array> order;
  for (std::size_t i = keys.size(); i-- > 0;) {
    Array key = comparator.value_over(keys[i].value, scalars);
    if (order) key = at_positions(key, *order, axis, where);
    const Array next = positions_in_order(key, axis, keys[i].descending, where);
    order = order ? at_positions(*order, next, axis, where) : next;
  }
  return *order;
}

// The arrays as matrices with the axis first, and back.
struct AsMatrices {
  std::int64_t axis;
  Shape moved;
  SourceLocation where;

  AsMatrices(const Array& array, std::int64_t axis, SourceLocation where)
      : axis(axis),
        moved(type_of(moveaxis({array, where}, Axis(axis), Axis(0))).shape),
        where(where) {}

  Array forward(const Array& array) const {
    const Array first = moveaxis({array, where}, Axis(axis), Axis(0));
    std::int64_t columns = 1;
    for (int i = 1; i < moved.rank(); ++i) columns *= moved[i];
    return reshape({first, where}, Sizes({moved[0], columns}, where));
  }
  Array back(const Array& matrix) const {
    const std::vector<std::int64_t> sizes(moved.begin(), moved.end());
    const Array array = reshape({matrix, where}, Sizes(sizes, where));
    return moveaxis({array, where}, Axis(0), Axis(axis));
  }
};

}  // namespace

std::vector<Array> arrays_of_one_shape(const char* function, const Operands& operands) {
  std::vector<Array> arrays;
  for (const Operand& operand : operands.list()) arrays.push_back(as_array(function, operand));
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    if (type_of(arrays[i]).shape == type_of(arrays[0]).shape) continue;
    fail(std::string(function) + ": array " + std::to_string(i) + " is " +
             to_string(type_of(arrays[i])) + ", and array 0 is " + to_string(type_of(arrays[0])) +
             "; broadcast them to one shape first",
         operands.list()[i].where());
  }
  return arrays;
}

Term comes_before(const Term& x, const Term& y) {
  const Term less = x < y;
  if (!is_float(x.array().dtype())) return less;
  return less | ((x == x) & (y != y));
}

Array sort(const Operand& x, Axis axis, const SortOptions& options) {
  const Array array = as_array("sort", x, Takes::anything);
  const std::int64_t along = axis_of("sort", axis, type_of(array).shape, x.where());
  return line_sorted(array, along, options.descending, x.where());
}

Array argsort(const Operand& x, Axis axis, const SortOptions& options) {
  const Array array = as_array("argsort", x, Takes::anything);
  const std::int64_t along = axis_of("argsort", axis, type_of(array).shape, x.where());
  if (is_complex(type_of(array).dtype)) {
    const Array order = positions_in_order(array, along, options.descending, x.where());
    return astype({order, x.where()}, i64);
  }
  return record(Op::argsort, {array}, x.where(),
                ArgsortAttributes{along, options.descending, PositionDtype::i64});
}

Ranked top_k(const Operand& x, std::int64_t k, Axis axis) {
  const Array array = as_array("top_k", x, Takes::anything);
  const Shape& shape = type_of(array).shape;
  const std::int64_t along = axis_of("top_k", axis, shape, x.where());
  const std::int64_t extent = shape[static_cast<int>(along)];
  if (k < 0 || k > extent) {
    fail("top_k: " + std::to_string(k) + " of the " + std::to_string(extent) +
             " elements along axis " + std::to_string(along) + " of " + describe(x) +
             "; ask for 0 to " + std::to_string(extent),
         x.where());
  }
  const Array all = positions_in_order(array, along, true, x.where());
  const Array first = slice_in_dim({all, x.where()}, 0, k, along);
  return {at_positions(array, first, along, x.where()), astype({first, x.where()}, i64)};
}

std::vector<Array> sort(const Operands& operands, const Comparator& comparator, Axis axis, bool) {
  const SourceLocation where = operands.where();
  if (operands.list().empty()) fail("sort: no arrays; give one or more", where);
  const std::vector<Array> arrays = arrays_of_one_shape("sort", operands);
  const std::int64_t along = axis_of("sort", axis, type_of(arrays[0]).shape, where);
  std::vector<Dtype> dtypes;
  std::vector<Array> first_places;
  for (const Array& array : arrays) {
    dtypes.insert(dtypes.end(), 2, type_of(array).dtype);
    first_places.insert(first_places.end(), {array, Array()});
  }
  const auto answer = [&](const std::vector<Array>& scalars) -> std::vector<Array> {
    return {comparator(scalars)};
  };
  const ScalarFunction traced("sort", "the comparator", answer, dtypes, where);
  traced.demand_results({bool_});
  const auto keys = traced.is_elementwise() ? keys_of(traced.graph(), arrays.size()) : std::nullopt;
  std::vector<Array> sorted;
  if (!keys) {
    const AsMatrices shapes(arrays[0], along, where);
    std::vector<Array> matrices;
    for (const Array& array : arrays) matrices.push_back(shapes.forward(array));
    for (const Array& matrix : network_sort(matrices, traced, where)) {
      sorted.push_back(shapes.back(matrix));
    }
    return sorted;
  }
  const bool is_own_key = arrays.size() == 1 && keys->size() == 1 && keys->front().value == Value{};
  if (is_own_key) return {line_sorted(arrays[0], along, keys->front().descending, where)};
  const Array order = order_of(*keys, traced, first_places, along, where);
  for (const Array& array : arrays) sorted.push_back(at_positions(array, order, along, where));
  return sorted;
}

Array searchsorted(const Operand& sorted, const Operand& values, Side side) {
  const SourceLocation where = values.where();
  const std::vector<Array> both = promote("searchsorted", {&sorted, &values}, Takes::anything);
  const Type type = type_of(both[0]);
  if (is_complex(type.dtype)) {  // says what is wrong
    as_array("searchsorted", {both[0], where}, Takes::real_numbers);
  }
  if (type.rank() != 1) {
    fail("searchsorted: " + describe(sorted) + " is no vector; sort and search one row at a time",
         sorted.where());
  }
  const std::int64_t count = type.shape[0];
  const Shape shape = type_of(both[1]).shape;
  const Array none = repeated(array_of(i64, 0, where), shape, where);
  if (count == 0 || shape.size() == 0) return none;
  const Array all = repeated(array_of(i64, static_cast<std::uint64_t>(count), where), shape, where);
  const Term value = {both[1], where};
  // Each turn halves what is left: [low, high).
  const auto turn = [&](const Array&, const detail::Leaves& carry) {
    const Term low = {carry[0], where}, high = {carry[1], where};
    const Term middle = (low + high) >> 1;
    const Term found = {take(both[0], Operand(middle), 0, OutOfRange::clip), where};
    const Term is_behind =
        side == Side::left ? comes_before(found, value) : !comes_before(value, found);
    const Term is_open = low < high;
    return detail::Tree{{anabranch::where(is_open & is_behind, middle + 1, low),
                         anabranch::where(is_open & !is_behind, middle, high)},
                        {{"low", ""}, {"high", ""}}};
  };
  const int turns = std::bit_width(static_cast<std::uint64_t>(count));
  const Array first = array_of(i64, 0, where);
  const Array last = array_of(i64, static_cast<std::uint64_t>(turns), where);
  return detail::run_fori({first, where}, {last, where}, {{none, all}, {{"low", ""}, {"high", ""}}},
                          turn)[0];
}

}  // namespace anabranch
