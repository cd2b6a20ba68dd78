// The incomplete gamma and beta functions: series and continued fractions, turn by turn until every
// element has converged, and expansions where those converge slowly or lose digits.
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/reduce.h"
#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/ops/special_coefficients.h"
#include "frontend/ops/special_terms.h"

namespace anabranch {
namespace {

constexpr double epsilon = 0x1p-50;
// Near its mean the incomplete beta function takes some fifth of the square root of its parameters.
constexpr double most_turns = 20000;

using Terms = std::vector<Term>;

detail::Tree carry_of(const Terms& terms) {
  std::vector<Array> arrays(terms.begin(), terms.end());
  return detail::taken_apart(arrays, "carry");
}

Term is_moving(const Term& change) { return abs(change) > epsilon; }

// `step(turn, carry, constants)` gives the next carry, whose last term is what an element changed
// by in this turn, in proportion. An element that has converged stays as it is. Gives the first
// term of the carry once all have; NaN where one has not after `most_turns`.
Term until_converged(const char* function, SourceLocation where, const Terms& first,
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
    const Term moving = {any(is_moving(all.back())), where};
    return moving & (all[0] < most_turns);
  };
  loop.body = [&](const detail::Leaves& leaves, const detail::Leaves& invariants) {
    const Terms all = terms(leaves);
    const Term moving = is_moving(all.back());
    Terms next = step(all[0], Terms(all.begin() + 1, all.end()), terms(invariants));
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = anabranch::where(moving, next[i], all[i + 1]);
    }
    next.insert(next.begin(), all[0] + 1);
    return carry_of(next);
  };
  const Terms last = terms(detail::run_while(loop));
  return anabranch::where(is_moving(last.back()), not_a_number, last[1]);
}

// A number that is no 0, for the divisors of Lentz's method.
Term not_zero(const Term& x) { return where(abs(x) < 1e-300, 1e-300, x); }

// The carry before the first turn of 1 / (base + factor / ...), by Lentz's method: the value, d, c
// (infinite), and the change.
Terms first_of_fraction(const Term& base) {
  const Term d = 1 / not_zero(base), infinite = d * 0 + 1e300;
  return {d, d, infinite, minimum(abs(d), 1) * 1e300};
}

// |c d - 1| for the factor `scale` * `rest`, from that of the turn before: a product, which falls
// below any bound where the roundings of c and d may keep c d from 1. Where the rest is 0 the
// fraction ends; its derivatives do not, so the rest counts as 1 at least.
Term change_of_fraction(const Term& scale, const Term& rest, const Term& d, const Terms& carry) {
  return abs(scale * d) * maximum(abs(rest), 1) * (carry[3] / abs(carry[2]));
}

// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
Term gamma_series(const Term& a, const Term& x, SourceLocation where) {
  const Term one = a * 0 + 1;
  return until_converged("gammainc", where, {one, one, one}, {a, x},
                         [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
                           const Term next = carry[1] * given[1] / (given[0] + turn);
                           const Term sum = carry[0] + next;
                           return {sum, next, next / sum};
                         });
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), by Lentz's method.
Term gamma_fraction(const Term& a, const Term& x, SourceLocation where) {
  return until_converged(
      "gammainc", where, first_of_fraction(x + 1 - a), {a, x},
      [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
        const Term rest = given[0] - turn, factor = turn * rest;
        const Term base = given[1] + 1 - given[0] + 2 * turn;
        const Term d = 1 / not_zero(factor * carry[1] + base);
        const Term c = not_zero(base + factor / carry[2]);
        return {carry[0] * (c * d), d, c, change_of_fraction(turn, rest, d, carry)};
      });
}

// Up to where the series of the next function holds.
constexpr double near_one = 0.3;

// (u - log(1 + u)) / u^2 for |u| <= near_one, log(1 + u) being 2 artanh(u / (2 + u)).
Term log1p_rest_near_zero(const Term& u) {
  static constexpr auto odd_reciprocals = [] {
    std::array<double, 12> all{};
    for (int i = 0; i < 12; ++i) all[static_cast<std::size_t>(i)] = 1.0 / (2 * i + 3);
    return all;
  }();
  const Term r = 1 / (2 + u), s = u * r;
  return r * (1 - 2 * s * r * polynomial(s * s, odd_reciprocals));
}

// x / mean - 1 - log(x / mean), `off` being x / mean - 1.
Term deviance(const Term& x, const Term& mean, const Term& off) {
  const Term is_near = abs(off) < near_one, near = where(is_near, off, 0);
  const Term far = off - log(where(is_near, 1, x / mean));
  return where(is_near, near * near * log1p_rest_near_zero(near), far);
}

