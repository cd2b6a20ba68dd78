// Loops of a few turns, branches, and slices at places known later; regions within regions.
#include <algorithm>
#include <limits>

#include "passes/transform/keep.h"
#include "tests/support/random_recipes.h"
#include "tests/support/random_regions.h"

namespace anabranch {
namespace {

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

// Operands of a region that are there already or new, the same ones twice as often as not.
RegionOperands add_operands(RandomBuilder& b, const Type& type, int values,
                            std::vector<Value>& operands) {
  RegionOperands given{values, {}};
  Value last{};
  for (int k = 0; k < values; ++k) {
    last = k > 0 && b.random.percent(30) ? last : b.partner(type);
    operands.push_back(last);
  }
  for (std::int64_t more = b.random.below(3); more > 0; --more) {
    const bool scalar = b.random.percent(50);
    const auto other = b.pick(
        [&](const Type& t) { return scalar ? t.rank() == 0 : t.size() <= 2'000 && t != type; });
    if (!other) continue;
    given.others.push_back(b.type(*other));
    operands.push_back(*other);
  }
  return given;
}

void add_loop(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  const Value turns = small_number(b);
  std::vector<Value> operands = {b.constant(Literal::scalar(std::int32_t{0})), *x};
  const int carried = 1 + static_cast<int>(b.random.below(3));
  for (int k = 1; k < carried; ++k) operands.push_back(b.partner(type));
  const RegionOperands captured =
      add_operands(b, type, static_cast<int>(b.random.below(3)), operands);
  operands.push_back(turns);
  RegionWriter writer(b.random, type);
  b.add(Op::while_, operands, WhileAttributes{}, std::nullopt,
        writer.loop(carried, captured, most_nested));
}

void add_branch(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  const Value index = b.random.percent(80) ? small_number(b) : b.partner({i32, {}});
  std::vector<Value> operands = {index};
  const RegionOperands given = add_operands(b, type, static_cast<int>(b.random.below(4)), operands);
  const bool counted = b.random.percent(70);
  if (counted) operands.push_back(index);
  RegionWriter writer(b.random, type);
  const int results = 1 + static_cast<int>(b.random.below(3));
  b.add(Op::case_, operands, NoAttributes{}, std::nullopt,
        writer.branches(given, counted, results, most_nested));
}

// A function, to be put in the place of its call.
void add_composite(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  std::vector<Value> operands = {*x};
  RegionOperands given = add_operands(b, type, static_cast<int>(b.random.below(3)), operands);
  ++given.values;
  RegionWriter writer(b.random, type);
  const int results = 1 + static_cast<int>(b.random.below(2));
  const CompositeAttributes attributes{CompositeRule::checkpoint, std::ssize(operands)};
  Graph region = writer.branches(given, false, results, most_nested)[0];
  const int share = b.random.percent(50) ? 0 : static_cast<int>(b.random.below(101));
  region = mark_kept(region, [&](const KeepCandidate&) { return b.random.percent(share); }).graph;
  b.add(Op::composite, operands, attributes, std::nullopt, {std::move(region)});
}

// At most one node per axis.
std::vector<Value> random_starts(RandomBuilder& b, int rank) {
  std::vector<Value> starts;
  for (int axis = 0; axis < rank; ++axis) {
    const Type scalar{b.random.percent(50) ? i32 : i64, {}};
    auto known = b.pick([&](const Type& type) { return type == scalar; });
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double at = b.random.percent(92)   ? static_cast<double>(b.random.below(9)) - 2
                      : b.random.percent(50) ? infinity
                                             : -infinity;
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

constexpr Recipe recipes[] = {{7, 13, add_loop},
                              {6, 10, add_branch},
                              {5, 8, add_composite},
                              {6, 6, add_dynamic_slice},
                              {8, 8, add_dynamic_update_slice}};

}  // namespace

std::span<const Recipe> control_recipes() { return recipes; }

void add_loop_over_rows(RandomBuilder& b) {
  const auto x = small_value(b);
  if (!x || b.shape(*x).rank() >= 7) return;
  const Type type = b.type(*x);
  const std::int64_t first = b.random.below(2), end = first + 1 + b.random.below(5);
  std::vector<std::int64_t> sizes = {std::max<std::int64_t>(1, end - 1 + b.random.below(3))};
  sizes.insert(sizes.end(), type.shape.begin(), type.shape.end());
  const Type whole{type.dtype, Shape(std::move(sizes))};
  const Value begin = b.constant(Literal::scalar(static_cast<std::int32_t>(first)));
  const std::vector<Value> operands = {begin, b.partner(whole), b.partner(whole), *x};
  RegionWriter writer(b.random, type);
  b.add(Op::while_, operands, WhileAttributes{}, std::nullopt,
        writer.rows(whole, end, 1, most_nested));
}

}  // namespace anabranch
