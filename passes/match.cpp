#include "passes/match.h"

#include <algorithm>
#include <array>

namespace anabranch {
namespace {

using Bindings = std::array<std::optional<Value>, 8>;

std::uint64_t all_ones_bits(Dtype dtype) {
  if (dtype == Dtype::bool_) return 1;
  return ~std::uint64_t{0} >> (64 - 8 * byte_size(dtype));
}

class Matcher {
 public:
  explicit Matcher(const Rewriter& graph) : graph_(graph) {}

  bool matches(const Pattern& pattern, Op op, const std::vector<Value>& inputs) {
    if (pattern.op != op) return false;
    const Bindings before = bindings_;
    if (all_match(pattern.operands, inputs)) return true;
    bindings_ = before;
    if (!info(op).has(OpInfo::commutative)) return false;
    if (all_match(pattern.operands, {inputs[1], inputs[0]})) return true;
    bindings_ = before;
    return false;
  }

  const Bindings& bindings() const { return bindings_; }

  /// Whether what matched holds nothing but constants: `fold` computes it.
  bool all_constant() const {
    return std::all_of(bindings_.begin(), bindings_.end(),
                       [&](const auto& bound) { return !bound || graph_.splat_of(*bound); });
  }

 private:
  bool all_match(const std::vector<Pattern>& patterns, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!matches(patterns[i], values[i])) return false;
    }
    return true;
  }

  bool matches(const Pattern& pattern, Value value) {
    switch (pattern.kind) {
      case Pattern::Kind::variable:
        return binds(pattern, value);
      case Pattern::Kind::constant_variable:
        return graph_.splat_of(value) && binds(pattern, value);
      case Pattern::Kind::number:
        return has_bits(value,
                        [&](Dtype dtype) { return Literal::scalar(dtype, pattern.value).bits(0); });
      case Pattern::Kind::all_ones:
        return has_bits(value, all_ones_bits);
      case Pattern::Kind::op:
        return matches(pattern, graph_.node(value).op, graph_.node(value).inputs);
    }
    return false;
  }

  bool binds(const Pattern& pattern, Value value) {
    auto& bound = bindings_[static_cast<std::size_t>(pattern.variable)];
    if (bound) return *bound == value;
    bound = value;
    return true;
  }

  template <class BitsOf>
  bool has_bits(Value value, BitsOf bits_of) const {
    auto scalar = graph_.splat_of(value);
    if (!scalar || is_complex(scalar->type().dtype)) return false;  // the rules are of real numbers
    return scalar->bits(0) == bits_of(scalar->type().dtype);
  }

  const Rewriter& graph_;
  Bindings bindings_;
};

Value build(const Pattern& pattern, const Bindings& bindings, const Type& whole, Rewriter& graph) {
  switch (pattern.kind) {
    case Pattern::Kind::variable:
    case Pattern::Kind::constant_variable:
      return *bindings[static_cast<std::size_t>(pattern.variable)];
    case Pattern::Kind::number:
      return graph.splat(Literal::scalar(whole.dtype, pattern.value), whole.shape);
    case Pattern::Kind::all_ones: {
      const std::uint64_t bits = all_ones_bits(whole.dtype);
      std::vector<std::byte> bytes(byte_size(whole.dtype));
      std::memcpy(bytes.data(), &bits, bytes.size());
      return graph.splat(Literal(Type{whole.dtype, {}}, std::move(bytes)), whole.shape);
    }
    case Pattern::Kind::op: {
      std::vector<Value> operands;
      for (const Pattern& operand : pattern.operands) {
        operands.push_back(build(operand, bindings, whole, graph));
      }
      return graph.add(pattern.op, std::move(operands));
    }
  }
  throw InternalError("match", "a pattern of no kind");
}

}  // namespace

bool admits(When when, Dtype dtype, bool fast_math) {
  switch (when) {
    case When::always:
      return true;
    case When::integers:
      return !is_float(dtype) && !is_complex(dtype);
    case When::signed_:
      return is_float(dtype) || is_signed_integer(dtype);
    case When::floats:
      return is_float(dtype);
    case When::fast_math:
      return is_float(dtype) && fast_math;
  }
  return false;
}

Rule rule(std::string_view equation, Pattern left, Pattern right, When when) {
  const Op root = left.op;
  auto sides = std::make_shared<const Equation>(Equation{std::move(left), std::move(right), when});
  auto apply = [sides](Rewriter& graph, const Node& node) -> std::optional<Value> {
    const Dtype dtype = graph.type(node.inputs[0]).dtype;
    if (!admits(sides->when, dtype, graph.fast_math())) return std::nullopt;
    Matcher matcher(graph);
    if (!matcher.matches(sides->left, node.op, node.inputs)) return std::nullopt;
    if (matcher.all_constant()) return std::nullopt;
    const Value made = build(sides->right, matcher.bindings(), node.types[0], graph);
    if (graph.type(made) != node.types[0]) return std::nullopt;  // abs of a complex number is real
    return made;
  };
  return {equation, {root}, std::move(apply), sides};
}

}  // namespace anabranch
