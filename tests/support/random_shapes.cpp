// Index maps, reductions and dots.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/graph/builder.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

Axes sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

// An axis without elements counts as one with one: a reduction may take it away.
std::int64_t product(const Axes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                         [](std::int64_t product, std::int64_t size) {
                           return product * std::max(size, std::int64_t{1});
                         });
}

Axes shuffled(RandomBuilder& b, std::int64_t count) {
  Axes order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = count; i > 1; --i) {
    std::swap(order[static_cast<std::size_t>(i - 1)],
              order[static_cast<std::size_t>(b.random.below(i))]);
  }
  return order;
}

std::optional<Value> value_with_axes(RandomBuilder& b) {
  return b.pick([](const Type& type) { return type.rank() > 0; });
}

// Splits an axis, joins two, adds one of size 1, or flattens.
void add_reshape(RandomBuilder& b) {
  auto x = b.pick([](const Type&) { return true; });
  if (!x) return;
  Axes sizes = sizes_of(b.shape(*x));
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto at = static_cast<std::ptrdiff_t>(rank > 0 ? b.random.below(rank) : 0);
  const std::int64_t choice = b.random.below(4);
  if (choice == 0) {
    sizes = {b.shape(*x).size()};
  } else if (choice == 1 && rank < 8) {
    sizes.insert(sizes.begin() + at, 1);
  } else if (choice == 2 && at + 1 < rank) {
    sizes[static_cast<std::size_t>(at)] *= sizes[static_cast<std::size_t>(at + 1)];
    sizes.erase(sizes.begin() + at + 1);
  } else if (rank > 0 && rank < 8) {
    std::int64_t& size = sizes[static_cast<std::size_t>(at)];
    for (std::int64_t factor : {2, 3, 4}) {
      if (size % factor != 0) continue;
      size /= factor;
      sizes.insert(sizes.begin() + at + 1, factor);
      break;
    }
  }
  b.add(Op::reshape, {*x}, NoAttributes{}, Type{b.dtype(*x), Shape(sizes)});
}

void add_broadcast(RandomBuilder& b) {
  const int most_rank = b.random.percent(90) ? 5 : 8;
  auto x = b.pick([&](const Type& type) { return type.rank() < most_rank; });
  if (!x) return;
  const Shape from = b.shape(*x);
  const std::int64_t rank = from.rank() + b.random.below(most_rank + 1 - from.rank());
  Axes axes = shuffled(b, rank);
  axes.resize(static_cast<std::size_t>(from.rank()));
  if (b.random.percent(80)) std::ranges::sort(axes);
  Axes sizes(static_cast<std::size_t>(rank), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    sizes[static_cast<std::size_t>(axes[i])] = from[static_cast<int>(i)];
  }
  for (std::int64_t& size : sizes) {
    if (size == 1) size = b.random_size(product(sizes));
  }
  b.add(Op::broadcast_in_dim, {*x}, AxesAttributes{axes}, Type{b.dtype(*x), Shape(sizes)});
}

void add_transpose(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.rank() > 1; });
  if (x) b.add(Op::transpose, {*x}, AxesAttributes{shuffled(b, b.shape(*x).rank())});
}

void add_slice(RandomBuilder& b) {
  auto x = value_with_axes(b);
  if (!x) return;
  SliceAttributes window;
  for (std::int64_t size : b.shape(*x)) {
    const bool whole = size == 0 || b.random.percent(40);
    const std::int64_t start = whole ? 0 : b.random.below(size);
    window.start.push_back(start);
    window.limit.push_back(whole ? size : start + b.random.below(size - start + 1));
    const std::int64_t extremes[] = {
        std::max<std::int64_t>(size, 1), size + 1, 1LL << 31, (1LL << 32) + 1, 1LL << 62, most};
    window.stride.push_back(b.random.percent(55)   ? 1
                            : b.random.percent(80) ? 1 + b.random.below(3)
                                                   : b.random.of(extremes));
  }
  b.add(Op::slice, {*x}, window);
}

void add_reverse(RandomBuilder& b) {
  auto x = value_with_axes(b);
  if (x) b.add(Op::reverse, {*x}, AxesAttributes{b.random_axes(b.shape(*x).rank())});
}

