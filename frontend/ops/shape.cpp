#include <algorithm>
#include <numeric>

#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

Array reshape_to(const Array& array, Shape shape, SourceLocation where) {
  const Type& type = array.expression()->type;
  if (type.shape == shape) return array;
  return record(Op::reshape, {array}, where, NoAttributes{}, Type{type.dtype, std::move(shape)});
}

// Where one of the sizes is -1: with what remains in its place.
std::vector<std::int64_t> complete(const Sizes& sizes, const Type& type) {
  std::vector<std::int64_t> list = sizes.list();
  auto open = std::find(list.begin(), list.end(), -1);
  if (open == list.end()) return list;
  if (std::count(list.begin(), list.end(), -1) > 1) {
    fail("reshape: more than one size is -1; only one can be what remains", sizes.where());
  }
  *open = 1;
  std::int64_t known = Sizes(list).shape("reshape").size();
  if (known == 0 || type.size() % known != 0) {
    fail("reshape: the " + std::to_string(type.size()) + " elements of " + to_string(type) +
             " do not divide by " + std::to_string(known),
         sizes.where());
  }
  *open = type.size() / known;
  return list;
}

std::vector<Array> alike(const char* function, const Operands& operands) {
  if (operands.list().empty()) {
    fail(std::string(function) + ": needs at least one array, and was given none",
         operands.where());
  }
  return promote(function, operands.list(), Takes::anything);
}

// Where an axis more goes, counted in the shape that has it.
std::int64_t new_axis_of(const char* function, Axis axis, const Shape& shape,
                         SourceLocation where) {
  const std::int64_t rank = shape.rank() + 1;
  if (axis.value < -rank || axis.value >= rank) {
    fail(std::string(function) + ": no axis " + std::to_string(axis.value) +
             " in the result, which has one axis more than " + to_string(shape) +
             "; its axes are " + std::to_string(-rank) + " to " + std::to_string(rank - 1),
         where);
  }
  return axis.value < 0 ? axis.value + rank : axis.value;
}

// A whole 0, as that which pads where nothing is given, is false among bools.
Array filler_of(const Number& number, Dtype dtype, SourceLocation where) {
  const bool is_whole = number.kind != Number::Kind::real && number.kind != Number::Kind::complex;
  const bool is_false = dtype == bool_ && is_whole && number.integer == 0;
  return number_as("pad", is_false ? Number(false) : number, dtype, where);
}

void check_length(const char* function, const char* what, const Sizes& list, const Type& type) {
  if (static_cast<int>(list.list().size()) == type.rank()) return;
  fail(std::string(function) + ": " + std::to_string(list.list().size()) + " " + what +
           " for the " + std::to_string(type.rank()) + " axes of " + to_string(type) +
           "; give one per axis",
       list.where());
}

}  // namespace

Array reshape(const Operand& x, const Sizes& sizes) {
  Array array = as_array("reshape", x);
  const Type& type = array.expression()->type;
  Shape shape = Sizes(complete(sizes, type), sizes.where()).shape("reshape");
  if (shape.size() != type.size()) {
    fail("reshape: " + to_string(type) + " has " + std::to_string(type.size()) + " elements, and " +
             to_string(shape) + " needs " + std::to_string(shape.size()),
         x.where());
  }
  return reshape_to(array, std::move(shape), x.where());
}

Array ravel(const Operand& x) {
  Array array = as_array("ravel", x);
  return reshape_to(array, Shape({array.expression()->type.size()}), x.where());
}

Array broadcast_to(const Operand& x, const Sizes& sizes) {
  return broadcast_to_shape("broadcast_to", as_array("broadcast_to", x),
                            sizes.shape("broadcast_to"), x.where());
}

Array permute_dims(const Operand& x, const Axes& axes) {
  Array array = as_array("permute_dims", x);
  const Type& type = array.expression()->type;
  std::vector<std::int64_t> order = axes.in_order("permute_dims", type.shape, x.where());
  if (static_cast<int>(order.size()) != type.rank() || axes.all()) {
    fail("permute_dims: " + to_string(type) + " needs the order of all its " +
             std::to_string(type.rank()) + " axes",
         x.where());
  }
  if (std::is_sorted(order.begin(), order.end())) return array;
  return record(Op::transpose, {array}, x.where(), AxesAttributes{std::move(order)});
}

Array matrix_transpose(const Operand& x) {
  Array array = as_array("matrix_transpose", x);
  const Type& type = array.expression()->type;
  if (type.rank() < 2) {
    fail("matrix_transpose: " + to_string(type) + " has fewer than two axes; reshape it first",
         x.where());
  }
  std::vector<std::int64_t> order(type.shape.sizes().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return record(Op::transpose, {array}, x.where(), AxesAttributes{std::move(order)});
}

Array expand_dims(const Operand& x, Axis axis) {
  Array array = as_array("expand_dims", x);
  const Shape& shape = array.expression()->type.shape;
  const std::int64_t at = new_axis_of("expand_dims", axis, shape, x.where());
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes.insert(sizes.begin() + at, 1);
  return reshape_to(array, Shape(std::move(sizes)), x.where());
}

Array squeeze(const Operand& x, const Axes& axes) {
  Array array = as_array("squeeze", x);
  const Type& type = array.expression()->type;
  std::vector<std::int64_t> gone = axes.of_rank("squeeze", type.shape, x.where());
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < type.rank(); ++axis) {
    bool named = std::binary_search(gone.begin(), gone.end(), axis);
    if (named && !axes.all() && type.shape[axis] != 1) {
      fail("squeeze: axis " + std::to_string(axis) + " of " + to_string(type) + " has size " +
               std::to_string(type.shape[axis]) + ", and only an axis of size 1 can go",
           x.where());
    }
    if (!named || type.shape[axis] != 1) sizes.push_back(type.shape[axis]);
  }
  return reshape_to(array, Shape(std::move(sizes)), x.where());
}

