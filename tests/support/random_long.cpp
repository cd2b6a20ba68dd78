// Graphs of few nodes over long axes: where sums lose digits, and where loops are cut into parts.
#include <algorithm>
#include <cmath>

#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

constexpr double least_elements = 2e4, most_elements = 4e6;

// All magnitudes of size are equally likely; the long axis is any.
Shape long_shape(Random& random) {
  const double size = least_elements * std::pow(most_elements / least_elements, random.fraction());
  constexpr std::int64_t others[] = {1, 1, 2, 3, 5, 8, 16, 17, 33};
  const std::int64_t first = random.of(others), second = random.percent(60) ? 1 : random.of(others);
  const auto length = static_cast<std::int64_t>(size) / (first * second) + random.below(3);
  switch (random.below(4)) {
    case 0:
      return Shape{first * second * length};
    case 1:
      return Shape{first * second, length};
    case 2:
      return Shape{length, first * second};
    default:
      return Shape{first, length, second};
  }
}

int long_axis(const Shape& shape) {
  return static_cast<int>(std::ranges::max_element(shape) - shape.begin());
}

// Equal terms round the same way each time.
Value long_value(RandomBuilder& b) {
  constexpr Dtype dtypes[] = {f32, f32, f32, f32, f64, f16, bf16, i32, i64, u8, i16};
  const Type type{b.random.of(dtypes), long_shape(b.random)};
  const std::int64_t choice = b.random.below(10);
  if (choice < 3) return b.parameter(type, Flavour::positive);
  if (choice < 7) {
    const Value scalar = b.parameter({type.dtype, {}}, Flavour::positive);
    return b.add(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, type);
  }
  if (choice < 8) return b.add(Op::iota, {}, AxisAttributes{long_axis(type.shape)}, type);
  return b.parameter(type);
}

void add_reduction_over(RandomBuilder& b, Value x) {
  constexpr Op ops[] = {Op::reduce_sum, Op::reduce_sum, Op::reduce_sum,    Op::reduce_sum,
                        Op::reduce_max, Op::reduce_min, Op::reduce_product};
  const Shape shape = b.shape(x);
  const std::int64_t axis = long_axis(shape);
  if (b.random.percent(10)) {
    Axes sizes(shape.begin(), shape.end());
    sizes.erase(sizes.begin() + axis);
    b.add(b.random.percent(50) ? Op::argmax : Op::argmin, {x}, AxisAttributes{axis},
          Type{b.random.percent(50) ? i32 : i64, Shape(sizes)});
    return;
  }
  Axes axes = b.random.percent(30) ? b.random_axes(shape.rank()) : Axes{axis};
  const Value total = b.add(b.random.of(ops), {x}, AxesAttributes{axes});
  if (b.random.percent(30)) b.add(Op::subtract, {x, b.repeated_along(total, shape, axes)});
}

}  // namespace

void add_long_graph(RandomBuilder& b) {
  constexpr Op binary[] = {Op::add, Op::multiply, Op::maximum, Op::subtract};
  Value x = long_value(b);
  for (std::int64_t count = b.random.below(3); count > 0; --count) {
    if (is_float(b.dtype(x)) && b.random.percent(25)) {
      x = b.add(b.random.percent(50) ? Op::sqrt : Op::abs, {x});
    } else {
      x = b.add(b.random.of(binary), {x, b.random.percent(50) ? x : b.filled(b.type(x), 0.1)});
    }
  }
  for (std::int64_t count = 1 + b.random.below(2); count > 0; --count) add_reduction_over(b, x);
}

}  // namespace anabranch