void add_pad(RandomBuilder& b) {
  auto x = value_with_axes(b);
  if (!x) return;
  PadAttributes edges;
  std::int64_t total = 1;
  const bool crops = b.random.percent(15), nothing = b.random.percent(10);
  for (std::int64_t size : b.shape(*x)) {
    std::int64_t low = b.random.below(6) - 2, high = b.random.below(6) - 2;
    std::int64_t interior = b.random.percent(30) ? 1 + b.random.below(2) : 0;
    if (crops || nothing) {
      low = nothing ? 0 : -b.random.below(2), high = nothing ? 0 : -b.random.below(2), interior = 0;
    }
    const auto padded = [&] {
      return low + high + size + std::max<std::int64_t>(size - 1, 0) * interior;
    };
    if (padded() < 0 || padded() * total > RandomBuilder::size_limit) low = high = interior = 0;
    if (b.random.percent(8)) {
      // What is far outside, and what is between elements of which there is one at most.
      constexpr std::int64_t far[] = {100, 1LL << 31, (1LL << 32) + 1, 1LL << 61};
      const std::int64_t shift = b.random.of(far);
      const std::int64_t grown = low + high;
      if (b.random.percent(60)) low = b.random.percent(50) ? shift : -shift, high = grown - low;
      constexpr std::int64_t gaps[] = {1LL << 31, 1LL << 62, most - 1, most};
      if (size <= 1 && b.random.percent(60)) interior = b.random.of(gaps);
    }
    total *= std::max<std::int64_t>(padded(), 1);
    edges.low.push_back(low);
    edges.high.push_back(high);
    edges.interior.push_back(interior);
  }
  if (total > RandomBuilder::size_limit) return;
  b.add(Op::pad, {*x, b.partner({b.dtype(*x), {}})}, edges);
}

// Windows, and often what is made of them: a reduction over the places in a window.
void add_sliding_windows(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.rank() > 0 && type.rank() <= 3; });
  if (!x) return;
  const Shape from = b.shape(*x);
  WindowsAttributes windows;
  Axes places;
  std::int64_t total = std::max<std::int64_t>(from.size(), 1);
  for (std::int64_t size : from) {
    const bool is_one = b.random.percent(40) || total * 4 > RandomBuilder::size_limit;
    const std::int64_t strides[] = {1, 1, 1, 2, 3, size + 1, most};
    const std::int64_t dilations[] = {1, 1, 1, 2, 3, most};
    windows.sizes.push_back(is_one ? 1 : 1 + b.random.below(4));
    windows.strides.push_back(b.random.of(strides));
    windows.dilations.push_back(b.random.of(dilations));
    total *= windows.sizes.back();
    places.push_back(from.rank() + static_cast<std::int64_t>(places.size()));
  }
  const Value made = b.add(Op::sliding_windows, {*x}, windows);
  if (b.random.percent(30) || b.dtype(*x) == bool_) return;
  constexpr Op reductions[] = {Op::reduce_sum, Op::reduce_product, Op::reduce_max, Op::reduce_min};
  const std::int64_t drawn = b.random.below(4);
  b.add(reductions[is_complex(b.dtype(*x)) ? drawn % 2 : drawn], {made}, AxesAttributes{places});
}

void add_concatenate(RandomBuilder& b) {
  auto x = value_with_axes(b);
  if (!x || b.shape(*x).size() * 3 > RandomBuilder::size_limit) return;
  const std::int64_t axis = b.random.below(b.shape(*x).rank());
  std::vector<Value> operands = {*x};
  const bool many = b.random.percent(8) && b.shape(*x).size() < 100 && b.room() > 25;
  for (std::int64_t more = b.random.below(many ? 12 : 3); more > 0; --more) {
    if (b.random.percent(60)) {
      const Shape& shape = b.shape(*x);
      auto fits = [&](const Type& type) {
        if (type.dtype != b.dtype(*x) || type.rank() != shape.rank()) return false;
        for (int other = 0; other < shape.rank(); ++other) {
          if (other != axis && type.shape[other] != shape[other]) return false;
        }
        return type.size() <= shape.size();
      };
      operands.push_back(*b.pick(fits));
    } else {
      operands.push_back(b.partner(b.type(*x)));
    }
  }
  b.add(Op::concatenate, operands, AxisAttributes{axis});
}

