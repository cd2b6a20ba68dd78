// The left sides of the rules of `simplify`, as they are and with a leaf that is another one.
#include <array>

#include "anabranch/error.h"
#include "ir/infer/infer.h"
#include "passes/match.h"
#include "passes/simplify.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

std::vector<const Pattern*> left_sides() {
  std::vector<const Pattern*> sides;
  for (const Rule& rule : simplify_rules().rules()) {
    if (rule.sides) sides.push_back(&rule.sides->left);
  }
  return sides;
}

/// Writes a pattern; each of its variables is one value.
class PatternWriter {
 public:
  explicit PatternWriter(RandomBuilder& builder) : b_(builder) {}

  Value write(const Pattern& pattern, const Type& type) {
    if (pattern.kind == Pattern::Kind::op) {
      std::vector<Value> operands;
      for (const Pattern& operand : pattern.operands) {
        const bool chooses = pattern.op == Op::select && operands.empty();
        operands.push_back(write(operand, Type{chooses ? bool_ : type.dtype, type.shape}));
      }
      if (info(pattern.op).has(OpInfo::commutative) && b_.random.percent(50)) {
        std::swap(operands[0], operands[1]);
      }
      return b_.add(pattern.op, operands);
    }
    if (b_.random.percent(4)) return b_.partner(type);
    switch (pattern.kind) {
      case Pattern::Kind::variable:
        return bound(pattern, type, [&] { return variable(type); });
      case Pattern::Kind::constant_variable:
        return bound(pattern, type, [&] { return constant(type); });
      case Pattern::Kind::number:
        return b_.filled(type, b_.random.percent(95) ? pattern.value : -pattern.value);
      default:
        return all_ones(b_, type);
    }
  }

 private:
  template <class Make>
  Value bound(const Pattern& pattern, const Type& type, Make make) {
    auto& value = bindings_[static_cast<std::size_t>(pattern.variable)];
    if (!value || b_.type(*value) != type) value = make();
    return *value;
  }

  Value variable(const Type& type) {
    if (b_.random.percent(50)) return b_.partner(type);
    return b_.parameter(type, b_.random.percent(50) ? Flavour::wide : Flavour::special);
  }

  Value constant(const Type& type) {
    const Flavour flavour = b_.random.percent(50) ? Flavour::special : Flavour::ordinary;
    const Value scalar = b_.constant(random_literal(b_.random, {type.dtype, {}}, flavour));
    if (type.rank() == 0) return scalar;
    return b_.add(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, type);
  }

  RandomBuilder& b_;
  std::array<std::optional<Value>, 8> bindings_;
};

bool takes(const Pattern& side, Dtype dtype) {
  if (side.kind != Pattern::Kind::op) return true;
  std::vector<Type> operands(side.operands.size(), Type{dtype, {}});
  if (side.op == Op::select) operands[0].dtype = bool_;
  try {
    infer(side.op, operands, default_attributes(side.op), std::nullopt, {}, {});
  } catch (const Error&) {
    return false;
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!takes(side.operands[k], operands[k].dtype)) return false;
  }
  return true;
}

void add_any_equation(RandomBuilder& b) { add_equation(b, b.random.bits()); }

constexpr Recipe recipes[] = {{60, 14, add_any_equation}};

}  // namespace

void add_equation(RandomBuilder& b, std::uint64_t number) {
  static const std::vector<const Pattern*> sides = left_sides();
  const Pattern& side = *sides[static_cast<std::size_t>(number % sides.size())];
  Dtype dtype = f32;
  do {
    dtype = static_cast<Dtype>(b.random.below(dtype_count));
  } while (is_complex(dtype) || !takes(side, dtype));
  PatternWriter(b).write(side, {dtype, b.random_shape(200)});
}

std::span<const Recipe> equation_recipes() { return recipes; }

}  // namespace anabranch
