// Patterns: both sides of an equation as data, so that a rule is one line.
//
//   rule("x - 0 = x", x - 0.0, x)
//   rule("-(x - y) = y - x", -(x - y), y - x, When::integers)
//
// A variable matches anything, the same variable the same value; a number matches a constant (or a
// constant's broadcast) of exactly these bits in the operand's dtype, so 0.0 and -0.0 differ for
// floats. Commutative ops match in both orders. On the right a number takes the type of the whole.
// What holds nothing but constants is left to `fold`: a rule that gathers constants has none to
// gather.
#pragma once

#include <string_view>
#include <vector>

#include "passes/rewrite.h"

namespace anabranch {

struct Pattern {
  enum class Kind : std::uint8_t { variable, constant_variable, number, all_ones, op };
  Kind kind = Kind::variable;
  int variable = 0;
  double value = 0;
  Op op = Op::parameter;
  std::vector<Pattern> operands;

  Pattern(Kind kind, int variable) : kind(kind), variable(variable) {}
  Pattern(double number) : kind(Kind::number), value(number) {}
  Pattern(Op op, std::vector<Pattern> operands)
      : kind(Kind::op), op(op), operands(std::move(operands)) {}
};

/// Where an equation holds, by the dtype of the whole's first operand; bool counts as an integer,
/// and `signed_` are floats and integers with a sign.
enum class When : std::uint8_t { always, integers, signed_, floats, fast_math };

/// Whether an equation that holds `when` may be used where the whole's first operand is of `dtype`.
bool admits(When when, Dtype dtype, bool fast_math);

/// Both sides of a rule, and where they are equal.
struct Equation {
  Pattern left, right;
  When when = When::always;
};

/// The rule that replaces what `left` matches by `right`.
Rule rule(std::string_view equation, Pattern left, Pattern right, When when = When::always);

inline Pattern operator+(Pattern a, Pattern b) { return {Op::add, {std::move(a), std::move(b)}}; }
inline Pattern operator-(Pattern a, Pattern b) {
  return {Op::subtract, {std::move(a), std::move(b)}};
}
inline Pattern operator*(Pattern a, Pattern b) {
  return {Op::multiply, {std::move(a), std::move(b)}};
}
inline Pattern operator/(Pattern a, Pattern b) {
  return {Op::divide, {std::move(a), std::move(b)}};
}
inline Pattern operator%(Pattern a, Pattern b) {
  return {Op::remainder, {std::move(a), std::move(b)}};
}
inline Pattern operator&(Pattern a, Pattern b) { return {Op::and_, {std::move(a), std::move(b)}}; }
inline Pattern operator|(Pattern a, Pattern b) { return {Op::or_, {std::move(a), std::move(b)}}; }
inline Pattern operator^(Pattern a, Pattern b) { return {Op::xor_, {std::move(a), std::move(b)}}; }
inline Pattern operator-(Pattern a) { return {Op::negate, {std::move(a)}}; }
inline Pattern operator~(Pattern a) { return {Op::not_, {std::move(a)}}; }

}  // namespace anabranch
