#include "anabranch/nn.h"

#include <concepts>
#include <limits>
#include <numbers>

#include "anabranch/custom_rules.h"
#include "anabranch/manipulate.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// x less its greatest element along the axis, so that no exponential overflows. An axis without
// elements stays as it is. The functions that use it do not change with what is taken away, so that
// it is constant for derivatives.
Term below_top(const char* function, const Term& x, Axis axis) {
  const Shape& shape = x.array().expression()->type.shape;
  std::int64_t along = axis_of(function, axis, shape, x.where());
  if (shape[static_cast<int>(along)] == 0) return x;
  const Array top = max(x, axis, keepdims);
  return x - Term(detail::stop_gradients({top}, x.where())[0], x.where());
}

// The windows of the last axes, and the axes that hold the places in a window.
struct Pools {
  Term windows;
  std::vector<std::int64_t> places;
  double size = 1;  // elements of a window
};

Pools pools(const char* function, const Term& x, const Sizes& sizes, const Sizes& strides,
            const Padding& padding, const Number& filler) {
  const Type& type = type_of(x.array());
  const auto rank = static_cast<std::size_t>(type.rank());
  const std::size_t count = sizes.list().size();
  if (count > rank) {
    fail(std::string(function) + ": " + std::to_string(count) + " sizes for " + to_string(type) +
             "; give at most one per axis",
         sizes.where());
  }
  const auto per_axis = [&](const char* what, const std::vector<std::int64_t>& numbers,
                            std::int64_t other) {
    if (numbers.size() != count) {
      fail(std::string(function) + ": " + std::to_string(numbers.size()) + " " + what + " for " +
               std::to_string(count) + " sizes; give one per size",
           sizes.where());
    }
    std::vector<std::int64_t> all(rank - count, other);
    all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  };
  const auto edges = [&](const char* what, const std::vector<std::int64_t>& numbers) {
    return numbers.empty() ? std::vector<std::int64_t>(rank, 0) : per_axis(what, numbers, 0);
  };
  Array array = x.array();
  if (!padding.low.empty() || !padding.high.empty()) {
    PadAttributes around{edges("low paddings", padding.low), edges("high paddings", padding.high),
                         std::vector<std::int64_t>(rank, 0)};
    const Array outside = number_as(function, filler, type.dtype, x.where());
    array = record_as(function, Op::pad, {array, outside}, x.where(), std::move(around));
  }
  WindowsAttributes windows{sizes.list(), per_axis("strides", strides.list(), 1),
                            std::vector<std::int64_t>(rank, 1)};
  windows.sizes = per_axis("sizes", sizes.list(), 1);
  array = record_as(function, Op::sliding_windows, {array}, x.where(), std::move(windows));
  Pools made{{array, x.where()}, {}};
  for (std::size_t axis = rank; axis < 2 * rank; ++axis) {
    made.places.push_back(static_cast<std::int64_t>(axis));
  }
  for (std::int64_t size : sizes.list()) made.size *= static_cast<double>(size);
  return made;
}

// No element is below it.
Number lowest(Dtype dtype) {
  if (is_float(dtype)) return Number(-std::numeric_limits<double>::infinity());
  return visit_dtype(dtype, [&]<class T>() -> Number {
    if constexpr (std::integral<T>) return Number(std::numeric_limits<T>::lowest());
    return Number(0);
  });
}

}  // namespace

Array relu(const Operand& x) {
  // And not maximum, whose derivative where both are 0 is a half.
  const Term y(as_array("relu", x, Takes::real_numbers), x.where());
  return where(y <= 0, 0, y);
}

Array sigmoid(const Operand& x) {
  return record(Op::logistic, {term("sigmoid", x, Takes::floats_or_complex).array()}, x.where());
}

Array silu(const Operand& x) {
  const Term y = term("silu", x), wide = widened(y);
  return rounded_as(y, wide * Term(sigmoid(wide), x.where()));
}

Array softplus(const Operand& x) {
  Term y = term("softplus", x);
  Term is_below = y < 0;  // not |y|, which would lose the second derivative at 0
  return where(is_below, 0, y) + log1p(exp(where(is_below, y, -y)));
}

Array gelu(const Operand& x, Gelu form) {
  const Term given = term("gelu", x), y = widened(given);
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Term share = form == Gelu::exact ? Term(erf(y * (1 / std::numbers::sqrt2)), x.where())
                                         : tanh(scale * (y + 0.044715 * (y * y * y)));
  return rounded_as(given, 0.5 * y * (1 + share));
}

Array softmax(const Operand& x, Axis axis) {
  const Term y = term("softmax", x);
  const Term e = exp(below_top("softmax", widened(y), axis));
  return rounded_as(y, e / sum_in_own_dtype(e, axis, keepdims));
}

Array log_softmax(const Operand& x, Axis axis) {
  const Term y = term("log_softmax", x);
  const Term z = below_top("log_softmax", widened(y), axis);
  return rounded_as(y, z - log(sum_in_own_dtype(exp(z), axis, keepdims)));
}

Array one_hot(const Operand& indices, std::int64_t count, Dtype dtype) {
  const SourceLocation at = indices.where();
  const Array array = as_array("one_hot", indices, Takes::integers);
  if (count < 0) fail("one_hot: a count of " + std::to_string(count) + " is negative", at);
  const Term position = {record(Op::iota, {}, at, AxisAttributes{0}, Type{i64, Shape({count})}),
                         at};
  const Term wanted = {expand_dims({astype({array, at}, i64), at}, -1), at};
  return astype(wanted == position, dtype);
}

Array max_pool(const Operand& x, const Sizes& sizes, const Sizes& strides, const Padding& padding) {
  const Term y = {as_array("max_pool", x, Takes::real_numbers), x.where()};
  const Pools made =
      pools("max_pool", y, sizes, strides, padding, lowest(type_of(y.array()).dtype));
  return record(Op::reduce_max, {made.windows.array()}, x.where(), AxesAttributes{made.places});
}

Array max_pool(const Operand& x, const Sizes& sizes) { return max_pool(x, sizes, sizes); }

Array avg_pool(const Operand& x, const Sizes& sizes, const Sizes& strides, const Padding& padding) {
  const Term y = term("avg_pool", x);
  const Pools made = pools("avg_pool", widened(y), sizes, strides, padding, Number(0));
  const Term sums = {
      record(Op::reduce_sum, {made.windows.array()}, x.where(), AxesAttributes{made.places}),
      x.where()};
  return rounded_as(y, sums / made.size);
}

Array avg_pool(const Operand& x, const Sizes& sizes) { return avg_pool(x, sizes, sizes); }

Array layer_norm(const Operand& x, const Operand& scale, const Operand& shift, const Axes& axes,
                 double epsilon) {
  const SourceLocation at = x.where();
  const std::vector<Array> all = promote("layer_norm", {&x, &scale, &shift}, Takes::floats);
  const Term given = {all[0], at}, y = widened(given);
  const Axes folded = folded_axes("layer_norm", given, axes);
  const Term away = y - Term(mean(y, folded, keepdims), at);
  const Term spread = {mean(square(away), folded, keepdims), at};
  const Term normal = away * rsqrt(spread + epsilon);
  std::vector<Array> parts = {normal, widened({all[1], at}), widened({all[2], at})};
  broadcast("layer_norm", parts, at);
  return rounded_as(given, Term(parts[0], at) * Term(parts[1], at) + Term(parts[2], at));
}

}  // namespace anabranch
