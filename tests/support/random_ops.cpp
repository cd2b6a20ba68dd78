// Elementwise ops and leaves.
#include "ir/op.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

std::vector<Op> elementwise_ops(int arity) {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& row = all_ops()[i];
    if (is_elementwise(row) && row.arity == arity) ops.push_back(static_cast<Op>(i));
  }
  return ops;
}

Value any_value(RandomBuilder& b) {
  if (auto value = b.pick([](const Type&) { return true; })) return *value;
  return b.parameter({b.random_dtype(), b.random_shape(b.usual_size())});
}

void add_parameter(RandomBuilder& b) {
  b.parameter({b.random_dtype(), b.random_shape(b.usual_size())});
}

void add_constant(RandomBuilder& b) {
  b.constant(random_literal(b.random, {b.random_dtype(), b.random_shape(40)}, Flavour::special));
}

void add_iota(RandomBuilder& b) {
  const Type type{b.random_dtype(), b.random_shape(b.usual_size())};
  if (type.dtype == bool_ || type.rank() == 0) return;
  b.add(Op::iota, {}, AxisAttributes{b.random.below(type.rank())}, type);
}

void add_unary(RandomBuilder& b) {
  static const std::vector<Op> ops = elementwise_ops(1);
  const Value x = any_value(b);
  for (int tries = 0; tries < 20; ++tries) {
    const Op op = b.random.of(ops);
    if (info(op).has(OpInfo::typed) || !b.takes(op, {x})) continue;
    b.add(op, {x});
    return;
  }
}

void add_convert(RandomBuilder& b) {
  const Value x = any_value(b);
  b.add(Op::convert, {x}, NoAttributes{}, Type{b.random_dtype(), b.shape(x)});
}

void add_bitcast(RandomBuilder& b) {
  const Value x = any_value(b);
  if (b.dtype(x) == bool_ || is_complex(b.dtype(x))) return;
  Dtype to = bool_;
  while (to == bool_ || is_complex(to) || byte_size(to) != byte_size(b.dtype(x))) {
    to = b.random_dtype();
  }
  b.add(Op::bitcast_convert, {x}, NoAttributes{}, Type{to, b.shape(x)});
}

void add_binary(RandomBuilder& b) {
  static const std::vector<Op> ops = elementwise_ops(2);
  const Value x = any_value(b);
  const Value y = b.partner(b.type(x));
  for (int tries = 0; tries < 20; ++tries) {
    const Op op = b.random.of(ops);
    if (op == Op::compare || op == Op::random_bits || !b.takes(op, {x, y})) continue;
    b.random.percent(50) ? b.add(op, {x, y}) : b.add(op, {y, x});
    return;
  }
}

Value comparison(RandomBuilder& b, Value x, Value y) {
  return b.add(Op::compare, {x, y}, random_comparison(b.random, b.dtype(x)));
}

void add_compare(RandomBuilder& b) {
  const Value x = any_value(b);
  comparison(b, x, b.partner(b.type(x)));
}

void add_select(RandomBuilder& b) {
  const Value x = any_value(b);
  const Value y = b.partner(b.type(x));
  const Value condition =
      b.random.percent(50) ? comparison(b, x, y) : b.partner({bool_, b.shape(x)});
  b.add(Op::select, {condition, x, y});
}

void add_clamp(RandomBuilder& b) {
  const Value x = any_value(b);
  if (is_complex(b.dtype(x))) return;
  b.add(Op::clamp, {b.partner(b.type(x)), x, b.partner(b.type(x))});
}

void add_random_bits(RandomBuilder& b) {
  const Shape shape = b.random_shape(b.usual_size());
  const Value key = b.partner({u64, shape});
  const bool counts = shape.rank() > 0 && b.random.percent(70);
  const Value counter =
      counts ? b.add(Op::iota, {}, AxisAttributes{b.random.below(shape.rank())}, Type{u64, shape})
             : b.partner({u64, shape});
  b.add(Op::random_bits, {key, counter});
}

constexpr Recipe recipes[] = {
    {2, 1, add_parameter}, {2, 1, add_constant}, {5, 1, add_iota},        {100, 2, add_unary},
    {8, 2, add_convert},   {4, 2, add_bitcast},  {40, 4, add_binary},     {6, 4, add_compare},
    {6, 7, add_select},    {6, 6, add_clamp},    {3, 5, add_random_bits},
};

}  // namespace

void add_unary(RandomBuilder& b, std::uint64_t number) {
  static const std::vector<Op> ops = elementwise_ops(1);
  const Op op = ops[static_cast<std::size_t>(number % ops.size())];
  const auto dtype = static_cast<Dtype>(number / ops.size() % dtype_count);
  if (info(op).has(OpInfo::typed)) return;
  const Value x = b.parameter({dtype, b.random_shape(100)});
  if (b.takes(op, {x})) b.add(op, {x});
}

std::span<const Recipe> op_recipes() { return recipes; }

}  // namespace anabranch
