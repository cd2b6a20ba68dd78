// Small trees of elementwise ops over few operands and telling constants: the left sides of
// algebraic rules, and what only looks like them.
#include <limits>

#include "ir/infer/infer.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

// What rules are written about.
constexpr Op algebra[] = {Op::add,
                          Op::subtract,
                          Op::multiply,
                          Op::divide,
                          Op::remainder,
                          Op::negate,
                          Op::abs,
                          Op::sign,
                          Op::maximum,
                          Op::minimum,
                          Op::floor,
                          Op::ceil,
                          Op::power,
                          Op::and_,
                          Op::or_,
                          Op::xor_,
                          Op::not_,
                          Op::cosine,
                          Op::cosh,
                          Op::shift_left,
                          Op::sqrt,
                          Op::log,
                          Op::rsqrt,
                          Op::negate,
                          Op::shift_right_logical,
                          Op::abs,
                          Op::add,
                          Op::multiply,
                          Op::subtract,
                          Op::shift_right_arithmetic,
                          Op::tanh,
                          Op::sine,
                          Op::popcnt,
                          Op::round_nearest_even,
                          Op::exponential};

bool gives_its_dtype(Op op, Dtype dtype) {
  const std::vector<Type> operands(static_cast<std::size_t>(info(op).arity), Type{dtype, {}});
  try {
    return infer(op, operands, default_attributes(op), std::nullopt, {}, {})[0].dtype == dtype;
  } catch (const Error&) {
    return false;
  }
}

const std::vector<Op>& algebra_of(Dtype dtype) {
  static const std::vector<std::vector<Op>> ops = [] {
    std::vector<std::vector<Op>> ops(dtype_count);
    for (int k = 0; k < dtype_count; ++k) {
      for (Op op : algebra) {
        if (gives_its_dtype(op, static_cast<Dtype>(k))) {
          ops[static_cast<std::size_t>(k)].push_back(op);
        }
      }
    }
    return ops;
  }();
  return ops[static_cast<std::size_t>(dtype)];
}

/// Writes one tree of values of one type; at most 9 ops and the leaves.
class TreeWriter {
 public:
  TreeWriter(RandomBuilder& builder, Value x) : b_(builder), type_(builder.type(x)), values_{x} {
    if (b_.random.percent(60)) values_.push_back(b_.partner(type_));
  }

  Value tree(int depth) {
    if (depth == 0) return leaf();
    const Op op = b_.random.of(algebra_of(type_.dtype));
    std::vector<Value> operands;
    for (int k = 0; k < info(op).arity; ++k) operands.push_back(operand(depth - 1, op));
    // The same op again, and the same operand twice, is what rules are often about.
    if (operands.size() == 2 && b_.random.percent(12)) operands[1] = operands[0];
    const Value made = b_.add(op, operands);
    values_.push_back(made);
    return made;
  }

 private:
  Value operand(int depth, Op above) {
    if (depth == 0 || b_.random.percent(30)) return leaf();
    if (!b_.random.percent(25)) return tree(depth);
    std::vector<Value> operands;
    for (int k = 0; k < info(above).arity; ++k) operands.push_back(leaf());
    return b_.add(above, operands);
  }

  Value leaf() {
    const std::int64_t choice = b_.random.below(10);
    if (choice < 6) return b_.random.of(values_);
    if (choice == 9) return all_ones(b_, type_);
    constexpr double numbers[] = {0, -0.0, 1, -1, 2, 0.5, 3, 4, 1, 0, -2};
    return b_.filled(type_, b_.random.of(numbers));
  }

  RandomBuilder& b_;
  const Type type_;
  std::vector<Value> values_;
};

// Something to begin with, as often as not of every magnitude.
Value trunk(RandomBuilder& b) {
  if (b.random.percent(50)) {
    if (auto x = b.pick([](const Type& type) { return type.size() <= 5'000; })) return *x;
  }
  const Type type{static_cast<Dtype>(b.random.below(dtype_count)), b.random_shape(100)};
  return b.parameter(type, b.random.percent(50) ? Flavour::wide : Flavour::special);
}

// Two or three ops of one operand, one of the other.
void add_unary_chain(RandomBuilder& b) {
  Value x = trunk(b);
  for (std::int64_t count = 2 + b.random.below(2); count > 0; --count) {
    Op op = Op::add;
    while (info(op).arity != 1) op = b.random.of(algebra_of(b.dtype(x)));
    x = b.add(op, {x});
  }
}

void add_tree(RandomBuilder& b) {
  TreeWriter writer(b, trunk(b));
  writer.tree(b.random.percent(60) ? 2 : 3);
}

// Comparisons, their opposites, and what is chosen by them.
void add_choice(RandomBuilder& b) {
  const Value x = trunk(b);
  TreeWriter writer(b, x);
  const Value y = b.random.percent(25) ? x : writer.tree(b.random.percent(50) ? 0 : 1);
  const CompareAttributes how = random_comparison(b.random, b.dtype(x));
  Value holds =
      b.random.percent(50) ? b.add(Op::compare, {x, y}, how) : b.add(Op::compare, {y, x}, how);
  if (b.random.percent(50)) holds = b.add(Op::not_, {holds});
  if (b.random.percent(20)) holds = b.filled(b.type(holds), b.random.percent(50) ? 1 : 0);
  if (b.random.percent(30)) return;
  const Value other = b.random.percent(30) ? x : y;
  b.add(Op::select, {holds, x, other});
}

// From dtype to dtype, each of which may hold less, and back.
void add_conversions(RandomBuilder& b) {
  const Value x = trunk(b);
  Value current = x;
  for (std::int64_t count = 2 + b.random.below(2); count > 0; --count) {
    const auto next = static_cast<Dtype>(b.random.below(dtype_count));
    current = b.add(Op::convert, {current}, NoAttributes{}, Type{next, b.shape(x)});
  }
  if (b.random.percent(30)) {
    b.add(Op::convert, {current}, NoAttributes{}, Type{b.dtype(x), b.shape(x)});
  }
}

constexpr Recipe recipes[] = {
    {30, 26, add_tree}, {8, 5, add_unary_chain}, {8, 10, add_choice}, {10, 5, add_conversions}};

}  // namespace

Value all_ones(RandomBuilder& b, const Type& type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_float(type.dtype)) {
    return b.filled(type,
                    b.random.percent(50) ? infinity : std::numeric_limits<double>::quiet_NaN());
  }
  // Saturates to the greatest.
  const bool is_unsigned = type.dtype != bool_ && !is_signed_integer(type.dtype);
  return b.filled(type, is_unsigned ? infinity : -1);
}

std::span<const Recipe> tree_recipes() { return recipes; }

}  // namespace anabranch
