// What goes along an axis in order: sorts and running combinations. Running sums and products of
// floats are kept in a wider type, and each is rounded once.
#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

// Calls `visit(first, stride)` for each line along `axis`: where it begins, and how far apart its
// elements are.
template <class Visit>
void for_each_line(const Shape& shape, std::int64_t axis, Visit visit) {
  const std::int64_t stride = shape.strides()[static_cast<std::size_t>(axis)];
  const std::int64_t extent = shape[static_cast<int>(axis)];
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    if (i / stride % extent == 0) visit(i, stride);
  }
}

// The order of ops.def, -0 and 0 being equal as they are to the machine.
template <class T>
bool comes_before(T x, T y) {
  if constexpr (std::floating_point<Computed<T>>) {
    const Computed<T> a = x, b = y;
    return a < b || (a == a && b != b);
  } else {
    return x < y;
  }
}

template <class T>
concept Sortable = std::integral<T> || is_float_storage<T>;

// `place(first, to, from, stride)`: of the line that begins at `first`, the element of rank
// (to - first) / stride was at position `from`.
template <class T, class Place>
void sort_lines(const Literal& operand, std::int64_t axis, bool descending, Place place) {
  const auto values = operand.values<T>();
  const Shape& shape = operand.type().shape;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(shape[static_cast<int>(axis)]));
  for_each_line(shape, axis, [&](std::int64_t first, std::int64_t stride) {
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    std::ranges::stable_sort(positions, [&](std::int64_t i, std::int64_t j) {
      const T x = values[static_cast<std::size_t>(first + i * stride)];
      const T y = values[static_cast<std::size_t>(first + j * stride)];
      return descending ? comes_before(y, x) : comes_before(x, y);
    });
    for (std::size_t rank = 0; rank < positions.size(); ++rank) {
      place(first, first + static_cast<std::int64_t>(rank) * stride, positions[rank], stride);
    }
  });
}

// `start`: what the first element is combined with, which changes nothing of it.
template <class T, class Total, class Combine>
Results run_along(const Node& node, const Literal& operand, Total start, Combine combine) {
  const auto& [axis, of, reverse] = node.as<CumulativeAttributes>();
  const auto values = operand.values<T>();
  const Shape& shape = operand.type().shape;
  const std::int64_t extent = shape[static_cast<int>(axis)];
  Elements<T> result(node.types[0]);
  for_each_line(shape, axis, [&](std::int64_t first, std::int64_t stride) {
    Total total = start;
    for (std::int64_t i = 0; i < extent; ++i) {
      const std::int64_t at = first + (reverse ? extent - 1 - i : i) * stride;
      total = combine(total, static_cast<Exact<T>>(values[static_cast<std::size_t>(at)]));
      result[at] = convert_scalar<T>(static_cast<Exact<T>>(total));
    }
  });
  return std::move(result).finish();
}

template <class E, class Limits = std::numeric_limits<E>>
constexpr E lowest_of = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
template <class E, class Limits = std::numeric_limits<E>>
constexpr E highest_of = Limits::has_infinity ? Limits::infinity() : Limits::max();

template <class T>
Results cumulative_of(const Node& node, const Literal& operand) {
  switch (node.as<CumulativeAttributes>().of) {
    case Running::sum:
      if constexpr (std::floating_point<Exact<T>>) {
        return run_along<T>(node, operand, CompensatedSum<Exact<T>>{-0.0, -0.0}, std::plus<>());
      } else if constexpr (is_complex_storage<T>) {
        return run_along<T>(node, operand, Exact<T>(-0.0, -0.0), sum_of<Exact<T>>);
      } else {
        return run_along<T>(node, operand, Exact<T>(0), sum_of<Exact<T>>);
      }
    case Running::product:
      return run_along<T>(node, operand, Exact<T>(1), product_of<Exact<T>>);
    case Running::maximum:
      if constexpr (Sortable<T>) {
        return run_along<T>(node, operand, lowest_of<Exact<T>>, maximum_of<Exact<T>>);
      }
      break;
    case Running::minimum:
      if constexpr (Sortable<T>) {
        return run_along<T>(node, operand, highest_of<Exact<T>>, minimum_of<Exact<T>>);
      }
      break;
  }
  refuse_dtype(node, operand.type().dtype);
}

}  // namespace

namespace rules {

Results sort(const Node& node, Operands operands) {
  return visit_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (Sortable<T>) {
      const auto& [axis, descending] = node.as<SortAttributes>();
      const auto values = operands[0].values<T>();
      Elements<T> result(node.types[0]);
      sort_lines<T>(operands[0], axis, descending,
                    [&](std::int64_t first, std::int64_t to, std::int64_t from, std::int64_t step) {
                      result[to] = values[static_cast<std::size_t>(first + from * step)];
                    });
      return std::move(result).finish();
    } else {
      refuse_dtype(node, operands[0].type().dtype);
    }
  });
}

Results argsort(const Node& node, Operands operands) {
  return visit_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (Sortable<T>) {
      return visit_dtype(node.types[0].dtype, [&]<class Position>() -> Results {
        if constexpr (std::integral<Position>) {
          const auto& [axis, descending, positions] = node.as<ArgsortAttributes>();
          Elements<Position> result(node.types[0]);
          sort_lines<T>(operands[0], axis, descending,
                        [&](std::int64_t, std::int64_t to, std::int64_t from, std::int64_t) {
                          result[to] = static_cast<Position>(from);
                        });
          return std::move(result).finish();
        } else {
          refuse_dtype(node, node.types[0].dtype);
        }
      });
    } else {
      refuse_dtype(node, operands[0].type().dtype);
    }
  });
}

Results cumulative(const Node& node, Operands operands) {
  return visit_any_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (Sortable<T> || is_complex_storage<T>) {
      return cumulative_of<T>(node, operands[0]);
    } else {
      refuse_dtype(node, operands[0].type().dtype);
    }
  });
}

}  // namespace rules
}  // namespace anabranch
