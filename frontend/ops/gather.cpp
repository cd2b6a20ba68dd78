#include "anabranch/gather.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/ops/with_public_names.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

using AxisList = std::vector<std::int64_t>;

std::size_t as_place(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// A window of no elements on an axis that the result has not: the sizes that the result has, for
// which no element is ever read.
bool drops_empty_axis(const GatherDimensions& d, const AxisList& sizes) {
  return std::any_of(
      d.collapsed_slice_dims.begin(), d.collapsed_slice_dims.end(), [&](std::int64_t axis) {
        return axis >= 0 && as_place(axis) < sizes.size() && sizes[as_place(axis)] == 0;
      });
}

GatherAttributes attributes_of(const GatherDimensions& d, const AxisList& sizes) {
  return {d.offset_dims,
          d.collapsed_slice_dims,
          d.operand_batching_dims,
          d.start_indices_batching_dims,
          d.start_index_map,
          d.index_vector_dim,
          sizes};
}

constexpr PublicName names_of_gather[] = {
    {"offset_axes", "offset_dims"},
    {"collapsed_axes", "collapsed_slice_dims"},
    {"operand_batch_axes", "operand_batching_dims"},
    {"index_batch_axes", "start_indices_batching_dims"},
    {"start_axes", "start_index_map"},
    {"index_vector_axis", "index_vector_dim"},
    {"gather: sizes", "gather: slice_sizes"},
};

Array gathered(const Array& array, const Array& at, const GatherDimensions& d,
               const AxisList& sizes, SourceLocation where) {
  return with_public_names(names_of_gather, [&] {
    return record(Op::gather, {array, at}, where, attributes_of(d, sizes));
  });
}

// The axis moved to the end of `sizes`, and the slabs at positions.
Array taken(const char* function, const Array& array, const Array& at, std::int64_t axis,
            SourceLocation where) {
  const Shape &shape = type_of(array).shape, &places = type_of(at).shape;
  GatherAttributes a;
  a.collapsed_axes = a.start_axes = {axis};
  a.index_vector_axis = places.rank();
  a.sizes.assign(shape.begin(), shape.end());
  a.sizes[as_place(axis)] = 1;
  for (std::int64_t i = 0; i + 1 < shape.rank(); ++i) {
    a.offset_axes.push_back(i < axis ? i : i + places.rank());
  }
  if (shape[static_cast<int>(axis)] > 0) return record(Op::gather, {array, at}, where, a);
  AxisList sizes(shape.begin(), shape.end());
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, places.begin(), places.end());
  const Type type{type_of(array).dtype, Sizes(sizes, where).shape(function)};
  return broadcast_to_shape(function, number_as(function, Number(false), type.dtype, where),
                            type.shape, where);
}

// What is there for a position out of range.
Term filling(Dtype dtype, SourceLocation where) {
  const ElementBits bits = visit_any_dtype(dtype, []<class T>() {
    if constexpr (is_complex_storage<T>) {
      return ElementBits::of(T(std::numeric_limits<typename T::value_type>::quiet_NaN()));
    } else if constexpr (is_float_storage<T>) {
      return ElementBits::of(T(std::numeric_limits<float>::quiet_NaN()));
    } else if constexpr (std::is_same_v<T, bool>) {
      return ElementBits::of(true);
    } else {
      return ElementBits::of(std::is_signed_v<T> ? std::numeric_limits<T>::min()
                                                 : std::numeric_limits<T>::max());
    }
  });
  return {array_of(dtype, bits, where), where};
}

// `mask` along the axes of `shape` from `axis` on.
Term spread(const Term& mask, const Shape& shape, std::int64_t axis) {
  AxisList axes(as_place(type_of(mask).rank()));
  std::iota(axes.begin(), axes.end(), axis);
  if (type_of(mask).shape == shape) return mask;
  return {
      record(Op::broadcast_in_dim, {mask}, mask.where(), AxesAttributes{axes}, Type{bool_, shape}),
      mask.where()};
}

/// Positions along an axis of `size`, and which of them are in range where that counts.
struct Places {
  Term at;
  std::optional<Term> inside = {};
};

Places places_along(const char* function, const Operand& indices, std::int64_t size,
                    OutOfRange mode) {
  if (mode == OutOfRange::wrap) {
    const Term at(positions_along(function, indices, size), indices.where());
    if (size == 0) return {at};
    return {Term(remainder(at, Operand(size)), indices.where())};
  }
  const Term at(positions_from_end(function, indices, size), indices.where());
  if (mode == OutOfRange::clip) return {at};
  return {at, (at >= Term(0)) & (at < Term(size))};
}

// The result, or what fills it where a position is out of range.
Array filled(const Array& picked, const Places& places, std::int64_t axis, SourceLocation at) {
  if (!places.inside) return picked;
  const Shape& shape = type_of(picked).shape;
  return where(spread(*places.inside, shape, axis), Term(picked, at),
               filling(type_of(picked).dtype, at));
}

void demand_elements(const char* function, const Array& array, std::int64_t size,
                     const Array& indices, OutOfRange mode, SourceLocation where) {
  if (size > 0 || type_of(indices).size() == 0 || mode == OutOfRange::fill) return;
  fail(std::string(function) + ": " + to_string(type_of(array)) +
           " has no elements to take along that axis; OutOfRange::fill gives some",
       where);
}

}  // namespace

