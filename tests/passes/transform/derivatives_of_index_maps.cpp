// Ops that move elements.
#include <algorithm>

#include "derivative_cases.h"
#include "tests/support/random_windows.h"

namespace anabranch::testing {
namespace {

using Make = ExampleMaker;
using Case = DerivativeCase;
using Axes = std::vector<std::int64_t>;

void shuffle(Make& m, Axes& list) {
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1],
              list[static_cast<std::size_t>(m.random.below(static_cast<std::int64_t>(i)))]);
  }
}

Axes some_axes(Make& m, const Shape& shape) {
  Axes axes;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (m.random.percent(50)) axes.push_back(axis);
  }
  return axes;
}

Example reshape(Make& m) {
  const Shape shape = m.shape();
  Axes sizes(shape.begin(), shape.end());
  shuffle(m, sizes);
  if (m.random.percent(40)) sizes = {shape.size()};
  while (m.random.percent(40)) sizes.insert(sizes.begin() + m.between(0, std::ssize(sizes)), 1);
  const Value x = m.numbers(shape);
  const Type type{m.dtype, Shape(sizes)};
  return m.build({m.graph.add(Op::reshape, {x}, NoAttributes{}, type)});
}

// Axes in any order; some of size 1 that are repeated.
Example broadcast(Make& m) {
  const Shape to = m.shape(0, 4);
  Axes axes = some_axes(m, to), sizes;
  shuffle(m, axes);
  for (std::int64_t axis : axes) {
    sizes.push_back(m.random.percent(30) ? 1 : to[static_cast<int>(axis)]);
  }
  const Value x = m.numbers(Shape(sizes));
  return m.build({m.graph.add(Op::broadcast_in_dim, {x}, AxesAttributes{axes}, Type{m.dtype, to})});
}

Example transpose(Make& m) {
  const Value x = m.numbers(m.shape());
  Axes axes(static_cast<std::size_t>(m.graph.type(x).rank()));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  shuffle(m, axes);
  return m.build({m.graph.add(Op::transpose, {x}, AxesAttributes{axes})});
}

Example reverse(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  return m.build({m.graph.add(Op::reverse, {x}, AxesAttributes{some_axes(m, shape)})});
}

Example slice(Make& m) {
  const Shape shape = m.shape();
  SliceAttributes a;
  for (std::int64_t size : shape) {
    a.start.push_back(m.between(0, size));
    a.limit.push_back(m.between(a.start.back(), size));
    a.stride.push_back(m.between(1, 3));
  }
  const Value x = m.numbers(shape);
  return m.build({m.graph.add(Op::slice, {x}, a)});
}

// Negative padding crops, also within the gaps that `interior` makes.
Example pad(Make& m) {
  const Shape shape = m.shape();
  PadAttributes a;
  for (std::int64_t size : shape) {
    a.interior.push_back(m.between(0, 2));
    const std::int64_t spread = size == 0 ? 0 : (size - 1) * (a.interior.back() + 1) + 1;
    a.low.push_back(m.between(-std::min<std::int64_t>(spread, 4), 3));
    a.high.push_back(m.between(-std::min<std::int64_t>(spread + a.low.back(), 4), 3));
  }
  const Value x = m.numbers(shape);
  return m.build({m.graph.add(Op::pad, {x, m.numbers({})}, a)});
}

Example sliding_windows(Make& m) {
  Axes sizes(static_cast<std::size_t>(m.between(0, 2)));
  WindowsAttributes a;
  for (auto& size : sizes) {
    size = m.random.percent(10) ? 0 : m.between(1, 9);
    a.sizes.push_back(m.between(1, 3));
    a.strides.push_back(m.between(1, 3));
    a.dilations.push_back(m.between(1, 3));
  }
  const Value x = m.numbers(Shape(sizes));
  return m.build({m.graph.add(Op::sliding_windows, {x}, a)});
}

// One of them may be there twice.
Example concatenate(Make& m) {
  const Shape shape = m.shape(1, 3);
  const std::int64_t axis = m.random.below(shape.rank());
  std::vector<Value> parts;
  for (std::int64_t count = m.between(1, 4); count > 0; --count) {
    Axes sizes(shape.begin(), shape.end());
    sizes[static_cast<std::size_t>(axis)] = m.between(0, 3);
    parts.push_back(!parts.empty() && m.random.percent(25) ? parts[0] : m.numbers(Shape(sizes)));
  }
  return m.build({m.graph.add(Op::concatenate, parts, AxisAttributes{axis})});
}

// Blocks begin inside and outside.
Axes block_sizes(Make& m, const Shape& shape) {
  Axes sizes;
  for (std::int64_t size : shape) sizes.push_back(m.between(0, size));
  return sizes;
}

