// The shapes that fusion is for.
#include <algorithm>

#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

std::optional<Value> float_with_axes(RandomBuilder& b) {
  auto fits = [](const Type& type) { return is_float(type.dtype) && type.rank() > 0; };
  if (auto found = b.pick(fits)) return found;
  const Type type{f32, b.random_shape(b.usual_size())};
  if (type.rank() == 0) return std::nullopt;
  return b.parameter(type);
}

// With an empty axis as one of length 1: padding may make it that.
std::int64_t size_once_padded(const Type& type) {
  std::int64_t size = 1;
  for (std::int64_t length : type.shape) size *= std::max<std::int64_t>(length, 1);
  return size;
}

double terms(const Shape& shape, const Axes& axes) {
  double count = 1;
  for (std::int64_t axis : axes) count *= static_cast<double>(shape[static_cast<int>(axis)]);
  return std::max(count, 1.0);
}

// At most 4 nodes.
Value mean_along(RandomBuilder& b, Value x, const Axes& axes) {
  const Value sum = b.add(Op::reduce_sum, {x}, AxesAttributes{axes});
  return b.add(Op::divide, {sum, b.filled(b.type(sum), terms(b.shape(x), axes))});
}

// relu, as it is written.
void add_positive_part(RandomBuilder& b) {
  auto x = float_with_axes(b);
  if (!x) return;
  const Value zero = b.filled(b.type(*x), 0);
  const Value below = b.add(Op::compare, {*x, zero}, CompareAttributes{Comparison::le});
  b.add(Op::select, {below, zero, *x});
}

void add_softmax(RandomBuilder& b) {
  auto x = float_with_axes(b);
  if (!x) return;
  const Shape shape = b.shape(*x);
  const Axes axes = b.random_axes(shape.rank());
  const Value top = b.add(Op::reduce_max, {*x}, AxesAttributes{axes});
  const Value shifted = b.add(Op::subtract, {*x, b.repeated_along(top, shape, axes)});
  const Value powers = b.add(Op::exponential, {shifted});
  const Value sum = b.add(Op::reduce_sum, {powers}, AxesAttributes{axes});
  b.add(Op::divide, {powers, b.repeated_along(sum, shape, axes)});
}

void add_layernorm(RandomBuilder& b) {
  auto x = float_with_axes(b);
  if (!x) return;
  const Shape shape = b.shape(*x);
  const Axes axes = {shape.rank() - 1};
  const Value mean = mean_along(b, *x, axes);
  const Value centred = b.add(Op::subtract, {*x, b.repeated_along(mean, shape, axes)});
  const Value variance = mean_along(b, b.add(Op::multiply, {centred, centred}), axes);
  const Value guarded = b.add(Op::add, {variance, b.filled(b.type(variance), 1e-3)});
  const Value scale = b.add(Op::rsqrt, {guarded});
  const Value normal = b.add(Op::multiply, {centred, b.repeated_along(scale, shape, axes)});
  const Type row{b.dtype(*x), {shape[shape.rank() - 1]}};
  const AxesAttributes last{{shape.rank() - 1}};
  const Value gain = b.add(Op::broadcast_in_dim, {b.parameter(row)}, last, b.type(normal));
  const Value shift = b.add(Op::broadcast_in_dim, {b.parameter(row)}, last, b.type(normal));
  b.add(Op::add, {b.add(Op::multiply, {normal, gain}), shift});
}

void add_several_reductions(RandomBuilder& b) {
  auto x = float_with_axes(b);
  if (!x) return;
  const AxesAttributes axes{b.random_axes(b.shape(*x).rank())};
  const Value square = b.add(Op::multiply, {*x, *x});
  const Value sum = b.add(Op::reduce_sum, {*x}, axes);
  const Value squares = b.add(Op::reduce_sum, {square}, axes);
  const Value top = b.add(Op::reduce_max, {*x}, axes);
  b.add(Op::subtract, {squares, b.add(Op::multiply, {sum, sum})});
  b.add(Op::maximum, {top, sum});
}