void add_reduction(RandomBuilder& b) {
  constexpr Op ops[] = {Op::reduce_sum, Op::reduce_sum, Op::reduce_max,    Op::reduce_min,
                        Op::reduce_any, Op::reduce_all, Op::reduce_product};
  auto x = b.pick([](const Type&) { return true; });
  if (!x) return;
  Op op = b.random.of(ops);
  const bool logical = op == Op::reduce_any || op == Op::reduce_all;
  Value operand = *x;
  if (logical) operand = b.converted(operand, bool_);
  if (!logical && b.dtype(operand) == bool_)
    op = b.random.percent(50) ? Op::reduce_max : Op::reduce_min;
  if (is_complex(b.dtype(operand)) && !b.takes(op, {operand})) {
    op = b.random.percent(50) ? Op::reduce_sum : Op::reduce_product;
  }
  operand = b.add(op, {operand}, AxesAttributes{b.random_axes(b.shape(operand).rank())});
  if (b.random.percent(30)) {  // in two steps, as a rule joins them
    b.add(op, {operand}, AxesAttributes{b.random_axes(b.shape(operand).rank())});
  }
}

void add_position(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.rank() > 0 && !is_complex(type.dtype); });
  if (!x) return;
  const Op op = b.random.percent(50) ? Op::argmax : Op::argmin;
  const Dtype dtype = b.random.percent(50) ? i32 : i64;
  const std::int64_t axis = b.random.below(b.shape(*x).rank());
  if (b.shape(*x)[static_cast<int>(axis)] == 0) return;
  Axes sizes = sizes_of(b.shape(*x));
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  b.add(op, {*x}, AxisAttributes{axis}, Type{dtype, Shape(sizes)});
}

// A body of one scalar: an associative op on (so far, next).
Graph simple_body(Dtype dtype, Op op) {
  GraphBuilder body("body");
  const Value so_far = body.parameter({dtype, {}});
  const Value next = body.parameter({dtype, {}});
  return body.build({body.add(op, {so_far, next})});
}

// A body of two: the greatest first scalar, and the second that came with it.
Graph greatest_pair_body(Dtype first, Dtype second) {
  GraphBuilder body("body");
  const Value a = body.parameter({first, {}});
  const Value with_a = body.parameter({second, {}});
  const Value b = body.parameter({first, {}});
  const Value with_b = body.parameter({second, {}});
  const Value keep = body.add(Op::compare, {a, b}, CompareAttributes{Comparison::ge});
  return body.build(
      {body.add(Op::select, {keep, a, b}), body.add(Op::select, {keep, with_a, with_b})});
}

// A body of two that have nothing to do with each other: a sum and the least.
Graph sum_and_least_body(Dtype first, Dtype second) {
  GraphBuilder body("body");
  const Value sum = body.parameter({first, {}});
  const Value least = body.parameter({second, {}});
  const Value next = body.parameter({first, {}});
  const Value other = body.parameter({second, {}});
  return body.build({body.add(Op::add, {sum, next}), body.add(Op::minimum, {other, least})});
}

// The first or the last of each, whatever the rest: associative, and needs only some parameters.
Graph one_end_body(std::span<const Dtype> dtypes, bool last) {
  GraphBuilder body("body");
  std::vector<Value> so_far, next;
  for (Dtype dtype : dtypes) so_far.push_back(body.parameter({dtype, {}}));
  for (Dtype dtype : dtypes) next.push_back(body.parameter({dtype, {}}));
  return body.build(last ? next : so_far);
}

