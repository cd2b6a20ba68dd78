// Loops of a few turns, branches, and slices at places known later; regions within regions.
#include <algorithm>

#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

// Deep enough for a loop in a branch in a loop.
constexpr int most_nested = 2;

/// Writes regions: a few ops on values of one type `type_`, and the i32 scalar that counts turns.
class RegionWriter {
 public:
  RegionWriter(Random& random, Type type) : random_(random), type_(std::move(type)) {}

  // while i < n with two values x and y carried, and z and n captured: (i32, T, T, T, i32).
  std::vector<Graph> loop(int depth) {
    GraphBuilder condition("condition"), body("body");
    const Inside before = parameters(condition, 3, true);
    const Value turns = random_.percent(50) ? before.last : number(condition, random_.below(4));
    const Value holds =
        condition.add(Op::compare, {before.i, turns}, CompareAttributes{Comparison::lt});
    const Inside inside = parameters(body, 3, true);
    const Value x = steps(body, inside, depth);
    const Value y = random_.percent(30)   ? inside.values[1]
                    : random_.percent(30) ? inside.values[0]
                                          : steps(body, inside, depth);
    const Value next = body.add(Op::add, {inside.i, number(body, 1)});
    return {condition.build({holds}), body.build({next, x, y})};
  }

  // One to three branches of (T, T, i32) that give T and T.
  std::vector<Graph> branches(int depth) {
    std::vector<Graph> branches;
    const std::int64_t count = 1 + random_.below(3);
    for (std::int64_t k = 0; k < count; ++k) {
      GraphBuilder branch("branch" + std::to_string(k));
      Inside inside = parameters(branch, 2, false);
      const Value first = random_.percent(20) ? inside.values[0] : steps(branch, inside, depth);
      branches.push_back(branch.build({first, steps(branch, inside, depth)}));
    }
    return branches;
  }

 private:
  struct Inside {
    Value i;                    // an i32 scalar
    std::vector<Value> values;  // of the type
    Value last;                 // another i32 scalar, of a loop
  };

  Inside parameters(GraphBuilder& region, int count, bool of_loop) {
    Inside inside;
    const Type scalar{i32, {}};
    if (of_loop) inside.i = region.parameter(scalar);
    for (int k = 0; k < count; ++k) inside.values.push_back(region.parameter(type_));
    inside.last = region.parameter(scalar);
    if (!of_loop) inside.i = inside.last;
    return inside;
  }

  static Value number(GraphBuilder& region, std::int64_t value) {
    return region.constant(Literal::scalar(static_cast<std::int32_t>(value)));
  }

  Value steps(GraphBuilder& region, const Inside& inside, int depth) {
    std::vector<Value> values = inside.values;
    Value newest = random_.of(values);
    const std::int64_t count = 1 + random_.below(3);
    for (std::int64_t k = 0; k < count; ++k) {
      newest = step(region, inside, newest, random_.of(values), depth);
      values.push_back(newest);
    }
    return newest;
  }

  Value step(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth) {
    if (random_.percent(5)) return region.add(Op::custom_call, {x}, turned_call(type_));
    const std::int64_t choice = random_.below(depth > 0 ? 7 : 5);
    if (choice == 0) return region.add(unary(), {x});
    if (choice == 1 || type_.size() == 0) return region.add(binary(), {x, y});
    if (choice == 2) return with_index(region, inside.i, x);
    if (choice <= 4) return with_block(region, inside.i, x, y);
    return choice == 5 ? inner_loop(region, inside, x, y, depth)
                       : branch(region, inside, x, y, depth);
  }

  Op unary() {
    static const std::vector<Op> of_floats = {Op::tanh, Op::sine, Op::negate, Op::abs};
    static const std::vector<Op> of_integers = {Op::not_, Op::popcnt};
    return random_.of(is_float(type_.dtype) ? of_floats : of_integers);
  }

  Op binary() {
    static const std::vector<Op> ops = {Op::add, Op::maximum, Op::minimum, Op::multiply};
    return random_.of(ops);
  }

  // x + i, or x and (i is 1).
  Value with_index(GraphBuilder& region, Value i, Value x) {
    const Value as_element = region.add(Op::convert, {i}, NoAttributes{}, Type{type_.dtype, {}});
    const Value all = region.add(Op::broadcast_in_dim, {as_element}, AxesAttributes{}, type_);
    return region.add(type_.dtype == bool_ ? Op::and_ : Op::add, {x, all});
  }

