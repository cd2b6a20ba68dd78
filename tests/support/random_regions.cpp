#include "tests/support/random_regions.h"

#include <algorithm>

#include "ir/graph/builder.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

Value number(GraphBuilder& region, std::int64_t value) {
  return region.constant(Literal::scalar(static_cast<std::int32_t>(value)));
}

}  // namespace

std::vector<Graph> RegionWriter::loop(int carried, const RegionOperands& captured, int depth) {
  GraphBuilder holds("condition"), body("body");
  const Value counts = condition(holds, parameters_of_loop(holds, carried, captured));
  const Inside inside = parameters_of_loop(body, carried, captured);
  std::vector<Value> next = {body.add(Op::add, {inside.i, number(body, 1)})};
  for (int k = 0; k < carried; ++k) {
    next.push_back(result(body, inside, inside.values[static_cast<std::size_t>(k)], depth));
  }
  return {holds.build({counts}), body.build(next)};
}

std::vector<Graph> RegionWriter::rows(const Type& whole, std::int64_t end, int captured,
                                      int depth) {
  GraphBuilder holds("condition"), body("body");
  for (GraphBuilder* region : {&holds, &body}) {
    region->parameter({i32, {}});
    for (int k = 0; k < 2; ++k) region->parameter(whole);
    for (int k = 0; k < captured; ++k) region->parameter(type_);
  }
  const Value i{0, 0}, written{1, 0}, read{2, 0};
  const Value counts =
      holds.add(Op::compare, {i, number(holds, end)}, CompareAttributes{Comparison::lt});
  std::vector<Value> place = {i};
  std::vector<std::int64_t> sizes = {1};
  for (std::int64_t size : type_.shape) {
    place.push_back(number(body, 0));
    sizes.push_back(size);
  }
  const auto at_place = [&](std::vector<Value> operands) {
    operands.insert(operands.end(), place.begin(), place.end());
    return operands;
  };
  Inside inside;
  inside.i = inside.last = i;
  const Value row = body.add(Op::dynamic_slice, at_place({read}), SizesAttributes{sizes});
  inside.values.push_back(body.add(Op::reshape, {row}, NoAttributes{}, type_));
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(captured); ++k) {
    inside.values.push_back({3 + k, 0});
  }
  const Value made = result(body, inside, inside.values[0], depth);
  const Value as_row =
      body.add(Op::reshape, {made}, NoAttributes{}, Type{type_.dtype, Shape(sizes)});
  const Value next = body.add(Op::dynamic_update_slice, at_place({written, as_row}));
  return {holds.build({counts}), body.build({body.add(Op::add, {i, number(body, 1)}), next})};
}

std::vector<Graph> RegionWriter::branches(const RegionOperands& operands, bool counted, int results,
                                          int depth) {
  std::vector<Graph> branches;
  const std::int64_t count = 1 + random_.below(4);
  for (std::int64_t k = 0; k < count; ++k) {
    GraphBuilder branch("branch" + std::to_string(k));
    Inside inside;
    add_parameters(branch, inside, operands);
    inside.last = inside.i = counted ? branch.parameter({i32, {}}) : number(branch, k);
    std::vector<Value> given;
    for (int r = 0; r < results; ++r) {
      const bool again = !given.empty() && random_.percent(10);
      const Value own = inside.values.empty() ? leaf(branch) : random_.of(inside.values);
      given.push_back(again ? given.back() : result(branch, inside, own, depth));
    }
    branches.push_back(branch.build(given));
  }
  return branches;
}

void RegionWriter::add_parameters(GraphBuilder& region, Inside& inside,
                                  const RegionOperands& operands) {
  for (int k = 0; k < operands.values; ++k) inside.values.push_back(region.parameter(type_));
  for (const Type& type : operands.others) inside.others.push_back(region.parameter(type));
}

RegionWriter::Inside RegionWriter::parameters_of_loop(GraphBuilder& region, int carried,
                                                      const RegionOperands& captured) {
  Inside inside;
  inside.i = region.parameter({i32, {}});
  for (int k = 0; k < carried; ++k) inside.values.push_back(region.parameter(type_));
  add_parameters(region, inside, captured);
  inside.last = region.parameter({i32, {}});
  return inside;
}

// The counter is below a number, and now and then some element differs from the first value's.
Value RegionWriter::condition(GraphBuilder& region, const Inside& inside) {
  const Value turns = random_.percent(50) ? inside.last : number(region, random_.below(4));
  const Value counts =
      region.add(Op::compare, {inside.i, turns}, CompareAttributes{Comparison::lt});
  if (!random_.percent(20) || inside.values.size() < 2) return counts;
  const Value differ = region.add(Op::compare, {inside.values[0], inside.values.back()},
                                  random_comparison(random_, type_.dtype));
  AxesAttributes all;
  for (std::int64_t axis = 0; axis < type_.rank(); ++axis) all.axes.push_back(axis);
  const Op fold = random_.percent(50) ? Op::reduce_any : Op::reduce_all;
  return region.add(Op::and_, {counts, region.add(fold, {differ}, all)});
}