void add_dense_layer(RandomBuilder& b) {
  constexpr Op activations[] = {Op::tanh, Op::logistic, Op::erf, Op::abs};
  auto fits = [](const Type& type) { return type.dtype != bool_ && type.rank() == 2; };
  auto x = b.pick(fits);
  if (!x) x = b.parameter({f32, {b.random_size(1), b.random_size(100)}});
  const std::int64_t width = b.random_size(std::max(b.shape(*x)[0], b.shape(*x)[1]));
  const Value weights = b.partner({b.dtype(*x), {b.shape(*x)[1], width}});
  const Value product = b.add(Op::dot, {*x, weights}, DotAttributes{{}, {}, {1}, {0}});
  const Value bias = b.add(Op::broadcast_in_dim, {b.partner({b.dtype(*x), {width}})},
                           AxesAttributes{{1}}, b.type(product));
  const Value sum = b.add(Op::add, {product, bias});
  if (is_complex(b.dtype(*x))) return;
  if (!is_float(b.dtype(*x)) || b.random.percent(30)) {
    b.add(Op::maximum, {sum, b.filled(b.type(sum), 0)});
  } else {
    b.add(b.random.of(activations), {sum});
  }
}

// Scores of queries and keys, scaled and shifted by a value of their own shape: both ends in sight.
void add_batched_dot(RandomBuilder& b) {
  auto fits = [](const Type& type) {
    return type.dtype != bool_ && type.rank() == 3 && type.size() * type.shape[1] <= 20'000;
  };
  auto queries = b.pick(fits);
  if (!queries) queries = b.parameter({b.random_dtype(), {2, 9, 8}});
  if (b.dtype(*queries) == bool_) return;
  const Value keys = b.partner(b.type(*queries));
  const Value scores = b.add(Op::dot, {*queries, keys}, DotAttributes{{0}, {0}, {2}, {2}});
  const Value scaled = b.add(Op::multiply, {scores, b.filled(b.type(scores), 0.5)});
  b.add(Op::subtract, {scaled, b.partner(b.type(scaled))});
}

// Two ways from one value that meet again, both ends in sight.
void add_diamond(RandomBuilder& b) {
  auto x = float_with_axes(b);
  if (!x) return;
  const Value left = b.add(Op::tanh, {*x});
  const Value right = b.add(Op::multiply, {*x, b.partner(b.type(*x))});
  const Value sum = b.add(Op::add, {left, right});
  b.add(Op::maximum, {sum, b.add(Op::negate, {left})});
}

void add_chain(RandomBuilder& b) {
  constexpr Op ops[] = {Op::add, Op::multiply, Op::subtract, Op::maximum, Op::minimum};
  auto x = b.pick([](const Type& type) { return type.dtype != bool_; });
  if (!x) return;
  Value current = *x;
  for (int length = 3; length > 0; --length) {
    const Op op = without_order(b.random.of(ops), b.dtype(current));
    current = b.add(op, {current, b.partner(b.type(current))});
  }
}

// A reduction whose result comes back over what it was made of.
void add_there_and_back(RandomBuilder& b) {
  constexpr Op folds[] = {Op::reduce_sum, Op::reduce_max, Op::reduce_min};
  constexpr Op meets[] = {Op::add, Op::subtract, Op::multiply, Op::maximum};
  auto x = b.pick([](const Type& type) { return type.dtype != bool_ && type.rank() > 0; });
  if (!x) return;
  const Shape shape = b.shape(*x);
  const Axes axes = b.random_axes(shape.rank());
  const Dtype dtype = b.dtype(*x);
  const Value total = b.add(without_order(b.random.of(folds), dtype), {*x}, AxesAttributes{axes});
  b.add(without_order(b.random.of(meets), dtype), {*x, b.repeated_along(total, shape, axes)});
}