Array flip(const Operand& x, const Axes& axes) {
  Array array = as_array("flip", x);
  std::vector<std::int64_t> list = axes.of_rank("flip", array.expression()->type.shape, x.where());
  if (list.empty()) return array;
  return record(Op::reverse, {array}, x.where(), AxesAttributes{std::move(list)});
}

Array concat(const Operands& list, Axis axis) {
  std::vector<Array> arrays = alike("concat", list);
  const SourceLocation where = list.where();
  const Shape& first = arrays[0].expression()->type.shape;
  std::int64_t along = axis_of("concat", axis, first, where);
  for (const Array& array : arrays) {
    const Shape& shape = array.expression()->type.shape;
    bool fits = shape.rank() == first.rank();
    for (int i = 0; fits && i < first.rank(); ++i) fits = i == along || shape[i] == first[i];
    if (!fits) {
      fail("concat: " + to_string(arrays[0].expression()->type) + " and " +
               to_string(array.expression()->type) + " differ in more than axis " +
               std::to_string(along) + ", along which they are joined",
           where);
    }
  }
  if (arrays.size() == 1) return arrays[0];
  return record_as("concat", Op::concatenate, arrays, where, AxisAttributes{along});
}

Array stack(const Operands& list, Axis axis) {
  std::vector<Array> arrays = alike("stack", list);
  const SourceLocation where = list.where();
  const std::int64_t along = new_axis_of("stack", axis, type_of(arrays[0]).shape, where);
  std::vector<Operand> slabs;
  for (const Array& array : arrays) {
    if (array.expression()->type.shape != arrays[0].expression()->type.shape) {
      fail("stack: " + to_string(arrays[0].expression()->type) + " and " +
               to_string(array.expression()->type) + " differ; stacked arrays have one shape",
           where);
    }
    slabs.emplace_back(expand_dims({array, where}, along), where);
  }
  return concat(slabs, along);
}

Array sliding_window_view(const Operand& x, const Sizes& sizes, const Axes& axes) {
  const Array array = as_array("sliding_window_view", x);
  const Type& type = type_of(array);
  const auto along = axes.in_order("sliding_window_view", type.shape, x.where());
  if (along.size() != sizes.list().size()) {
    fail("sliding_window_view: " + std::to_string(sizes.list().size()) + " sizes for " +
             std::to_string(along.size()) + " axes of " + to_string(type) + "; give one per axis",
         sizes.where());
  }
  const auto rank = static_cast<std::size_t>(type.rank());
  const std::vector<std::int64_t> ones(rank, 1);
  WindowsAttributes windows{ones, ones, ones};
  for (std::size_t i = 0; i < along.size(); ++i) {
    windows.sizes[static_cast<std::size_t>(along[i])] = sizes.list()[i];
  }
  const Array all =
      record_as("sliding_window_view", Op::sliding_windows, {array}, x.where(), std::move(windows));
  // The new axes in the order of `along`, then those of size 1, which go.
  std::vector<std::int64_t> order(rank), unwanted;
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t axis : along) order.push_back(static_cast<std::int64_t>(rank) + axis);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::find(along, static_cast<std::int64_t>(axis)) != along.end()) continue;
    unwanted.push_back(static_cast<std::int64_t>(order.size()));
    order.push_back(static_cast<std::int64_t>(rank + axis));
  }
  const Array sorted = permute_dims({all, x.where()}, Axes(order));
  return unwanted.empty() ? sorted : squeeze({sorted, x.where()}, Axes(unwanted));
}

Array pad(const Operand& x, const Sizes& low, const Sizes& high, const Operand& value) {
  Array array = as_array("pad", x);
  const Type& type = array.expression()->type;
  check_length("pad", "low sizes", low, type);
  check_length("pad", "high sizes", high, type);
  Array filler =
      value.is_number() ? filler_of(value.number(), type.dtype, x.where()) : as_array("pad", value);
  return record(
      Op::pad, {array, filler}, x.where(),
      PadAttributes{low.list(), high.list(), std::vector<std::int64_t>(low.list().size(), 0)});
}

Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides) {
  Array array = as_array("slice", x);
  const Type& type = array.expression()->type;
  check_length("slice", "starts", start, type);
  check_length("slice", "limits", limit, type);
  std::vector<std::int64_t> steps = strides.list();
  if (steps.empty())
    steps.assign(type.shape.sizes().size(), 1);
  else
    check_length("slice", "strides", strides, type);
  return record(Op::slice, {array}, x.where(),
                SliceAttributes{start.list(), limit.list(), std::move(steps)});
}

Array index(const Operand& x, std::int64_t position, Axis axis) {
  Array array = as_array("index", x);
  const Type& type = array.expression()->type;
  auto along = static_cast<std::size_t>(axis_of("index", axis, type.shape, x.where()));
  std::int64_t size = type.shape.sizes()[along];
  if (position < -size || position >= size) {
    fail_out_of_range("index", position, along, to_string(type), size, x.where());
  }
  if (position < 0) position += size;
  std::vector<std::int64_t> start(type.shape.sizes().size(), 0), stride(start.size(), 1);
  std::vector<std::int64_t> limit(type.shape.begin(), type.shape.end());
  start[along] = position;
  limit[along] = position + 1;
  std::vector<std::int64_t> rest(type.shape.begin(), type.shape.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(along));
  Array one = record(Op::slice, {array}, x.where(), SliceAttributes{start, limit, stride});
  return reshape_to(one, Shape(std::move(rest)), x.where());
}

}  // namespace anabranch