void add_starts(Make& m, const Shape& shape, std::vector<Value>& operands) {
  for (std::int64_t size : shape) operands.push_back(m.index(-2, size + 2));
}

Example dynamic_slice(Make& m) {
  const Shape shape = m.shape();
  std::vector<Value> operands = {m.numbers(shape)};
  add_starts(m, shape, operands);
  const SizesAttributes sizes{block_sizes(m, shape)};
  return m.build({m.graph.add(Op::dynamic_slice, operands, sizes)});
}

// Two slices of one array, whose cotangents are summed in place.
Example two_dynamic_slices(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  std::vector<Value> operands[2] = {{x}, {x}}, outputs;
  for (auto& list : operands) add_starts(m, shape, list);
  for (const auto& list : operands) {
    outputs.push_back(m.graph.add(Op::dynamic_slice, list, SizesAttributes{block_sizes(m, shape)}));
  }
  outputs.push_back(m.graph.add(Op::multiply, {x, x}));
  return m.build(outputs);
}

Example dynamic_update_slice(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  std::vector<Value> operands = {x, m.numbers(Shape(block_sizes(m, shape)))};
  add_starts(m, shape, operands);
  return m.build({m.graph.add(Op::dynamic_update_slice, operands)});
}

std::int64_t longest(const Shape& shape) {
  std::int64_t most = 0;
  for (std::int64_t size : shape) most = std::max(most, size);
  return most;
}

Example gather(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  const RandomGather made = random_gather(m.random, shape, 60);
  const Dtype dtype = m.random.percent(50) ? i32 : i64;
  const Value indices = m.given(random_indices(m.random, dtype, made.indices, longest(shape)));
  return m.build({m.graph.add(Op::gather, {x, indices}, made.attributes)});
}

Example scatter(Make& m, ScatterCombiner combiner, bool with_zeros) {
  const Shape shape = m.shape();
  const RandomScatter made = random_scatter(m.random, shape, 30, combiner);
  const Dtype dtype = m.random.percent(50) ? i32 : i64;
  const std::vector<double> pool = m.distinct(2 * (shape.size() + made.updates.size()));
  std::size_t next = 0;
  const auto draw = [&] { return with_zeros && m.random.percent(20) ? next++, 0.0 : pool[next++]; };
  const Value x = m.parameter({m.dtype, shape}, draw);
  const Value indices = m.given(random_indices(m.random, dtype, made.indices, longest(shape)));
  const Value updates = m.parameter({m.dtype, made.updates}, draw);
  return m.build({m.graph.add(Op::scatter, {x, indices, updates}, made.attributes)});
}

}  // namespace

std::vector<DerivativeCase> cases_of_index_maps() {
  return {{Op::reshape, "reshape", reshape, Case::both},
          {Op::broadcast_in_dim, "broadcast_in_dim", broadcast, Case::both},
          {Op::transpose, "transpose", transpose, Case::both},
          {Op::reverse, "reverse", reverse, Case::both},
          {Op::slice, "slice", slice, Case::both},
          {Op::pad, "pad", pad, Case::both},
          {Op::sliding_windows, "sliding_windows", sliding_windows, Case::both},
          {Op::concatenate, "concatenate", concatenate, Case::both}};
}

std::vector<DerivativeCase> cases_of_windows() {
  std::vector<Case> cases = {
      {Op::dynamic_slice, "dynamic_slice", dynamic_slice, Case::both},
      {Op::dynamic_slice, "two_dynamic_slices", two_dynamic_slices, Case::both},
      {Op::dynamic_update_slice, "dynamic_update_slice", dynamic_update_slice, Case::both},
      {Op::gather, "gather", gather, Case::both}};
  const std::pair<ScatterCombiner, const char*> combiners[] = {
      {ScatterCombiner::replace, "scatter_replace"},
      {ScatterCombiner::add, "scatter_add"},
      {ScatterCombiner::multiply, "scatter_multiply"},
      {ScatterCombiner::minimum, "scatter_minimum"},
      {ScatterCombiner::maximum, "scatter_maximum"}};
  for (const auto& [combiner, name] : combiners) {
    const bool is_ordered =
        combiner == ScatterCombiner::minimum || combiner == ScatterCombiner::maximum;
    cases.push_back({Op::scatter, name, [=](Make& m) { return scatter(m, combiner, false); },
                     is_ordered ? Case::real : Case::both});
  }
  // Where a factor is 0 the second derivative lacks what the factors besides it give.
  cases.push_back({Op::scatter, "scatter_multiply_with_zeros",
                   [](Make& m) { return scatter(m, ScatterCombiner::multiply, true); }, Case::both,
                   1});
  return cases;
}

}  // namespace anabranch::testing