Array gather(const Operand& x, const Operand& indices, const GatherDimensions& d,
             const Sizes& slice_sizes) {
  const Array array = as_array("gather", x);
  const Array at = positions("gather", indices);
  const AxisList& sizes = slice_sizes.list();
  if (!drops_empty_axis(d, sizes)) {
    return gathered(array, at, d, sizes, x.where());
  }
  // As if there were one element: the result's shape, of zeros.
  const Type& type = type_of(array);
  AxisList whole(type.shape.begin(), type.shape.end()), ones = sizes;
  for (std::int64_t axis : d.collapsed_slice_dims) {
    if (axis < 0 || axis >= type.rank() || as_place(axis) >= ones.size()) continue;
    whole[as_place(axis)] = std::max<std::int64_t>(whole[as_place(axis)], 1);
    ones[as_place(axis)] = 1;
  }
  const Array zeros = broadcast_to_shape("gather", number_as("gather", Number(0), i32, x.where()),
                                         Shape(whole), x.where());
  const Array like = gathered(zeros, at, d, ones, x.where());
  return record(Op::convert, {like}, x.where(), NoAttributes{},
                Type{type.dtype, type_of(like).shape});
}

Array take(const Operand& x, const Operand& indices, Axis axis, OutOfRange mode) {
  const Array array = as_array("take", x);
  const Shape& shape = type_of(array).shape;
  const std::int64_t along = axis_of("take", axis, shape, x.where());
  const std::int64_t size = shape[static_cast<int>(along)];
  const Places places = places_along("take", indices, size, mode);
  demand_elements("take", array, size, places.at, mode, x.where());
  return filled(taken("take", array, places.at, along, x.where()), places, along, x.where());
}

Array take(const Operand& x, const Operand& indices, OutOfRange mode) {
  const Array array = as_array("take", x);
  return take(Operand(ravel({array, x.where()}), x.where()), indices, 0, mode);
}

namespace {

/// What take_along_axis and put_along_axis read and write: all axes but one are batches.
struct Along {
  std::int64_t axis, size;
  AxisList batches, index_batches;  // by position
  AxisList sizes;                   // of the indices, broadcast against x
};

Along axes_along(const char* function, const Array& array, const Array& indices, Axis axis,
                 SourceLocation where) {
  const Shape &shape = type_of(array).shape, &places = type_of(indices).shape;
  if (shape.rank() != places.rank()) {
    fail(std::string(function) + ": " + to_string(type_of(array)) + " and the indices, " +
             to_string(type_of(indices)) + ", have to have as many axes; expand_dims adds one",
         where);
  }
  Along along{axis_of(function, axis, shape, where), 0, {}, {}, {}};
  along.size = shape[static_cast<int>(along.axis)];
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t own = shape[static_cast<int>(i)], given = places[static_cast<int>(i)];
    along.sizes.push_back(i == along.axis || own == 1 ? given : own);
    if (i == along.axis) continue;
    if (own != given && given != 1 && own != 1) {
      fail(std::string(function) + ": axis " + std::to_string(i) + " of " +
               to_string(type_of(array)) + " and of the indices, " + to_string(type_of(indices)) +
               ", differ, and neither is 1",
           where);
    }
    along.batches.push_back(i);
  }
  along.index_batches = along.batches;
  return along;
}

}  // namespace

Array take_along_axis(const Operand& x, const Operand& indices, Axis axis, OutOfRange mode) {
  constexpr const char* function = "take_along_axis";
  Array array = as_array(function, x);
  const Along along = axes_along(function, array, as_array(function, indices), axis, x.where());
  AxisList whole = along.sizes;
  whole[as_place(along.axis)] = along.size;
  array = broadcast_to_shape(function, array, Shape(whole), x.where());
  const Array spread_indices = broadcast_to_shape(function, as_array(function, indices),
                                                  Shape(along.sizes), indices.where());
  const Places places =
      places_along(function, Operand(spread_indices, indices.where()), along.size, mode);
  demand_elements(function, array, along.size, places.at, mode, x.where());
  if (along.size == 0) {
    const Term nothing = filling(type_of(array).dtype, x.where());
    return broadcast_to_shape(function, nothing, Shape(along.sizes), x.where());
  }
  GatherAttributes a;
  a.collapsed_axes = a.start_axes = {along.axis};
  a.operand_batch_axes = along.batches;
  a.index_batch_axes = along.index_batches;
  a.index_vector_axis = type_of(array).rank();
  a.sizes.assign(whole.size(), 1);
  for (std::int64_t batch : along.batches) {
    if (whole[as_place(batch)] == 0) a.sizes[as_place(batch)] = 0;
  }
  return filled(record(Op::gather, {array, places.at}, x.where(), a), places, 0, x.where());
}

Array put_along_axis(const Operand& x, const Operand& indices, const Operand& values, Axis axis,
                     Update update) {
  constexpr const char* function = "put_along_axis";
  const Array array = as_array(function, x);
  const Along along = axes_along(function, array, as_array(function, indices), axis, x.where());
  const Shape shape(along.sizes);
  const Array spread_indices =
      broadcast_to_shape(function, as_array(function, indices), shape, indices.where());
  const Array updates = broadcast_to_shape(
      function, updates_of(function, values, type_of(array).dtype), shape, values.where());
  ScatterDimensions d;
  d.inserted_window_dims = d.scatter_dims_to_operand_dims = {along.axis};
  d.input_batching_dims = along.batches;
  d.scatter_indices_batching_dims = along.index_batches;
  d.index_vector_dim = shape.rank();
  return scatter(
      Operand(array, x.where()),
      Operand(positions_from_end(function, Operand(spread_indices, indices.where()), along.size),
              indices.where()),
      Operand(updates, values.where()), d, update);
}

}  // namespace anabranch