  // Row i of y takes the place of another of x; now and then the whole axis, or beyond the edge.
  Value with_block(GraphBuilder& region, Value i, Value x, Value y) {
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
    if (random_.percent(60)) block = region.add(unary(), {block});
    to[1] = block;
    return region.add(Op::dynamic_update_slice, to);
  }

  Value inner_loop(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth) {
    const std::vector<Value> operands = {number(region, 0), x, y, random_.of(inside.values),
                                         inside.i};
    const Value made =
        region.add(Op::while_, operands, NoAttributes{}, std::nullopt, loop(depth - 1));
    return {made.node, 1 + static_cast<std::uint32_t>(random_.below(2))};
  }

  Value branch(GraphBuilder& region, const Inside& inside, Value x, Value y, int depth) {
    const Value made = region.add(Op::case_, {inside.i, x, y, inside.i}, NoAttributes{},
                                  std::nullopt, branches(depth - 1));
    return {made.node, static_cast<std::uint32_t>(random_.below(2))};
  }

  Random& random_;
  Type type_;
};

// 0 to 3, known when it runs. At most 3 nodes.
Value small_number(RandomBuilder& b) {
  const Type scalar{i32, {}};
  if (b.random.percent(25)) {
    return b.constant(Literal::scalar(static_cast<std::int32_t>(b.random.below(4))));
  }
  return b.add(Op::and_, {b.parameter(scalar), b.constant(Literal::scalar(std::int32_t{3}))});
}

// Turns of a loop multiply what a graph costs to run.
std::optional<Value> small_value(RandomBuilder& b) {
  return b.pick([](const Type& type) { return type.size() <= 2'000; });
}

void add_loop(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  const Value turns = small_number(b);
  const Value zero = b.constant(Literal::scalar(std::int32_t{0}));
  const std::vector<Value> operands = {zero, *x, b.partner(type), b.partner(type), turns};
  RegionWriter writer(b.random, type);
  b.add(Op::while_, operands, NoAttributes{}, std::nullopt, writer.loop(most_nested));
}

void add_branch(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  const Value index = small_number(b);
  const std::vector<Value> operands = {index, *x, b.partner(type), index};
  RegionWriter writer(b.random, type);
  b.add(Op::case_, operands, NoAttributes{}, std::nullopt, writer.branches(most_nested));
}

// At most one node per axis.
std::vector<Value> random_starts(RandomBuilder& b, int rank) {
  std::vector<Value> starts;
  for (int axis = 0; axis < rank; ++axis) {
    const Type scalar{b.random.percent(50) ? i32 : i64, {}};
    auto known = b.pick([&](const Type& type) { return type == scalar; });
    const double at = static_cast<double>(b.random.below(9)) - 2;
    const bool is_new = !known || b.random.percent(50);
    starts.push_back(!is_new                ? *known
                     : b.random.percent(50) ? b.parameter(scalar)
                                            : b.constant(Literal::scalar(scalar.dtype, at)));
  }
  return starts;
}

std::vector<std::int64_t> block_of(RandomBuilder& b, const Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size : shape) {
    sizes.push_back(b.random.percent(30) ? size : b.random.below(size + 1));
  }
  return sizes;
}

void add_dynamic_slice(RandomBuilder& b) {
  const auto x = b.pick([](const Type&) { return true; });
  if (!x) return;
  std::vector<Value> operands = {*x};
  const std::vector<Value> starts = random_starts(b, b.shape(*x).rank());
  operands.insert(operands.end(), starts.begin(), starts.end());
  b.add(Op::dynamic_slice, operands, SizesAttributes{block_of(b, b.shape(*x))});
}

void add_dynamic_update_slice(RandomBuilder& b) {
  const auto x = b.pick([](const Type&) { return true; });
  if (!x) return;
  const Type block{b.dtype(*x), Shape(block_of(b, b.shape(*x)))};
  std::vector<Value> operands = {*x, b.partner(block)};
  const std::vector<Value> starts = random_starts(b, b.shape(*x).rank());
  operands.insert(operands.end(), starts.begin(), starts.end());
  b.add(Op::dynamic_update_slice, operands);
}

constexpr Recipe recipes[] = {{3, 9, add_loop},
                              {2, 8, add_branch},
                              {4, 6, add_dynamic_slice},
                              {4, 8, add_dynamic_update_slice}};

}  // namespace

std::span<const Recipe> control_recipes() { return recipes; }

}  // namespace anabranch
