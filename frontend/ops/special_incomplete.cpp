// The incomplete gamma and beta functions: series and continued fractions, turn by turn until every
// element has converged.
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/reduce.h"
#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

constexpr double epsilon = 0x1p-53;
// Enough for parameters of some millions, about whose square root the number of turns is.
constexpr double most_turns = 20000;

using Terms = std::vector<Term>;

detail::Tree carry_of(const Terms& terms) {
  std::vector<Array> arrays(terms.begin(), terms.end());
  return detail::taken_apart(arrays, "carry");
}

// `step(turn, carry, constants)` gives the next carry, whose last term is what an element changed
// by in this turn, in proportion; until none changes any more. Gives the carry.
Terms until_converged(const char* function, SourceLocation where, const Terms& first,
                      const Terms& constants,
                      const std::function<Terms(const Term& turn, const Terms& carry,
                                                const Terms& constants)>& step) {
  const auto terms = [&](const detail::Leaves& leaves) {
    Terms all;
    for (const Array& leaf : leaves) all.emplace_back(leaf, where);
    return all;
  };
  Terms init = {Term(scalar(1.0, f64), where)};
  init.insert(init.end(), first.begin(), first.end());
  detail::Loop loop{function, where, carry_of(init)};
  loop.invariants.assign(constants.begin(), constants.end());
  loop.condition = [&](const detail::Leaves& leaves, const detail::Leaves&) -> Array {
    const Terms all = terms(leaves);
    const Term moving = {any(abs(all.back()) > epsilon), where};
    return moving & (all[0] < most_turns);
  };
  loop.body = [&](const detail::Leaves& leaves, const detail::Leaves& invariants) {
    const Terms all = terms(leaves);
    Terms next = step(all[0], Terms(all.begin() + 1, all.end()), terms(invariants));
    next.insert(next.begin(), all[0] + 1);
    return carry_of(next);
  };
  Terms last = terms(detail::run_while(loop));
  last.erase(last.begin());
  return last;
}

// A number that is no 0, for the divisors of Lentz's method.
Term not_zero(const Term& x) { return where(abs(x) < 1e-300, 1e-300, x); }

// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
Term gamma_series(const Term& a, const Term& x, SourceLocation where) {
  const Term one = a * 0 + 1;
  const Terms sums = until_converged(
      "gammainc", where, {one, one, one}, {a, x},
      [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
        const Term next = carry[1] * given[1] / (given[0] + turn), sum = carry[0] + next;
        return {sum, next, next / sum};
      });
  return sums[0];
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), by Lentz's method.
Term gamma_fraction(const Term& a, const Term& x, SourceLocation where) {
  const Term first = 1 / not_zero(x + 1 - a), one = a * 0 + 1;
  const Terms values =
      until_converged("gammainc", where, {first, first, one * 1e300, one}, {a, x},
                      [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
                        const Term factor = turn * (given[0] - turn);
                        const Term base = given[1] + 1 - given[0] + 2 * turn;
                        const Term d = 1 / not_zero(factor * carry[1] + base);
                        const Term c = not_zero(base + factor / carry[2]);
                        const Term change = c * d;
                        return {carry[0] * change, d, c, change - 1};
                      });
  return values[0];
}

// x^a e^-x / gamma(a)
Term gamma_density(const Term& a, const Term& x) {
  const Term small = exp(a * log(x) - x - special::log_gamma(a));
  // By Stirling's formula, so that the large terms meet before they are rounded.
  const Term b = where(a < 8, 8, a), off = (x - b) / b, is_near = abs(off) < 0.5;
  const Term ratio = where(is_near, log1p(where(is_near, off, 0)), log(where(is_near, 1, x / b)));
  const Term large =
      sqrt(b * (0.5 / std::numbers::pi)) * exp(b * (ratio - off) - special::stirling_rest(b));
  return where(a < 8, small, large);
}

// Both incomplete gamma functions.
std::pair<Term, Term> incomplete_gamma(const Term& a, const Term& x, SourceLocation where) {
  const Term by_series = x < a + 1, valid = (a > 0) & (x >= 0) & (a < infinity);
  const Term summed = valid & by_series, fraction = valid & !by_series & (x < infinity);
  const Term density = gamma_density(a, x);
  // What the other method computes, or nothing does, converges in the first turn.
  const Term series =
      gamma_series(anabranch::where(summed, a, 1), anabranch::where(summed, x, 0), where);
  const Term tail =
      gamma_fraction(anabranch::where(fraction, a, 1), anabranch::where(fraction, x, 2), where);
  const Term lower = density * series / a;
  const Term upper = anabranch::where(x == infinity, 0, density * tail);
  const auto checked = [&](const Term& value) {
    return anabranch::where(valid, value, not_a_number);
  };
  return {checked(anabranch::where(by_series, lower, 1 - upper)),
          checked(anabranch::where(by_series, 1 - lower, upper))};
}

// The continued fraction of Numerical Recipes 6.4, two of its terms a turn.
Term beta_fraction(const Term& a, const Term& b, const Term& x, SourceLocation where) {
  const Term first = 1 / not_zero(1 - (a + b) * x / (a + 1)), one = a * 0 + 1;
  const Terms values = until_converged(
      "betainc", where, {first, first, one, one}, {a, b, x},
      [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
        const auto &a = given[0], &b = given[1], &x = given[2];
        const Term twice = a + 2 * turn;
        const Term even = turn * (b - turn) * x / ((twice - 1) * twice);
        const Term odd = -(a + turn) * (a + b + turn) * x / (twice * (twice + 1));
        const Term d = 1 / not_zero(1 + even * carry[1]), c = not_zero(1 + even / carry[2]);
        const Term last_d = 1 / not_zero(1 + odd * d), last_c = not_zero(1 + odd / c);
        const Term change = last_c * last_d;
        return {carry[0] * (c * d) * change, last_d, last_c, change - 1};
      });
  return values[0];
}

}  // namespace

Array gammainc(const Operand& a, const Operand& x) {
  auto [order, y] = terms_of("gammainc", a, x);
  return as_dtype_of(order, incomplete_gamma(in_f64(order), in_f64(y), a.where()).first);
}

Array gammaincc(const Operand& a, const Operand& x) {
  auto [order, y] = terms_of("gammaincc", a, x);
  return as_dtype_of(order, incomplete_gamma(in_f64(order), in_f64(y), a.where()).second);
}

Array betainc(const Operand& a, const Operand& b, const Operand& x) {
  std::vector<Array> all = promote("betainc", {&a, &b, &x}, Takes::floats);
  broadcast("betainc", all, a.where());
  const SourceLocation at = a.where();
  const Term given = {all[0], at}, first = in_f64(given);
  const Term second = in_f64({all[1], at}), y = in_f64({all[2], at});
  const Term valid = (first > 0) & (second > 0) & (y >= 0) & (y <= 1);
  // The fraction converges quickly on this side of the mean; the other is its complement.
  const Term turned = y > (first + 1) / (first + second + 2);
  const Term p = where(valid, where(turned, second, first), 1);
  const Term q = where(valid, where(turned, first, second), 1);
  const Term z = where(valid, where(turned, 1 - y, y), 0);
  const Term log_z = where(turned, log1p(-y), log(y)), log_rest = where(turned, log(y), log1p(-y));
  const Term density = exp(p * log_z + q * log_rest - special::log_beta(p, q));
  const Term part = where(z == 0, 0, density * beta_fraction(p, q, z, at) / p);
  return as_dtype_of(given, where(valid, where(turned, 1 - part, part), not_a_number));
}

}  // namespace anabranch
