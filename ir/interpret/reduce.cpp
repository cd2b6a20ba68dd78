// Reductions. Floats accumulate in a wider type and round once at the end, so that the oracle's
// error is below any order of summation's.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "ir/interpret/interpret.h"
#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

// For each element of `shape`, in row-major order, the row-major position of the result it folds
// into.
std::vector<std::int64_t> targets(const Shape& shape, const std::vector<std::int64_t>& axes,
                                  const Shape& result) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 0);
  const std::vector<std::int64_t> kept_strides = result.strides();
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const bool reduced = std::ranges::count(axes, static_cast<std::int64_t>(axis)) != 0;
    if (!reduced) strides[axis] = kept_strides[kept++];
  }
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(shape.size()));
  for_each_place(shape,
                 [&](const auto& place) { positions.push_back(position_of(place, strides)); });
  return positions;
}

// Folds with `combine`, from `identity` to what converts to Exact<T>.
template <class T, class Total, class Combine>
Results fold(const Node& node, const Literal& operand, Total identity, Combine combine) {
  const Type& type = node.types[0];
  auto totals = std::make_unique<Total[]>(static_cast<std::size_t>(type.size()));
  std::fill_n(totals.get(), type.size(), identity);
  const auto to = targets(operand.type().shape, node.as<AxesAttributes>().axes, type.shape);
  auto values = operand.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    totals[to[i]] = combine(totals[to[i]], Exact<T>(values[i]));
  }
  Elements<T> result(type);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result[i] = convert_scalar<T>(static_cast<Exact<T>>(totals[i]));
  }
  return std::move(result).finish();
}

// Part by part.
template <class Float>
struct ComplexSum {
  CompensatedSum<Float> re, im;

  ComplexSum operator+(std::complex<Float> x) const { return {re + x.real(), im + x.imag()}; }
  explicit operator std::complex<Float>() const {
    return {static_cast<Float>(re), static_cast<Float>(im)};
  }
};

template <class T>
constexpr Exact<T> lowest() {
  using Limits = std::numeric_limits<Exact<T>>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

template <class T>
constexpr Exact<T> highest() {
  using Limits = std::numeric_limits<Exact<T>>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

// The position along the axis of the first element that nothing else `beats`; NaN beats numbers.
template <class Beats>
Results first_best(const Node& node, const Literal& operand, Beats beats) {
  const Type& type = node.types[0];
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  const Shape& shape = operand.type().shape;
  const auto to = targets(shape, {axis}, type.shape);
  const std::int64_t stride = shape.strides()[static_cast<std::size_t>(axis)];
  const std::int64_t extent = shape[static_cast<int>(axis)];
  return visit_dtype(operand.type().dtype, [&]<class T>() {
    auto values = operand.values<T>();
    std::vector<std::int64_t> best(static_cast<std::size_t>(type.size()), -1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto& so_far = best[static_cast<std::size_t>(to[i])];
      const Computed<T> next = values[i];
      const auto leader = static_cast<Computed<T>>(
          so_far < 0 ? values[i] : values[static_cast<std::size_t>(so_far)]);
      const bool is_better = next != next ? leader == leader : beats(next, leader);
      if (so_far < 0 || is_better) so_far = static_cast<std::int64_t>(i);
    }
    return visit_dtype(type.dtype, [&]<class Position>() {
      Elements<Position> result(type);
      for (std::int64_t i = 0; i < result.size(); ++i) {
        result[i] = convert_scalar<Position>(best[static_cast<std::size_t>(i)] / stride % extent);
      }
      return std::move(result).finish();
    });
  });
}

// Element `index` as a rank-0 literal.
Literal element(const Literal& literal, std::size_t index) {
  const Dtype dtype = literal.type().dtype;
  auto bytes = literal.bytes().subspan(index * byte_size(dtype), byte_size(dtype));
  return Literal(Type{dtype, {}}, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Scalar k of each entry, one after the other.
Literal join_scalars(const Type& type, std::span<const Results> entries, std::size_t k) {
  std::vector<std::byte> bytes;
  bytes.reserve(type.bytes());
  for (const Results& entry : entries) {
    bytes.insert(bytes.end(), entry[k].bytes().begin(), entry[k].bytes().end());
  }
  return Literal(type, std::move(bytes));
}

}  // namespace

namespace rules {

Results reduce_sum(const Node& node, Operands x) {
  return visit_any_dtype(x[0].type().dtype, [&]<class T>() {
    if constexpr (is_complex_storage<T>)
      return fold<T>(node, x[0], ComplexSum<typename Exact<T>::value_type>(), std::plus<>());
    else if constexpr (std::is_floating_point_v<Exact<T>>)
      return fold<T>(node, x[0], CompensatedSum<Exact<T>>(), std::plus<>());
    else
      return fold<T>(node, x[0], Exact<T>{0}, sum_of<Exact<T>>);
  });
}

Results reduce_product(const Node& node, Operands x) {
  return visit_any_dtype(x[0].type().dtype, [&]<class T>() {
    return fold<T>(node, x[0], Exact<T>(1), product_of<Exact<T>>);
  });
}

Results reduce_max(const Node& node, Operands x) {
  return visit_dtype(x[0].type().dtype, [&]<class T>() {
    return fold<T>(node, x[0], lowest<T>(), maximum_of<Exact<T>>);
  });
}

Results reduce_min(const Node& node, Operands x) {
  return visit_dtype(x[0].type().dtype, [&]<class T>() {
    return fold<T>(node, x[0], highest<T>(), minimum_of<Exact<T>>);
  });
}

Results reduce_any(const Node& node, Operands x) {
  return fold<bool>(node, x[0], false, [](bool so_far, bool next) { return so_far || next; });
}

Results reduce_all(const Node& node, Operands x) {
  return fold<bool>(node, x[0], true, [](bool so_far, bool next) { return so_far && next; });
}

Results argmax(const Node& node, Operands x) {
  return first_best(node, x[0], [](auto next, auto leader) { return next > leader; });
}

Results argmin(const Node& node, Operands x) {
  return first_best(node, x[0], [](auto next, auto leader) { return next < leader; });
}

Results reduce(const Node& node, Operands operands) {
  const std::size_t count = operands.size() / 2;
  const Shape& kept = node.types[0].shape;
  const Shape& shape = operands[0].type().shape;
  const std::vector<Literal> initial(operands.begin() + static_cast<std::ptrdiff_t>(count),
                                     operands.end());
  std::vector<Results> totals(static_cast<std::size_t>(kept.size()), initial);
  const auto to = targets(shape, node.as<AxesAttributes>().axes, kept);
  for (std::size_t i = 0; i < to.size(); ++i) {
    Results& total = totals[static_cast<std::size_t>(to[i])];
    std::vector<Literal> arguments = total;
    for (std::size_t k = 0; k < count; ++k) arguments.push_back(element(operands[k], i));
    total = interpret(node.regions[0], arguments);
  }
  Results results;
  for (std::size_t k = 0; k < count; ++k) results.push_back(join_scalars(node.types[k], totals, k));
  return results;
}

}  // namespace rules
}  // namespace anabranch