// x^a e^-x / gamma(a)
Term gamma_density(const Term& a, const Term& x) {
  const Term is_small = a < 8;
  const Term small = exp(a * log(x) - x - special::log_gamma(a));
  // By Stirling's formula, so that the large terms meet before they are rounded.
  const Term b = where(is_small, 8, a), y = where(is_small, 8, x);
  const Term exponent = -b * deviance(y, b, (y - b) / b) - special::stirling_rest(b);
  return where(is_small, small, sqrt(b * (0.5 / std::numbers::pi)) * exp(exponent));
}

struct LowerAndUpper {
  Term lower, upper;
};

// For a >= 20 and |x - a| < near_one a: Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979;
// NIST's Digital Library of Mathematical Functions, 8.12). With eta^2 / 2 = lambda - 1 -
// log(lambda), lambda = x / a, the upper function is erfc(eta sqrt(a / 2)) / 2 and a rest, whose
// differential equation gives its power series in eta (Temme, Probability in the Engineering and
// Informational Sciences 8, 1994).
LowerAndUpper gamma_around_mean(const Term& a, const Term& x) {
  // The power series of eta / (lambda - 1).
  static constexpr double series[] = {1,
                                      -1. / 3,
                                      1. / 12,
                                      -2. / 135,
                                      1. / 864,
                                      1. / 2835,
                                      -139. / 777600,
                                      1. / 25515,
                                      -571. / 261273600,
                                      -281. / 151559100,
                                      163879. / 197522841600,
                                      -5221. / 29554024500,
                                      5246819. / 782190452736000,
                                      5459. / 531972441000,
                                      -4.382036018453353e-09,
                                      9.14769958223679e-10,
                                      -2.5514193994946248e-11,
                                      -5.830772132550426e-11,
                                      2.4361948020667415e-11,
                                      -5.0276692801141755e-12};
  constexpr std::size_t terms = std::size(series) - 1;
  const Term off = (x - a) / a, half_square = log1p_rest_near_zero(off), inverse = 1 / a;
  const Term eta = off * sqrt(2 * half_square);
  Terms rest;
  for (std::size_t i = 0; i < terms; ++i) rest.emplace_back(scalar(series[i + 1], f64), a.where());
  for (std::size_t i = terms - 2; i-- > 0;) {
    rest[i] = rest[i] + static_cast<double>(i + 2) * inverse * rest[i + 2];
  }
  Term sum = rest.back();
  for (std::size_t i = terms - 1; i-- > 0;) sum = sum * eta + rest[i];
  const Term density =
      exp(-a * (off * off * half_square)) * sqrt(inverse * (0.5 / std::numbers::pi));
  const Term tail = density * sum / (1 + rest[1] * inverse), z = eta * sqrt(0.5 * a);
  const auto half_erfc = [](const Term& y) { return 0.5 * Term(erfc(y), y.where()); };
  return {half_erfc(-z) - tail, half_erfc(z) + tail};
}

// For a < 0.5 and x < 1.5: x^a / gamma(1 + a), which is close to 1, times the alternating series
// 1 + a times the sum of (-x)^n / (n! (a + n)) (DLMF 8.7.1), without a difference that loses what
// the upper function is.
LowerAndUpper gamma_of_small_order(const Term& a, const Term& x) {
  constexpr int terms = 20;
  Term sum = 1 / (a + terms);
  for (int n = terms - 1; n > 0; --n) sum = 1 / (a + n) - x * (1.0 / (n + 1)) * sum;
  const Term log_gamma = a * (a - 1) * polynomial(a - 1, coefficients::log_gamma_near_two);
  const Term log_power = a * log(x) - log_gamma, power = exp(log_power), rest = power * a * x * sum;
  return {power - rest, rest - expm1(log_power)};
}