// Up to three arrays of any dtypes.
void add_ends(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.rank() > 0 && type.size() <= 1'000; });
  if (!x) return;
  std::vector<Dtype> dtypes = {b.dtype(*x)};
  std::vector<Value> arrays = {*x}, initial;
  for (std::int64_t more = b.random.below(3); more > 0; --more) {
    dtypes.push_back(b.random_dtype());
    arrays.push_back(b.partner({dtypes.back(), b.shape(*x)}));
  }
  for (Dtype dtype : dtypes) initial.push_back(b.partner({dtype, {}}));
  arrays.insert(arrays.end(), initial.begin(), initial.end());
  b.add(Op::reduce, arrays, AxesAttributes{b.random_axes(b.shape(*x).rank())}, std::nullopt,
        {one_end_body(dtypes, b.random.percent(70))});
}

void add_general_reduce(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.rank() > 0 && type.size() <= 1'000; });
  if (!x) return;
  const Dtype dtype = b.dtype(*x);
  const AxesAttributes axes{b.random_axes(b.shape(*x).rank())};
  if (b.random.percent(50)) {
    constexpr Op float_ops[] = {Op::maximum, Op::minimum, Op::add, Op::multiply};
    constexpr Op integer_ops[] = {Op::maximum, Op::add, Op::multiply, Op::xor_};
    constexpr Op bool_ops[] = {Op::and_, Op::or_, Op::xor_};
    const Op op = is_float(dtype)     ? b.random.of(float_ops)
                  : dtype == bool_    ? b.random.of(bool_ops)
                  : is_complex(dtype) ? Op::add
                                      : b.random.of(integer_ops);
    b.add(Op::reduce, {*x, b.partner({dtype, {}})}, axes, std::nullopt, {simple_body(dtype, op)});
    return;
  }
  const bool paired = !is_complex(dtype) && (dtype == bool_ || b.random.percent(50));
  Dtype other = dtype;
  while (!paired && (other == dtype || is_complex(other))) other = b.random_dtype();
  const Value y = b.partner({other, b.shape(*x)});
  b.add(Op::reduce, {*x, y, b.partner({dtype, {}}), b.partner({other, {}})}, axes, std::nullopt,
        {paired ? greatest_pair_body(dtype, other) : sum_and_least_body(dtype, other)});
}

// Axes of the left operand are dealt to batch, contracting and free; the right operand is made to
// fit.
void add_dot(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) { return type.dtype != bool_ && type.rank() > 0; });
  if (!x) return;
  if (b.random.percent(30)) {
    x = b.add(Op::transpose, {*x}, AxesAttributes{shuffled(b, b.shape(*x).rank())});
  }
  const Shape left = b.shape(*x);
  DotAttributes axes;
  Axes right;
  for (std::int64_t axis : shuffled(b, left.rank())) {
    const std::int64_t deal = b.random.below(10);
    if (deal < (axes.lhs_contracting.empty() ? 6 : 1)) {
      axes.lhs_contracting.push_back(axis);
    } else if (deal > 8 && axes.lhs_batch.size() < 2) {
      axes.lhs_batch.push_back(axis);
    }
  }
  std::int64_t kept = 1;
  for (std::int64_t axis = 0; axis < left.rank(); ++axis) {
    if (std::ranges::count(axes.lhs_contracting, axis) == 0) kept *= left[static_cast<int>(axis)];
  }
  const auto shared = axes.lhs_batch.size() + axes.lhs_contracting.size();
  const std::int64_t free = b.random.below(3);
  const Axes places = shuffled(b, static_cast<std::int64_t>(shared) + free);
  if (places.size() > 5 || static_cast<std::int64_t>(left.rank()) + free > 7) return;
  right.assign(places.size(), 1);
  std::size_t next = 0;
  for (std::int64_t axis : axes.lhs_batch) {
    right[static_cast<std::size_t>(places[next])] = left[static_cast<int>(axis)];
    axes.rhs_batch.push_back(places[next++]);
  }
  for (std::int64_t axis : axes.lhs_contracting) {
    right[static_cast<std::size_t>(places[next])] = left[static_cast<int>(axis)];
    axes.rhs_contracting.push_back(places[next++]);
  }
  for (; next < places.size(); ++next) {
    std::int64_t size = b.random_size(std::max(kept, product(right)));
    right[static_cast<std::size_t>(places[next])] = size;
    kept *= size;
  }
  const std::int64_t rank =
      left.rank() - static_cast<std::int64_t>(axes.lhs_contracting.size()) + free;
  if (rank > 5) return;
  b.add(Op::dot, {*x, b.partner({b.dtype(*x), Shape(right)})}, axes);
}

