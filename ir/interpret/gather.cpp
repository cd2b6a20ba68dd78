// Windows placed by vectors, as the StableHLO specification defines gather and scatter.
#include <algorithm>
#include <cstring>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

using AxisList = std::vector<std::int64_t>;

bool holds(const AxisList& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// What of `place` is along the axes that `axes` names, and what along the others.
struct SplitPlace {
  AxisList inside, outside;
};
SplitPlace split_place(const AxisList& place, const AxisList& axes) {
  SplitPlace split;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const bool is_inside = holds(axes, static_cast<std::int64_t>(i));
    (is_inside ? split.inside : split.outside).push_back(place[i]);
  }
  return split;
}

// Component `k` of the vector at `place`, among the axes but its own.
std::int64_t component(const Literal& indices, AxisList place, std::int64_t vector_axis,
                       std::size_t k) {
  if (vector_axis < indices.type().rank()) {
    place.insert(place.begin() + vector_axis, static_cast<std::int64_t>(k));
  }
  const auto at = static_cast<std::size_t>(position_of(place, indices.type().shape.strides()));
  if (indices.type().dtype == i32) return indices.values<std::int32_t>()[at];
  return indices.values<std::int64_t>()[at];
}

// `place` of an index vector along axis `axis` of the indices, which is not the vector's own.
std::int64_t along(const AxisList& place, std::int64_t axis, std::int64_t vector_axis) {
  return place[static_cast<std::size_t>(axis < vector_axis ? axis : axis - 1)];
}

// Where the elements of one window are, given its start: the place in the window is added on the
// axes that are its own.
AxisList element_place(AxisList start, const AxisList& window, const AxisList& dropped,
                       const AxisList& batch) {
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < start.size(); ++axis) {
    const auto number = static_cast<std::int64_t>(axis);
    if (holds(dropped, number) || holds(batch, number)) continue;
    // A start far outside stays there.
    if (__builtin_add_overflow(start[axis], window[next++], &start[axis])) start[axis] = -1;
  }
  return start;
}

template <class T>
T combined(ScatterCombiner combiner, T x, T y) {
  using C = Computed<T>;
  const C a = static_cast<C>(x), b = static_cast<C>(y);
  switch (combiner) {
    case ScatterCombiner::replace:
      return y;
    case ScatterCombiner::add:
      return convert_scalar<T>(sum_of(a, b));
    case ScatterCombiner::multiply:
      return convert_scalar<T>(product_of(a, b));
    case ScatterCombiner::minimum:
      return convert_scalar<T>(minimum_of(a, b));
    case ScatterCombiner::maximum:
      return convert_scalar<T>(maximum_of(a, b));
    default:
      break;
  }
  if constexpr (std::integral<T>) {
    if (combiner == ScatterCombiner::and_) return static_cast<T>(x & y);
    if (combiner == ScatterCombiner::or_) return static_cast<T>(x | y);
    if (combiner == ScatterCombiner::xor_) return static_cast<T>(x ^ y);
  }
  throw InternalError("interpret", "scatter combines floats bit by bit");
}

}  // namespace

namespace rules {

Results gather(const Node& node, Operands x) {
  const auto& a = node.as<GatherAttributes>();
  const Type &type = node.types[0], &from = x[0].type();
  const std::size_t width = byte_size(type.dtype);
  std::vector<std::byte> bytes(type.bytes());
  std::byte* to = bytes.data();
  for_each_place(type.shape, [&](const AxisList& place) {
    const SplitPlace at = split_place(place, a.offset_axes);
    AxisList start(static_cast<std::size_t>(from.rank()), 0);
    for (std::size_t k = 0; k < a.start_axes.size(); ++k) {
      const auto axis = static_cast<std::size_t>(a.start_axes[k]);
      const std::int64_t room = from.shape[static_cast<int>(axis)] - a.sizes[axis];
      start[axis] =
          std::clamp<std::int64_t>(component(x[1], at.outside, a.index_vector_axis, k), 0, room);
    }
    for (std::size_t i = 0; i < a.operand_batch_axes.size(); ++i) {
      start[static_cast<std::size_t>(a.operand_batch_axes[i])] =
          along(at.outside, a.index_batch_axes[i], a.index_vector_axis);
    }
    const AxisList source = element_place(start, at.inside, a.collapsed_axes, a.operand_batch_axes);
    const auto position = static_cast<std::size_t>(position_of(source, from.shape.strides()));
    std::memcpy(to, x[0].bytes().data() + position * width, width);
    to += width;
  });
  return {Literal(type, std::move(bytes))};
}

Results scatter(const Node& node, Operands x) {
  const auto& a = node.as<ScatterAttributes>();
  const Type& type = node.types[0];
  return visit_dtype(type.dtype, [&]<class T>() -> Results {
    Elements<T> result(type);
    for (std::int64_t i = 0; i < result.size(); ++i) {
      result[i] = x[0].values<T>()[static_cast<std::size_t>(i)];
    }
    const auto updates = x[2].values<T>();
    std::size_t next = 0;
    for_each_place(x[2].type().shape, [&](const AxisList& place) {
      const T update = updates[next++];
      const SplitPlace at = split_place(place, a.window_axes);
      AxisList start(static_cast<std::size_t>(type.rank()), 0);
      for (std::size_t k = 0; k < a.start_axes.size(); ++k) {
        start[static_cast<std::size_t>(a.start_axes[k])] =
            component(x[1], at.outside, a.index_vector_axis, k);
      }
      for (std::size_t i = 0; i < a.operand_batch_axes.size(); ++i) {
        start[static_cast<std::size_t>(a.operand_batch_axes[i])] =
            along(at.outside, a.index_batch_axes[i], a.index_vector_axis);
      }
      const AxisList target =
          element_place(start, at.inside, a.inserted_axes, a.operand_batch_axes);
      for (std::size_t axis = 0; axis < target.size(); ++axis) {
        if (target[axis] < 0 || target[axis] >= type.shape[static_cast<int>(axis)]) return;
      }
      T& element = result[position_of(target, type.shape.strides())];
      element = combined(a.combiner, element, update);
    });
    return std::move(result).finish();
  });
}

}  // namespace rules
}  // namespace anabranch