// Both incomplete gamma functions.
LowerAndUpper incomplete_gamma(const Term& a, const Term& x, SourceLocation where) {
  const Term by_series = x < a + 1, valid = (a > 0) & (x >= 0) & (a < infinity);
  const Term is_around = (a >= 20) & (abs(x - a) < near_one * a);
  const Term is_small = (a > 0) & (a < 0.5) & (x >= 0) & (x < 1.5);
  const Term by_turns = valid & !is_around & !is_small;
  const Term summed = by_turns & by_series, fraction = by_turns & !by_series & (x < infinity);
  const Term density = gamma_density(a, x);
  const auto around =
      gamma_around_mean(anabranch::where(is_around, a, 20), anabranch::where(is_around, x, 20));
  const auto small =
      gamma_of_small_order(anabranch::where(is_small, a, 0.25), anabranch::where(is_small, x, 1));
  // What another method computes, or nothing does, converges in the first turn.
  const Term series =
      gamma_series(anabranch::where(summed, a, 1), anabranch::where(summed, x, 0), where);
  const Term tail =
      gamma_fraction(anabranch::where(fraction, a, 1), anabranch::where(fraction, x, 2), where);
  const Term lower = density * series / a;
  const Term upper = anabranch::where(x == infinity, 0, density * tail);
  const auto chosen = [&](const Term& of_turns, const Term& of_around, const Term& of_small) {
    const Term value =
        anabranch::where(is_around, of_around, anabranch::where(is_small, of_small, of_turns));
    const Term held = anabranch::where(value < 0, 0, anabranch::where(value > 1, 1, value));
    return anabranch::where(valid, held, not_a_number);
  };
  return {chosen(anabranch::where(by_series, lower, 1 - upper), around.lower, small.lower),
          chosen(anabranch::where(by_series, 1 - lower, upper), around.upper, small.upper)};
}

// 1 / a times the continued fraction of the incomplete beta function, its even part, in terms that
// are no small differences (Didonato and Morris, ACM TOMS 18(3), 1992: BFRAC); y is 1 - x.
Term beta_fraction(const Term& a, const Term& b, const Term& x, const Term& y,
                   SourceLocation where) {
  const Term above = 1 + (a * y - b * x);
  return until_converged(
      "betainc", where, first_of_fraction(a / (a + 1) * above), {a, b, x, y, above},
      [](const Term& turn, const Terms& carry, const Terms& given) -> Terms {
        const auto &a = given[0], &b = given[1], &x = given[2], &y = given[3];
        const Term down = a + (2 * turn - 1), before = a + (turn - 1), rest = b - turn;
        const Term scale = before / down * ((before + b) / down) * turn * x * x;
        const Term base = turn + turn * rest * x / down +
                          (a + turn) / (a + (2 * turn + 1)) * (given[4] + turn * (1 + y));
        const Term factor = scale * rest, d = 1 / not_zero(factor * carry[1] + base);
        const Term c = not_zero(base + factor / carry[2]);
        return {carry[0] * (c * d), d, c, change_of_fraction(scale, rest, d, carry)};
      });
}

// z^p rest^q / beta(p, q), where z + rest = 1; their logarithms are given, too.
Term beta_density(const Term& p, const Term& q, const Term& z, const Term& rest, const Term& log_z,
                  const Term& log_rest) {
  const Term is_small = (p < 8) | (q < 8);
  const Term small = exp(p * log_z + q * log_rest - special::log_beta(p, q));
  // As `gamma_density`.
  const Term a = where(is_small, 8, p), b = where(is_small, 8, q), sum = a + b;
  const Term x = where(is_small, 0.5, z), y = where(is_small, 0.5, rest), off = x * b - y * a;
  const Term apart = a * deviance(x * sum, a, off / a) + b * deviance(y * sum, b, -off / b);
  const auto stirling = [](const Term& t) { return special::stirling_rest(t); };
  const Term exponent = stirling(sum) - stirling(a) - stirling(b) - apart;
  return where(is_small, small, sqrt(a * (b / sum) * (0.5 / std::numbers::pi)) * exp(exponent));
}

}  // namespace

Array gammainc(const Operand& a, const Operand& x) {
  auto [order, y] = terms_of("gammainc", a, x);
  return as_dtype_of(order, incomplete_gamma(in_f64(order), in_f64(y), a.where()).lower);
}

Array gammaincc(const Operand& a, const Operand& x) {
  auto [order, y] = terms_of("gammaincc", a, x);
  return as_dtype_of(order, incomplete_gamma(in_f64(order), in_f64(y), a.where()).upper);
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
  const Term rest = where(valid, where(turned, y, 1 - y), 1);
  const Term log_z = where(turned, log1p(-y), log(y)), log_rest = where(turned, log(y), log1p(-y));
  const Term density = beta_density(p, q, z, rest, log_z, log_rest);
  const Term part = where(z == 0, 0, density * beta_fraction(p, q, z, rest, at));
  return as_dtype_of(given, where(valid, where(turned, 1 - part, part), not_a_number));
}

}  // namespace anabranch
