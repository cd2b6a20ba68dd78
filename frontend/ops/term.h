// Term: an operand inside one of our own composite functions. Whatever is made from it keeps the
// line of the user's call, so that `softmax` shows in errors and dumps where the user wrote
// softmax.
#pragma once

#include "anabranch/elementwise.h"
#include "anabranch/sizes.h"
#include "frontend/ops/promote.h"

namespace anabranch {

class Term : public Operand {
 public:
  explicit Term(const Operand& operand) : Operand(operand) {}
  Term(Array array, SourceLocation where) : Operand(std::move(array), where) {}
  /// A number of the dtype of what it meets.
  template <NumberType T>
  Term(T number) : Operand(number) {}

  operator const Array&() const { return array(); }
};

// clang-format off
#define TERM_UNARY(function) \
  inline Term function(const Term& x) { return {function(static_cast<const Operand&>(x)), x.where()}; }
#define TERM_BINARY(function)                                                                    \
  inline Term function(const Term& a, const Term& b) {                                           \
    const Term left = a.is_number() ? as_term_like(a, b) : a;                                   \
    const Term right = b.is_number() ? as_term_like(b, a) : b;                                  \
    return {function(static_cast<const Operand&>(left), static_cast<const Operand&>(right)),     \
            left.where()};                                                                       \
  }
// clang-format on

/// The number `a` as an array of b's dtype, placed where b is; weak where b is.
Array as_array_like(const Term& a, const Term& b);
inline Term as_term_like(const Term& a, const Term& b) { return {as_array_like(a, b), b.where()}; }

TERM_UNARY(abs)
TERM_UNARY(exp)
TERM_UNARY(log)
TERM_UNARY(log1p)
TERM_UNARY(sqrt)
TERM_UNARY(rsqrt)
TERM_UNARY(erf)
TERM_UNARY(erfinv)
TERM_UNARY(tanh)
TERM_UNARY(floor)
TERM_UNARY(ceil)
TERM_UNARY(round)
TERM_UNARY(square)
TERM_UNARY(isfinite)
TERM_UNARY(operator!)
TERM_UNARY(operator-)
TERM_BINARY(maximum)
TERM_BINARY(minimum)
TERM_BINARY(operator+)
TERM_BINARY(operator-)
TERM_BINARY(operator*)
TERM_BINARY(operator/)
TERM_BINARY(operator==)
TERM_BINARY(operator!=)
TERM_BINARY(operator<)
TERM_BINARY(operator<=)
TERM_BINARY(operator>)
TERM_BINARY(operator>=)
TERM_BINARY(operator&)
TERM_BINARY(operator|)
TERM_BINARY(operator<<)
TERM_BINARY(operator>>)

#undef TERM_UNARY
#undef TERM_BINARY

/// Throws Error for an operand that `function` does not take.
inline Term term(const char* function, const Operand& x, Takes takes = Takes::floats) {
  return {as_array(function, x, takes), x.where()};
}

inline Term where(const Term& condition, const Term& x, const Term& y) {
  return {where(static_cast<const Operand&>(condition), x, y), condition.where()};
}
inline Term converted(const Term& x, Dtype dtype) {
  return {astype(static_cast<const Operand&>(x), dtype), x.where()};
}

/// |x|, with the derivative 1 at 0: for functions that hold from there on.
inline Term magnitude(const Term& x) { return where(x < 0, -x, x); }

/// The greater of two numbers, and how far above the other it is; equal infinities are not apart.
/// Where both are equal the derivatives of the two fit together, as those of `maximum` and `abs` do
/// not.
struct HighAndApart {
  Term high, apart;
};
inline HighAndApart high_and_apart(const Term& x, const Term& y) {
  const Term low = where(x < y, x, y), high = where(x < y, y, x);
  const Term is_one_infinity = (x == y) & !isfinite(x);
  return {high, where(is_one_infinity, 0, high) - where(is_one_infinity, 0, low)};
}

/// x in the dtype that its own is computed in (f16 and bf16: f32): what functions of several steps
/// compute in, so that only their results are rounded.
inline Term widened(const Term& x) {
  const Dtype dtype = x.array().dtype();
  return computes_in(dtype) == dtype ? x : converted(x, computes_in(dtype));
}
/// The result of such a function in the dtype of its operand x.
inline Array rounded_as(const Term& x, const Term& result) {
  const Dtype dtype = x.array().dtype();
  return computes_in(dtype) == dtype ? result : converted(result, dtype);
}

/// Small integers and bools as the default integer, i64, or as u64, other numbers as they are: the
/// Array API's rule for sums and products.
Term countable(const char* function, const Operand& x);

/// The axes that `function` folds, ascending from 0. Throws Error for one that x does not have.
std::vector<std::int64_t> folded_axes(const char* function, const Term& x, const Axes& axes);
/// The same for an extreme, which no elements have. Throws Error where there are none along them.
std::vector<std::int64_t> folded_axes_of_some(const char* function, const Term& x,
                                              const Axes& axes);
/// The same for where an extreme is: along one axis, or among all. Throws Error for several.
std::vector<std::int64_t> folded_axes_of_position(const char* function, const Term& x,
                                                  const Axes& axes);

/// The sum over some axes in the dtype of x, which `sum` may widen.
Term sum_in_own_dtype(const Term& x, const Axes& axes, bool keep = false);

}  // namespace anabranch