// What stands in place of `own` in the next turn, or what a branch gives.
Value RegionWriter::result(GraphBuilder& region, const Inside& inside, Value own, int depth) {
  const std::int64_t choice = random_.below(100);
  if (choice < 14) return own;
  if (choice < 24 && !inside.values.empty()) return random_.of(inside.values);
  if (choice < 38) return leaf(region);
  return steps(region, inside, depth);
}

// A value that comes from no operand.
Value RegionWriter::leaf(GraphBuilder& region) {
  const std::int64_t choice = random_.below(3);
  if (choice == 0 && type_.dtype != bool_ && type_.rank() > 0) {
    return region.add(Op::iota, {}, AxisAttributes{random_.below(type_.rank())}, type_);
  }
  if (choice == 1 && type_.size() <= 16) {
    return region.constant(random_literal(random_, type_, Flavour::special));
  }
  const auto value = static_cast<double>(random_.below(4));
  return all_of(region, region.constant(Literal::scalar(type_.dtype, value)), type_);
}

Value RegionWriter::all_of(GraphBuilder& region, Value scalar, const Type& type) {
  if (type.rank() == 0) return scalar;
  return region.add(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, type);
}

Value RegionWriter::steps(GraphBuilder& region, const Inside& inside, int depth) {
  std::vector<Value> values = inside.values;
  if (values.empty() || random_.percent(15)) values.push_back(leaf(region));
  Value newest = random_.of(values);
  const std::int64_t count = 1 + random_.below(3);
  for (std::int64_t k = 0; k < count; ++k) {
    newest = step(region, inside, newest, random_.of(values), depth);
    values.push_back(newest);
  }
  return newest;
}

Value RegionWriter::step(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth) {
  if (random_.percent(4)) return region.add(Op::custom_call, {x}, turned_call(type_));
  if (random_.percent(4) && type_.size() > 0) return checked(region, x);
  const std::int64_t choice = random_.below(depth > 0 ? 13 : 11);
  if (choice <= 1) return unary(region, x);
  if (choice <= 3 || type_.size() == 0) return binary(region, x, y);
  if (choice == 4) return with_index(region, inside, x);
  if (choice <= 6) return with_block(region, inside.i, x, y);
  if (choice == 7) return chosen(region, x, y);
  if (choice == 8) return converted_and_back(region, x);
  if (choice == 9) return reduced_and_repeated(region, x);
  if (choice == 10) return moved(region, x, y);
  return choice == 11 ? inner_loop(region, inside, x, y, depth)
                      : inner_branch(region, inside, x, y, depth);
}

// Of a number that is never above 0, which no pass sees.
Value RegionWriter::checked(GraphBuilder& region, Value x) {
  const Type type{i32, type_.shape};
  const Value number = type_.dtype == i32 ? x : region.add(Op::convert, {x}, NoAttributes{}, type);
  const Value zero = all_of(region, region.constant(Literal::scalar(std::int32_t{0})), type);
  return region.add(Op::check, {region.add(Op::minimum, {number, zero}), x},
                    CheckAttributes{{"never"}});
}

Value RegionWriter::unary(GraphBuilder& region, Value x) {
  constexpr Op of_floats[] = {Op::tanh, Op::sine, Op::negate, Op::abs, Op::floor, Op::sqrt};
  constexpr Op of_complex[] = {Op::negate, Op::sign, Op::sqrt};
  if (is_complex(type_.dtype)) return region.add(random_.of(of_complex), {x});
  constexpr Op of_integers[] = {Op::not_, Op::popcnt, Op::negate, Op::abs, Op::sign};
  if (is_float(type_.dtype)) return region.add(random_.of(of_floats), {x});
  return region.add(type_.dtype == bool_ ? Op::not_ : random_.of(of_integers), {x});
}

Value RegionWriter::binary(GraphBuilder& region, Value x, Value y) {
  constexpr Op of_numbers[] = {Op::add,      Op::maximum, Op::minimum,  Op::multiply,
                               Op::subtract, Op::divide,  Op::remainder};
  constexpr Op of_bools[] = {Op::and_, Op::or_, Op::xor_, Op::maximum};
  constexpr Op of_complex[] = {Op::add, Op::subtract, Op::multiply, Op::divide};
  if (is_complex(type_.dtype)) return region.add(random_.of(of_complex), {x, y});
  return region.add(type_.dtype == bool_ ? random_.of(of_bools) : random_.of(of_numbers), {x, y});
}

Value RegionWriter::chosen(GraphBuilder& region, Value x, Value y) {
  const CompareAttributes how = random_comparison(random_, type_.dtype);
  const Value holds = region.add(Op::compare, {x, y}, how);
  return region.add(Op::select, {holds, y, x});
}

Value RegionWriter::converted_and_back(GraphBuilder& region, Value x) {
  const Type other{static_cast<Dtype>(random_.below(dtype_count)), type_.shape};
  const Value there = region.add(Op::convert, {x}, NoAttributes{}, other);
  return region.add(Op::convert, {there}, NoAttributes{}, type_);
}