// Of few spatial axes, in any layout, in groups or not.
void add_convolution(RandomBuilder& b) {
  auto x = b.pick([](const Type& type) {
    return type.dtype != bool_ && type.rank() >= 2 && type.rank() <= 4 && type.size() <= 2'000;
  });
  if (!x) return;
  const Shape from = b.shape(*x);
  ConvolutionAttributes a;
  a.lhs_axes = shuffled(b, from.rank());
  a.rhs_axes = shuffled(b, from.rank());
  a.result_axes = shuffled(b, from.rank());
  const std::int64_t inputs = from[static_cast<int>(a.lhs_axes[1])];
  if (inputs % 2 == 0 && b.random.percent(40)) a.groups = b.random.percent(50) ? 2 : inputs;
  a.groups = std::max<std::int64_t>(a.groups, 1);
  const std::int64_t outputs = a.groups * (1 + b.random.below(3));
  if (outputs > 12) return;
  Axes sizes(static_cast<std::size_t>(from.rank()), 1);
  sizes[static_cast<std::size_t>(a.rhs_axes[0])] = outputs;
  sizes[static_cast<std::size_t>(a.rhs_axes[1])] = inputs / a.groups;
  for (std::size_t i = 2; i < a.lhs_axes.size(); ++i) {
    sizes[static_cast<std::size_t>(a.rhs_axes[i])] = 1 + b.random.below(3);
    a.strides.push_back(1 + b.random.below(2));
    a.low.push_back(b.random.below(3));
    a.high.push_back(b.random.below(3));
    a.lhs_dilations.push_back(b.random.percent(80) ? 1 : 2);
    a.rhs_dilations.push_back(b.random.percent(80) ? 1 : 2);
    a.rhs_reversals.push_back(b.random.percent(80) ? 0 : 1);
  }
  const bool may_split = a.groups == 1 && inputs > 0 && inputs % 2 == 0;
  if (may_split && b.random.percent(30)) a.feature_splits = b.random.percent(50) ? 2 : inputs;
  Value filters = b.partner({b.dtype(*x), Shape(sizes)});
  if (from.rank() > 2 && b.random.percent(20)) {
    Axes turned(a.rhs_axes.begin() + 2, a.rhs_axes.end());
    std::ranges::sort(turned);
    filters = b.add(Op::reverse, {filters}, AxesAttributes{std::move(turned)});
  }
  b.add(Op::convolution, {*x, filters}, a);
}

// One index map of another of another, as rules that merge them match.
void add_index_maps(RandomBuilder& b) {
  constexpr void (*maps[])(RandomBuilder&) = {
      add_reshape, add_broadcast,   add_transpose, add_slice,   add_slice,          add_reverse,
      add_pad,     add_concatenate, add_reduction, add_reshape, add_sliding_windows};
  b.build_on_newest(true);
  const auto same = b.random.of(maps);
  const bool again = b.random.percent(40);
  for (std::int64_t count = 2 + b.random.below(3); count > 0; --count) {
    (again ? same : b.random.of(maps))(b);
  }
  b.build_on_newest(false);
}

constexpr Recipe recipes[] = {
    {3, 8, add_ends},
    {6, 1, add_reshape},
    {10, 1, add_broadcast},
    {8, 1, add_transpose},
    {8, 1, add_slice},
    {4, 1, add_reverse},
    {5, 2, add_pad},
    {5, 6, add_concatenate},
    {12, 3, add_reduction},
    {4, 3, add_sliding_windows},
    {6, 4, add_convolution},
    {12, 1, add_position},
    {4, 7, add_general_reduce},
    {6, 4, add_dot},
};

}  // namespace

std::span<const Recipe> shape_recipes() { return recipes; }

std::span<const Recipe> map_recipes() {
  static constexpr Recipe maps[] = {{40, 13, add_index_maps}};
  return maps;
}

}  // namespace anabranch
