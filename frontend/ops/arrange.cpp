#include "anabranch/arrange.h"

#include <algorithm>
#include <numeric>

#include "anabranch/creation.h"
#include "anabranch/elementwise.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

std::vector<std::int64_t> sizes_of(const Array& array) {
  return {type_of(array).shape.begin(), type_of(array).shape.end()};
}

void check_at_least(const char* function, const char* what, std::int64_t value, std::int64_t least,
                    SourceLocation where) {
  if (value >= least) return;
  fail(std::string(function) + ": " + what + " is " + std::to_string(value) +
           ", and has to be at least " + std::to_string(least),
       where);
}

// Elements [start, limit) of an axis, both within it.
Array part(const Array& array, std::int64_t start, std::int64_t limit, std::int64_t axis,
           SourceLocation where) {
  return slice_in_dim({array, where}, start, limit, axis);
}

}  // namespace

Array moveaxis(const Operand& x, const Axes& source, const Axes& destination) {
  const Array array = as_array("moveaxis", x);
  const Shape& shape = type_of(array).shape;
  const auto from = source.in_order("moveaxis", shape, x.where());
  const auto to = destination.in_order("moveaxis", shape, x.where());
  if (from.size() != to.size()) {
    fail("moveaxis: " + std::to_string(from.size()) + " axes of " + to_string(type_of(array)) +
             " to " + std::to_string(to.size()) + " places; give one place per axis",
         x.where());
  }
  std::vector<std::int64_t> order(sizes_of(array).size(), -1);
  for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::count(from.begin(), from.end(), next)) ++next;
    axis = next++;
  }
  return order.empty() ? array : permute_dims({array, x.where()}, Axes(order));
}

Array swapaxes(const Operand& x, Axis a, Axis b) {
  const Array array = as_array("swapaxes", x);
  const Shape& shape = type_of(array).shape;
  std::vector<std::int64_t> order(shape.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis_of("swapaxes", a, shape, x.where()))],
            order[static_cast<std::size_t>(axis_of("swapaxes", b, shape, x.where()))]);
  return permute_dims({array, x.where()}, Axes(order));
}

Array slice_in_dim(const Operand& x, std::int64_t start, std::int64_t limit, Axis axis,
                   std::int64_t stride) {
  const Array array = as_array("slice_in_dim", x);
  const auto along =
      static_cast<std::size_t>(axis_of("slice_in_dim", axis, type_of(array).shape, x.where()));
  std::vector<std::int64_t> limits = sizes_of(array);
  std::vector<std::int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
  const std::int64_t size = limits[along];
  starts[along] = start < 0 ? start + size : start;
  limits[along] = limit < 0 ? limit + size : limit;
  strides[along] = stride;
  return record_as("slice_in_dim", Op::slice, {array}, x.where(),
                   SliceAttributes{starts, limits, strides});
}

Array roll(const Operand& x, std::int64_t shift, Axis axis) {
  const Array array = as_array("roll", x);
  const std::int64_t along = axis_of("roll", axis, type_of(array).shape, x.where());
  const std::int64_t size = type_of(array).shape[static_cast<int>(along)];
  if (size == 0 || shift % size == 0) return array;
  const std::int64_t cut = size - (shift % size + size) % size;
  return concat({{part(array, cut, size, along, x.where()), x.where()},
                 {part(array, 0, cut, along, x.where()), x.where()}},
                along);
}

Array roll(const Operand& x, std::int64_t shift) {
  const Array array = as_array("roll", x);
  const Array flat = ravel({array, x.where()});
  return reshape({roll({flat, x.where()}, shift, 0), x.where()}, type_of(array).shape);
}

Array repeat(const Operand& x, std::int64_t count, Axis axis) {
  const Array array = as_array("repeat", x);
  check_at_least("repeat", "the count", count, 0, x.where());
  const std::int64_t along = axis_of("repeat", axis, type_of(array).shape, x.where());
  std::vector<std::int64_t> spread = sizes_of(array), sizes = spread, axes(spread.size());
  std::iota(axes.begin(), axes.end(), 0);
  for (auto i = static_cast<std::size_t>(along) + 1; i < axes.size(); ++i) ++axes[i];
  spread.insert(spread.begin() + along + 1, count);
  const Shape all = Sizes(spread, x.where()).shape("repeat");  // says where it is too much
  sizes[static_cast<std::size_t>(along)] *= count;
  const Array wide = record(Op::broadcast_in_dim, {array}, x.where(), AxesAttributes{axes},
                            Type{type_of(array).dtype, all});
  return reshape({wide, x.where()}, Sizes(sizes, x.where()));
}

Array repeat(const Operand& x, std::int64_t count) {
  const Array array = as_array("repeat", x);
  return repeat({ravel({array, x.where()}), x.where()}, count, 0);
}

Array tile(const Operand& x, const Sizes& counts) {
  const Array array = as_array("tile", x);
  std::vector<std::int64_t> times = counts.list(), sizes = sizes_of(array);
  for (std::int64_t count : times) check_at_least("tile", "a count", count, 0, x.where());
  const std::size_t rank = std::max(times.size(), sizes.size());
  times.insert(times.begin(), rank - times.size(), 1);
  std::vector<std::int64_t> axes(sizes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i] = static_cast<std::int64_t>(2 * (rank - sizes.size() + i) + 1);
  }
  sizes.insert(sizes.begin(), rank - sizes.size(), 1);
  std::vector<std::int64_t> spread;  // count, size, count, size, ...
  for (std::size_t i = 0; i < rank; ++i) spread.insert(spread.end(), {times[i], sizes[i]});
  const Shape all = Sizes(spread, x.where()).shape("tile");  // says where it is too much
  for (std::size_t i = 0; i < rank; ++i) sizes[i] *= times[i];
  const Array wide = record(Op::broadcast_in_dim, {array}, x.where(), AxesAttributes{axes},
                            Type{type_of(array).dtype, all});
  return reshape({wide, x.where()}, Sizes(sizes, x.where()));
}