// Moves and arithmetic in turns: transposed, cut, padded, turned round, joined with itself.
void add_index_chain(RandomBuilder& b) {
  auto x =
      b.pick([](const Type& type) { return type.rank() == 2 && size_once_padded(type) <= 4'000; });
  if (!x) x = b.parameter({b.random_dtype(), {7, 9}});
  const Value turned = b.add(Op::transpose, {*x}, AxesAttributes{{1, 0}});
  const Shape shape = b.shape(turned);
  const Value cut =
      b.add(Op::slice, {turned},
            SliceAttributes{{0, shape[1] / 3}, {shape[0], shape[1]}, {1 + b.random.below(2), 1}});
  const Value back = b.add(Op::reverse, {cut}, AxesAttributes{{b.random.below(2)}});
  const Value sum = b.add(without_order(Op::maximum, b.dtype(cut)), {cut, back});
  const Value joined = b.add(Op::concatenate, {sum, cut}, AxisAttributes{b.random.below(2)});
  b.add(Op::pad, {joined, b.filled({b.dtype(joined), {}}, 1)},
        PadAttributes{{1, -1 * (b.shape(joined)[1] > 0)}, {0, 2}, {0, b.random.below(2)}});
}

// Joined, padded, computed with and reduced: the conditions of the index maps reach a reduction.
void add_padded_reduction(RandomBuilder& b) {
  constexpr Op folds[] = {Op::reduce_sum, Op::reduce_max, Op::reduce_product};
  auto x = b.pick([](const Type& type) {
    return type.dtype != bool_ && type.rank() > 0 && size_once_padded(type) <= 2'000;
  });
  if (!x) return;
  const int rank = b.shape(*x).rank();
  const std::int64_t axis = b.random.below(rank);
  const Value joined =
      b.add(Op::concatenate, {*x, b.partner(b.type(*x)), *x}, AxisAttributes{axis});
  PadAttributes edges{Axes(static_cast<std::size_t>(rank)), Axes(static_cast<std::size_t>(rank)),
                      Axes(static_cast<std::size_t>(rank))};
  edges.low[static_cast<std::size_t>(axis)] = b.random.below(3);
  edges.high[static_cast<std::size_t>(axis)] = 1 + b.random.below(2);
  const Value padded = b.add(Op::pad, {joined, b.filled({b.dtype(*x), {}}, 1)}, edges);
  const Value shifted = b.add(Op::subtract, {padded, b.filled(b.type(padded), 1)});
  b.add(without_order(b.random.of(folds), b.dtype(shifted)), {shifted},
        AxesAttributes{b.random_axes(rank)});
}

// Numbers in [0, 1) from the bits of a counter, as `uniform` makes them.
void add_uniform(RandomBuilder& b) {
  const Shape shape = b.random_shape(b.usual_size());
  if (shape.rank() == 0) return;
  const Type words{u64, shape};
  const Value key = b.add(Op::broadcast_in_dim, {b.partner({u64, {}})}, AxesAttributes{}, words);
  const Value counter = b.add(Op::iota, {}, AxisAttributes{b.random.below(shape.rank())}, words);
  const Value bits = b.add(Op::random_bits, {key, counter});
  const Value high = b.add(Op::shift_right_logical, {bits, b.filled(b.type(bits), 8)});
  const Value number = b.converted(high, b.random.percent(50) ? f32 : f64);
  b.add(Op::multiply, {number, b.filled(b.type(number), 0x1p-24)});
}

constexpr Recipe recipes[] = {
    {6, 8, add_softmax},          {5, 24, add_layernorm},  {5, 8, add_several_reductions},
    {6, 10, add_dense_layer},     {5, 8, add_diamond},     {6, 9, add_chain},
    {6, 3, add_there_and_back},   {6, 8, add_index_chain}, {3, 9, add_batched_dot},
    {4, 9, add_padded_reduction}, {3, 12, add_uniform},    {3, 5, add_positive_part},
};

}  // namespace

std::span<const Recipe> pattern_recipes() { return recipes; }

}  // namespace anabranch