Value RegionWriter::reduced_and_repeated(GraphBuilder& region, Value x) {
  AxesAttributes axes, kept;
  for (std::int64_t axis = 0; axis < type_.rank(); ++axis) {
    (random_.percent(60) ? axes : kept).axes.push_back(axis);
  }
  const bool has_order = !is_complex(type_.dtype);
  const bool sums = !has_order || (type_.dtype != bool_ && random_.percent(50));
  const Value total = region.add(sums ? Op::reduce_sum : Op::reduce_max, {x}, axes);
  return region.add(Op::broadcast_in_dim, {total}, kept, type_);
}

// Turned round, or its end before its beginning, or shifted.
Value RegionWriter::moved(GraphBuilder& region, Value x, Value y) {
  if (type_.rank() == 0) return binary(region, x, y);
  const std::int64_t axis = random_.below(type_.rank());
  const std::int64_t size = type_.shape[static_cast<int>(axis)];
  const std::int64_t choice = random_.below(3), at = random_.below(size + 1);
  if (choice == 0) return region.add(Op::reverse, {x}, AxesAttributes{{axis}});
  const auto place = static_cast<std::size_t>(axis);
  if (choice == 1) {
    std::vector<std::int64_t> zeros(static_cast<std::size_t>(type_.rank()), 0);
    PadAttributes edges{zeros, zeros, zeros};
    edges.low[place] = at;
    edges.high[place] = -at;
    const Value edge = region.constant(Literal::scalar(type_.dtype, 1));
    return region.add(Op::pad, {x, edge}, edges);
  }
  const std::vector<std::int64_t> sizes(type_.shape.begin(), type_.shape.end());
  SliceAttributes low{std::vector<std::int64_t>(sizes.size(), 0), sizes,
                      std::vector<std::int64_t>(sizes.size(), 1)};
  SliceAttributes high = low;
  low.limit[place] = at;
  high.start[place] = at;
  return region.add(Op::concatenate,
                    {region.add(Op::slice, {y}, high), region.add(Op::slice, {x}, low)},
                    AxisAttributes{axis});
}

// x + i, or x and (i is 1); or the same of another operand that is a scalar.
Value RegionWriter::with_index(GraphBuilder& region, const Inside& inside, Value x) {
  Value scalar = inside.i;
  for (Value other : inside.others) {
    if (region.type(other).rank() == 0 && random_.percent(30)) scalar = other;
  }
  const Value as_element = region.add(Op::convert, {scalar}, NoAttributes{}, Type{type_.dtype, {}});
  const Value all = all_of(region, as_element, type_);
  return region.add(type_.dtype == bool_ ? Op::and_ : Op::add, {x, all});
}

// Row i of y takes the place of another of x; now and then the whole axis, or beyond the edge.
Value RegionWriter::with_block(GraphBuilder& region, Value i, Value x, Value y) {
  std::vector<std::int64_t> sizes(type_.shape.begin(), type_.shape.end());
  if (!sizes.empty() && random_.percent(90))
    sizes[0] = std::min<std::int64_t>(sizes[0], 1 + random_.below(2));
  std::vector<Value> from = {y}, to = {x};
  to.push_back(Value{});
  for (int axis = 0; axis < type_.rank(); ++axis) {
    from.push_back(axis == 0 ? i : number(region, 0));
    to.push_back(axis != 0             ? number(region, 0)
                 : random_.percent(70) ? i
                                       : region.add(Op::multiply, {i, number(region, -1)}));
  }
  Value block = region.add(Op::dynamic_slice, from, SizesAttributes{std::move(sizes)});
  if (random_.percent(60)) block = unary(region, block);
  to[1] = block;
  return region.add(Op::dynamic_update_slice, to);
}

Value RegionWriter::inner_loop(GraphBuilder& region, const Inside& inside, Value x, Value y,
                               int depth) {
  RegionOperands captured{static_cast<int>(random_.below(3)), {}};
  std::vector<Value> operands = {number(region, 0), x, y};
  for (int k = 0; k < captured.values; ++k) operands.push_back(random_.percent(50) ? x : y);
  for (Value other : inside.others) {
    captured.others.push_back(region.type(other));
    operands.push_back(other);
  }
  // The number of a branch may be any.
  operands.push_back(region.add(Op::and_, {inside.i, number(region, 3)}));
  const Value made = region.add(Op::while_, operands, WhileAttributes{}, std::nullopt,
                                loop(2, captured, depth - 1));
  return {made.node, 1 + static_cast<std::uint32_t>(random_.below(2))};
}

Value RegionWriter::inner_branch(GraphBuilder& region, const Inside& inside, Value x, Value y,
                                 int depth) {
  const Value made = region.add(Op::case_, {inside.i, x, y, x, inside.i}, NoAttributes{},
                                std::nullopt, branches(RegionOperands{3, {}}, true, 2, depth - 1));
  return {made.node, static_cast<std::uint32_t>(random_.below(2))};
}

}  // namespace anabranch