std::vector<Array> split(const Operand& x, std::int64_t sections, Axis axis) {
  const Array array = as_array("split", x);
  check_at_least("split", "the number of sections", sections, 1, x.where());
  const std::int64_t along = axis_of("split", axis, type_of(array).shape, x.where());
  const std::int64_t size = type_of(array).shape[static_cast<int>(along)];
  if (size % sections != 0) {
    fail("split: axis " + std::to_string(along) + " of " + to_string(type_of(array)) +
             " does not divide into " + std::to_string(sections) +
             " equal parts; give positions instead",
         x.where());
  }
  std::vector<Array> parts;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t start = i * (size / sections);
    parts.push_back(part(array, start, start + size / sections, along, x.where()));
  }
  return parts;
}

std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& positions, Axis axis) {
  const Array array = as_array("split", x);
  const std::int64_t along = axis_of("split", axis, type_of(array).shape, x.where());
  const std::int64_t size = type_of(array).shape[static_cast<int>(along)];
  std::vector<std::int64_t> cuts = {0};
  cuts.insert(cuts.end(), positions.begin(), positions.end());
  cuts.push_back(size);
  if (!std::is_sorted(cuts.begin(), cuts.end())) {
    fail("split: the positions have to ascend from 0 to " + std::to_string(size) +
             ", the size of axis " + std::to_string(along) + " of " + to_string(type_of(array)),
         x.where());
  }
  std::vector<Array> parts;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    parts.push_back(part(array, cuts[i - 1], cuts[i], along, x.where()));
  }
  return parts;
}

std::vector<Array> unstack(const Operand& x, Axis axis) {
  const Array array = as_array("unstack", x);
  const std::int64_t along = axis_of("unstack", axis, type_of(array).shape, x.where());
  std::vector<Array> slabs;
  for (std::int64_t i = 0; i < type_of(array).shape[static_cast<int>(along)]; ++i) {
    slabs.push_back(index({array, x.where()}, i, along));
  }
  return slabs;
}

std::vector<Array> broadcast_arrays(const Operands& list) {
  std::vector<Array> arrays;
  for (const Operand& operand : list.list()) {
    arrays.push_back(as_array("broadcast_arrays", operand));
  }
  if (!arrays.empty()) broadcast("broadcast_arrays", arrays, list.list()[0].where());
  return arrays;
}

std::vector<Array> meshgrid(const Operands& list, Indexing indexing) {
  const std::size_t rank = list.list().size();
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < rank; ++i) {
    const Operand& operand = list.list()[i];
    const Array array = as_array("meshgrid", operand);
    if (type_of(array).rank() > 1) {
      fail("meshgrid: " + describe(operand) + " is no vector; ravel it first", operand.where());
    }
    const bool turned = indexing == Indexing::xy && rank > 1 && i < 2;
    std::vector<std::int64_t> sizes(rank, 1);
    sizes[turned ? 1 - i : i] = type_of(array).size();
    arrays.push_back(reshape({array, operand.where()}, Sizes(sizes, operand.where())));
  }
  if (rank > 0) broadcast("meshgrid", arrays, list.list()[0].where());
  return arrays;
}

Array diff(const Operand& x, Axis axis, std::int64_t times) {
  Array array = as_array("diff", x, Takes::numbers);
  check_at_least("diff", "the number of times", times, 0, x.where());
  const std::int64_t along = axis_of("diff", axis, type_of(array).shape, x.where());
  for (std::int64_t i = 0; i < times; ++i) {
    const std::int64_t size = type_of(array).shape[static_cast<int>(along)];
    if (size == 0) break;
    array = subtract({part(array, 1, size, along, x.where()), x.where()},
                     {part(array, 0, size - 1, along, x.where()), x.where()});
  }
  return array;
}

Array diagonal(const Operand& x, std::int64_t offset) {
  const Array array = as_array("diagonal", x);
  const std::vector<std::int64_t> sizes = sizes_of(array);
  if (sizes.size() < 2) {
    fail("diagonal: " + describe(x) + " has fewer than two axes", x.where());
  }
  const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  const std::int64_t first_column = std::clamp(offset, -rows, columns);
  const std::int64_t row = std::max<std::int64_t>(-first_column, 0);
  const std::int64_t column = std::max<std::int64_t>(first_column, 0);
  const std::int64_t length = std::min(rows - row, columns - column);
  std::vector<std::int64_t> shape(sizes.begin(), sizes.end() - 2);
  if (length == 0) {
    shape.push_back(0);
    return zeros(type_of(array).dtype, Sizes(shape, x.where()));
  }
  // In row-major order its elements are columns + 1 apart.
  shape.push_back(rows * columns);
  const Array flat = reshape({array, x.where()}, Sizes(shape, x.where()));
  const std::int64_t first = row * columns + column;
  const std::int64_t last = first + (length - 1) * (columns + 1);
  return slice_in_dim({flat, x.where()}, first, last + 1, -1, columns + 1);
}

Array diag(const Operand& vector) {
  const Array array = as_array("diag", vector);
  if (type_of(array).rank() != 1) {
    fail("diag: " + describe(vector) + " is no vector; diagonal takes one out of a matrix",
         vector.where());
  }
  const SourceLocation at = vector.where();
  const std::int64_t size = type_of(array).size();
  const Array mask = astype({eye(size), at}, bool_);
  return where(Operand(mask, at), Operand(expand_dims({array, at}, 1), at),
               Operand(zeros(type_of(array).dtype, Sizes({size, size}, at)), at));
}

}  // namespace anabranch
