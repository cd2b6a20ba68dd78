// The table: one row per op, and the rules of a few lines. A switch without a default: the build
// names an op that has no row.
//
// At kinks: `abs` has the derivative 0 at 0, `maximum` and `minimum` half of each operand's where
// they are equal, `clamp` 0 where a bound is reached, as JAX has them.
#include "passes/transform/derivative_rules.h"

#include <numbers>

#include "anabranch/error.h"
#include "ir/attributes.h"

namespace anabranch {
namespace {

using S = const JvpStep&;
using T = const TransposeStep&;
using Kind = JvpRule::Kind;

constexpr JvpRule no_tangents{};
constexpr JvpRule multilinear{Kind::multilinear};
constexpr JvpRule with_regions{Kind::with_regions};

constexpr JvpRule factors(Factor x, Factor y = nullptr, Factor z = nullptr) {
  return {Kind::factors, {x, y, z}};
}
constexpr JvpRule formula(TangentRule rule) { return {Kind::formula, {}, 0, rule}; }
constexpr std::uint64_t all_operands = ~std::uint64_t{0};
constexpr JvpRule linear(std::uint64_t operands = all_operands) {
  return {Kind::linear, {}, operands};
}
constexpr JvpRule linear_in_first = linear(1);
constexpr JvpRule refused(const char* remedy) { return {Kind::refused, {}, 0, nullptr, remedy}; }

// --- functions of one number ---------------------------------------------------------------------

Quantity one(S s) { return s.in().number(1); }
Quantity reciprocal(Quantity x) { return x.number(1) / x; }
Quantity rsqrt(Quantity x) { return x.op(Op::rsqrt); }
Quantity exp(Quantity x) { return x.op(Op::exponential); }
Quantity square(Quantity x) { return x * x; }

Quantity d_sqrt(S s) { return s.in().number(0.5) / s.out(); }
Quantity d_rsqrt(S s) { return -0.5 * (s.out() / s.in()); }
Quantity d_cbrt(S s) { return s.in().number(1.0 / 3) / square(s.out()); }
Quantity d_exp(S s) { return s.out(); }
Quantity d_expm1(S s) { return s.out() + 1; }
Quantity d_log(S s) { return reciprocal(s.in()); }
Quantity d_log1p(S s) { return reciprocal(s.in() + 1); }
Quantity d_logistic(S s) { return s.out() * (1 - s.out()); }
Quantity d_sine(S s) { return s.in().op(Op::cosine); }
Quantity d_cosine(S s) { return -s.in().op(Op::sine); }
Quantity d_tan(S s) { return 1 + square(s.out()); }
Quantity d_asin(S s) { return rsqrt(1 - square(s.in())); }
Quantity d_acos(S s) { return -d_asin(s); }
Quantity d_atan(S s) { return reciprocal(1 + square(s.in())); }
Quantity d_sinh(S s) { return s.in().op(Op::cosh); }
Quantity d_cosh(S s) { return s.in().op(Op::sinh); }
Quantity d_tanh(S s) { return 1 - square(s.out()); }
Quantity d_asinh(S s) { return rsqrt(square(s.in()) + 1); }
Quantity d_acosh(S s) { return rsqrt(s.in() - 1) * rsqrt(s.in() + 1); }
Quantity d_atanh(S s) { return reciprocal((1 - s.in()) * (1 + s.in())); }
Quantity d_erf(S s) { return (2 * std::numbers::inv_sqrtpi) * exp(-square(s.in())); }
Quantity d_erf_inv(S s) { return (0.5 / std::numbers::inv_sqrtpi) * exp(square(s.out())); }

// Of a complex number z, |z| changes by the part of the tangent along z.
Tangents abs_rule(S s) {
  const Quantity x = s.in(), t = s.tangent();
  if (!is_complex(x.dtype())) return {(t * x.op(Op::sign)).value};
  return {(x.op(Op::sign).conjugate() * t).op(Op::real).value};
}

// z / |z| turns by the part of the tangent across z. Steps of real numbers are flat.
Tangents sign_rule(S s) {
  const Quantity x = s.in(), t = s.tangent(), y = s.out();
  if (!is_complex(x.dtype())) return {std::nullopt};
  const Quantity size = x.op(Op::abs), is_zero = size == size.number(0);
  const Quantity along = (y.conjugate() * t).op(Op::real);
  const Quantity across = t - y * complex(along, along.number(0));
  const Quantity inverse = reciprocal(select(is_zero, size.number(1), size));
  return {select(is_zero, t.number(0), across * complex(inverse, size.number(0))).value};
}

Tangents convert_rule(S s) {
  const Type& to = s.node.types[0];
  if (!is_float(to.dtype) && !is_complex(to.dtype)) return {std::nullopt};
  return {s.tangent().as(to.dtype).value};
}

// --- functions of several ------------------------------------------------------------------------

Tangents add_rule(S s) {
  if (!s.is_active(0)) return {s.tangent(1).value};
  return {(s.is_active(1) ? s.tangent(0) + s.tangent(1) : s.tangent(0)).value};
}
Tangents subtract_rule(S s) {
  if (!s.is_active(0)) return {(-s.tangent(1)).value};
  const Quantity x = s.tangent(0);
  return {(s.is_active(1) ? x - s.tangent(1) : x).value};
}
Quantity d_multiply_x(S s) { return s.in(1); }
Quantity d_multiply_y(S s) { return s.in(0); }
Quantity d_remainder_y(S s) {
  const Quantity ratio = s.in(0) / s.in(1);
  return -(ratio.op(Op::sign) * ratio.op(Op::abs).op(Op::floor));
}
Quantity d_atan2_y(S s) { return s.in(1) / (square(s.in(0)) + square(s.in(1))); }
Quantity d_atan2_x(S s) { return -s.in(0) / (square(s.in(0)) + square(s.in(1))); }

Quantity share(Quantity wins, Quantity ties, Quantity like) {
  return select(wins, like.number(1), select(ties, like.number(0.5), like.number(0)));
}
Quantity d_maximum_x(S s) { return share(s.in(0) > s.in(1), s.in(0) == s.in(1), s.in(0)); }
Quantity d_maximum_y(S s) { return share(s.in(1) > s.in(0), s.in(0) == s.in(1), s.in(0)); }
Quantity d_minimum_x(S s) { return share(s.in(0) < s.in(1), s.in(0) == s.in(1), s.in(0)); }
Quantity d_minimum_y(S s) { return share(s.in(1) < s.in(0), s.in(0) == s.in(1), s.in(0)); }

// The quotient itself is divided, so that its tangent is as exact as it is.
Tangents divide_rule(S s) {
  std::optional<Quantity> sum;
  if (s.is_active(0)) sum = s.tangent(0) / s.in(1);
  if (s.is_active(1)) {
    const Quantity part = s.tangent(1) * (-s.out() / s.in(1));
    sum = sum ? *sum + part : part;
  }
  return {sum->value};
}

// x^y by x: y x^(y-1), and 0 for y = 0 even where x is 0; by y: x^y log x, and 0 where x is 0.
Quantity d_power_x(S s) {
  const Quantity x = s.in(0), y = s.in(1), is_zero = y == y.number(0);
  return y * x.op(Op::power, select(is_zero, y, y - 1));
}
Quantity d_power_y(S s) {
  const Quantity x = s.in(0);
  return s.out() * select(x == x.number(0), x.number(1), x).op(Op::log);
}

Quantity within(Quantity holds, Quantity like) {
  return select(holds, like.number(1), like.number(0));
}
Quantity d_clamp_low(S s) { return within((s.in(0) > s.in(1)) & (s.in(0) < s.in(2)), s.in(1)); }
Quantity d_clamp_x(S s) { return within((s.in(1) > s.in(0)) & (s.in(1) < s.in(2)), s.in(1)); }
Quantity d_clamp_high(S s) { return within((s.in(1) > s.in(2)) | (s.in(0) > s.in(2)), s.in(1)); }

// The tangents are guarded by the same state.
Tangents check_rule(S s) {
  std::vector<Value> operands = {s.inputs[0]};
  for (std::size_t i = 1; i < s.inputs.size(); ++i) {
    if (s.is_active(i)) operands.push_back(s.tangent(i).value);
  }
  Value next = s.again(std::move(operands)).value;
  Tangents tangents;
  for (std::size_t i = 1; i < s.inputs.size(); ++i) {
    tangents.push_back(s.is_active(i) ? std::optional(next) : std::nullopt);
    if (s.is_active(i)) ++next.result;
  }
  return tangents;
}

// --- transpositions ------------------------------------------------------------------------------

void transpose_negate(T s) { s.add(0, -s.cotangent()); }
void transpose_add(T s) {
  s.add(0, s.cotangent());
  s.add(1, s.cotangent());
}
void transpose_subtract(T s) {
  s.add(0, s.cotangent());
  if (s.is_linear(1)) s.add(1, -s.cotangent());
}
void transpose_multiply(T s) {
  const std::size_t linear = s.is_linear(0) ? 0 : 1;
  s.add(linear, s.cotangent() * s.in(1 - linear));
}
void transpose_divide(T s) { s.add(0, s.cotangent() / s.in(1)); }
void transpose_identity(T s) { s.add(0, s.cotangent()); }
void transpose_convert(T s) { s.add(0, s.cotangent().as(s.type_of_operand(0).dtype)); }
void transpose_real(T s) { s.add(0, complex(s.cotangent(), s.cotangent().number(0))); }
void transpose_imag(T s) { s.add(0, complex(s.cotangent().number(0), -s.cotangent())); }
void transpose_complex(T s) {
  s.add(0, s.cotangent().op(Op::real));
  if (s.is_linear(1)) s.add(1, -s.cotangent().op(Op::imag));
}
void transpose_select(T s) {
  const Quantity zero = s.cotangent().number(0);
  if (s.is_linear(1)) s.add(1, select(s.in(0), s.cotangent(), zero));
  if (s.is_linear(2)) s.add(2, select(s.in(0), zero, s.cotangent()));
}

// The cotangents are guarded by the same state.
void transpose_check(T step) {
  std::vector<Value> operands = {step.in(0).value};
  std::vector<std::size_t> guarded;
  for (std::size_t i = 0; i < step.node.types.size(); ++i) {
    if (!step.cotangents[i] || !step.is_linear(1 + i)) continue;
    operands.push_back(*step.cotangents[i]);
    guarded.push_back(1 + i);
  }
  if (guarded.empty()) return;
  Value first = step.graph.add(Op::check, std::move(operands), step.node.attributes);
  for (std::size_t operand : guarded) {
    step.add(operand, {&step.graph, first});
    ++first.result;
  }
}

}  // namespace

// clang-format off
DerivativeRule derivative_rule(Op op) {
  switch (op) {
    // leaves
    case Op::parameter: case Op::constant: case Op::iota:  return no_tangents;
    // elementwise, one operand
    case Op::abs:                   return formula(abs_rule);
    case Op::negate:                return {linear(), transpose_negate};
    case Op::sign:                  return formula(sign_rule);
    case Op::not_: case Op::popcnt: case Op::count_leading_zeros:  return no_tangents;
    case Op::floor: case Op::ceil:  return no_tangents;  // steps
    case Op::round_nearest_even: case Op::round_nearest_afz:  return no_tangents;
    case Op::is_finite:             return no_tangents;
    case Op::sqrt:                  return factors(d_sqrt);
    case Op::rsqrt:                 return factors(d_rsqrt);
    case Op::cbrt:                  return factors(d_cbrt);
    case Op::exponential:           return factors(d_exp);
    case Op::exponential_minus_one: return factors(d_expm1);
    case Op::log:                   return factors(d_log);
    case Op::log_plus_one:          return factors(d_log1p);
    case Op::logistic:              return factors(d_logistic);
    case Op::sine:                  return factors(d_sine);
    case Op::cosine:                return factors(d_cosine);
    case Op::tan:                   return factors(d_tan);
    case Op::asin:                  return factors(d_asin);
    case Op::acos:                  return factors(d_acos);
    case Op::atan:                  return factors(d_atan);
    case Op::sinh:                  return factors(d_sinh);
    case Op::cosh:                  return factors(d_cosh);
    case Op::tanh:                  return factors(d_tanh);
    case Op::asinh:                 return factors(d_asinh);
    case Op::acosh:                 return factors(d_acosh);
    case Op::atanh:                 return factors(d_atanh);
    case Op::erf:                   return factors(d_erf);
    case Op::erf_inv:               return factors(d_erf_inv);
    case Op::convert:               return {formula(convert_rule), transpose_convert};
    case Op::real:                  return {linear(), transpose_real};
    case Op::imag:                  return {linear(), transpose_imag};
    case Op::optimization_barrier:  return {linear(), transpose_identity};
    case Op::bitcast_convert:       return no_tangents;  // bits are no numbers
    // elementwise, two operands
    case Op::add:                   return {formula(add_rule), transpose_add};
    case Op::subtract:              return {formula(subtract_rule), transpose_subtract};
    case Op::multiply:              return {factors(d_multiply_x, d_multiply_y), transpose_multiply};
    case Op::divide:                return {formula(divide_rule), transpose_divide};
    case Op::remainder:             return factors(one, d_remainder_y);
    case Op::power:                 return factors(d_power_x, d_power_y);
    case Op::maximum:               return factors(d_maximum_x, d_maximum_y);
    case Op::minimum:               return factors(d_minimum_x, d_minimum_y);
    case Op::atan2:                 return factors(d_atan2_y, d_atan2_x);
    case Op::and_: case Op::or_: case Op::xor_:  return no_tangents;
    case Op::shift_left: case Op::shift_right_arithmetic: case Op::shift_right_logical:  return no_tangents;
    case Op::compare:               return no_tangents;
    case Op::complex:               return {linear(), transpose_complex};
    case Op::random_bits:           return no_tangents;
    // elementwise, three operands
    case Op::select:                return {linear(0b110), transpose_select};
    case Op::clamp:                 return factors(d_clamp_low, d_clamp_x, d_clamp_high);
    // index maps
    case Op::reshape:               return {linear(), transpose_reshape};
    case Op::broadcast_in_dim:      return {linear(), transpose_broadcast};
    case Op::transpose:             return {linear(), transpose_axes};
    case Op::slice:                 return {linear(), transpose_slice};
    case Op::reverse:               return {linear(), transpose_reverse};
    case Op::sliding_windows:       return {linear(), transpose_sliding_windows};
    case Op::pad:                   return {linear(), transpose_pad};
    case Op::concatenate:           return {linear(), transpose_concatenate};
    case Op::dynamic_slice:         return {linear_in_first, transpose_dynamic_slice};
    case Op::dynamic_update_slice:  return {linear(0b11), transpose_dynamic_update_slice};
    case Op::gather:                return {linear_in_first, transpose_gather};
    // reductions
    case Op::reduce_sum:            return {linear(), transpose_sum};
    case Op::reduce_product:        return formula(jvp_product);
    case Op::reduce_max: case Op::reduce_min:  return formula(jvp_extremum);
    case Op::reduce_any: case Op::reduce_all: case Op::argmax: case Op::argmin:  return no_tangents;
    case Op::reduce:                return formula(jvp_general_reduction);
    // libraries
    case Op::dot:                   return {multilinear, transpose_dot};
    case Op::convolution:           return {multilinear, transpose_convolution};
    case Op::scatter:               return {formula(jvp_scatter), transpose_scatter};
    case Op::transfer:              return {linear(), transpose_identity};
    case Op::check:                 return {formula(check_rule), transpose_check};
    case Op::custom_call:           return refused("give it one by custom_jvp or custom_vjp, or make it a constant by stop_gradient");
    case Op::sort:                  return formula(jvp_sort);
    case Op::argsort:               return no_tangents;
    case Op::cumulative:            return {formula(jvp_cumulative), transpose_cumulative};
    // linear algebra
    case Op::cholesky:              return formula(jvp_cholesky);
    case Op::triangular_solve:      return {formula(jvp_triangular_solve), transpose_triangular_solve};
    case Op::lu:                    return formula(jvp_lu);
    case Op::qr: case Op::qr_pivoted:  return formula(jvp_qr);
    case Op::householder_product:   return formula(jvp_householder_product);
    case Op::svd:                   return formula(jvp_svd);
    case Op::eigh:                  return formula(jvp_eigh);
    case Op::eig:                   return formula(jvp_eig);
    case Op::schur:                 return refused("eigenvalues and eigenvectors have one, by eig, and the Hessenberg form by hessenberg");
    case Op::tridiagonal_solve:     return {formula(jvp_tridiagonal_solve), transpose_tridiagonal_solve};
    case Op::fft:                   return {linear(), transpose_fft};
    // control flow
    case Op::while_:                return {with_regions, transpose_loop};
    case Op::case_:                 return {with_regions, transpose_branch};
    case Op::composite:             return {with_regions, transpose_composite};
    case Op::fusion:                return refused("differentiate before fusing");
  }
  throw InternalError("derivative", "an op that is none");
}
// clang-format on

}  // namespace anabranch
