// The table: one row per op, and the rules of one line. A switch without a default: the build names
// an op that has no row.
#include "passes/transform/transpose_rules.h"

#include <algorithm>

#include "anabranch/error.h"
#include "ir/attributes.h"

namespace anabranch {
namespace {

using S = const TransposeStep&;

// --- elementwise ---------------------------------------------------------------------------------

void negate(S s) { s.add(0, -s.cotangent()); }
void add(S s) {
  s.add(0, s.cotangent());
  s.add(1, s.cotangent());
}
void subtract(S s) {
  s.add(0, s.cotangent());
  if (s.is_linear(1)) s.add(1, -s.cotangent());
}
void multiply(S s) {
  const std::size_t linear = s.is_linear(0) ? 0 : 1;
  s.add(linear, s.cotangent() * s.in(1 - linear));
}
void divide(S s) { s.add(0, s.cotangent() / s.in(1)); }
void barrier(S s) { s.add(0, s.cotangent()); }
void convert(S s) { s.add(0, s.cotangent().as(s.type_of_operand(0).dtype)); }
void real(S s) { s.add(0, complex(s.cotangent(), s.cotangent().number(0))); }
void imag(S s) { s.add(0, complex(s.cotangent().number(0), -s.cotangent())); }
void complex_number(S s) {
  s.add(0, s.cotangent().op(Op::real));
  if (s.is_linear(1)) s.add(1, -s.cotangent().op(Op::imag));
}
void select_one(S s) {
  const Quantity zero = s.cotangent().number(0);
  if (s.is_linear(1)) s.add(1, select(s.in(0), s.cotangent(), zero));
  if (s.is_linear(2)) s.add(2, select(s.in(0), zero, s.cotangent()));
}

// --- index maps and sums -------------------------------------------------------------------------

void reshape(S s) { s.add(0, s.cotangent().reshape(s.type_of_operand(0).shape)); }

void transpose_axes(S s) {
  const std::vector<std::int64_t>& axes = s.node.as<AxesAttributes>().axes;
  std::vector<std::int64_t> inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  }
  s.add(0, s.cotangent().transpose(std::move(inverse)));
}

void reverse(S s) {
  s.add(0, {&s.graph, s.graph.add(Op::reverse, {s.cotangent().value}, s.node.attributes)});
}

void concatenate(S s) {
  const auto axis = static_cast<std::size_t>(s.node.as<AxisAttributes>().axis);
  const Shape& all = s.node.types[0].shape;
  std::vector<std::int64_t> start(static_cast<std::size_t>(all.rank())),
      limit(all.begin(), all.end());
  for (std::size_t i = 0; i < s.node.inputs.size(); ++i) {
    limit[axis] = start[axis] + s.type_of_operand(i).shape[static_cast<int>(axis)];
    if (s.is_linear(i)) s.add(i, s.cotangent().slice(start, limit));
    start[axis] = limit[axis];
  }
}

void reduce_sum(S s) {
  const std::vector<std::int64_t>& reduced = s.node.as<AxesAttributes>().axes;
  const Shape& shape = s.type_of_operand(0).shape;
  std::vector<std::int64_t> kept;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
  }
  s.add(0, s.cotangent().broadcast(shape, std::move(kept)));
}

void cumulative(S s) {
  CumulativeAttributes attributes = s.node.as<CumulativeAttributes>();
  attributes.reverse = !attributes.reverse;
  s.add(0, {&s.graph, s.graph.add(Op::cumulative, {s.cotangent().value}, attributes)});
}

// Back to where the operand is, which the interpreter and one device do not ask for.
void transfer(S s) { s.add(0, s.cotangent()); }

constexpr TransposeRule never = nullptr;  // not linear, or its results are integers

// The cotangents are guarded by the same state.
void transpose_check(const TransposeStep& step) {
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
TransposeRule transpose_rule(Op op) {
  switch (op) {
    case Op::parameter: case Op::constant: case Op::iota:  return never;
    // elementwise
    case Op::negate:    return negate;
    case Op::convert:   return convert;
    case Op::real:      return real;
    case Op::imag:      return imag;
    case Op::add:       return add;
    case Op::subtract:  return subtract;
    case Op::multiply:  return multiply;
    case Op::divide:    return divide;
    case Op::complex:   return complex_number;
    case Op::select:    return select_one;
    case Op::optimization_barrier:  return barrier;
    case Op::abs: case Op::sign: case Op::not_: case Op::popcnt: case Op::count_leading_zeros:
    case Op::floor: case Op::ceil: case Op::round_nearest_even: case Op::round_nearest_afz:
    case Op::is_finite: case Op::sqrt: case Op::rsqrt: case Op::cbrt: case Op::exponential:
    case Op::exponential_minus_one: case Op::log: case Op::log_plus_one: case Op::logistic:
    case Op::sine: case Op::cosine: case Op::tan: case Op::asin: case Op::acos: case Op::atan:
    case Op::sinh: case Op::cosh: case Op::tanh: case Op::asinh: case Op::acosh: case Op::atanh:
    case Op::erf: case Op::erf_inv: case Op::bitcast_convert:  return never;
    case Op::remainder: case Op::power: case Op::maximum: case Op::minimum: case Op::atan2:
    case Op::and_: case Op::or_: case Op::xor_: case Op::shift_left:
    case Op::shift_right_arithmetic: case Op::shift_right_logical: case Op::compare:
    case Op::random_bits: case Op::clamp:  return never;
    // index maps
    case Op::reshape:               return reshape;
    case Op::broadcast_in_dim:      return transpose_broadcast;
    case Op::transpose:             return transpose_axes;
    case Op::slice:                 return transpose_slice;
    case Op::reverse:               return reverse;
    case Op::pad:                   return transpose_pad;
    case Op::sliding_windows:       return transpose_sliding_windows;
    case Op::concatenate:           return concatenate;
    case Op::dynamic_slice:         return transpose_dynamic_slice;
    case Op::dynamic_update_slice:  return transpose_dynamic_update_slice;
    case Op::gather:                return transpose_gather;
    // reductions
    case Op::reduce_sum:            return reduce_sum;
    case Op::reduce_product: case Op::reduce_max: case Op::reduce_min: case Op::reduce_any:
    case Op::reduce_all: case Op::argmax: case Op::argmin: case Op::reduce:  return never;
    // libraries
    case Op::dot:                   return transpose_dot;
    case Op::convolution:           return transpose_convolution;
    case Op::scatter:               return transpose_scatter;
    case Op::transfer:              return transfer;
    case Op::check:                 return transpose_check;
    case Op::custom_call:           return never;
    case Op::sort: case Op::argsort:  return never;
    case Op::cumulative:            return cumulative;
    // linear algebra
    case Op::triangular_solve:      return transpose_triangular_solve;
    case Op::tridiagonal_solve:     return transpose_tridiagonal_solve;
    case Op::fft:                   return transpose_fft;
    case Op::cholesky: case Op::lu: case Op::qr: case Op::qr_pivoted: case Op::householder_product:
    case Op::svd: case Op::eigh: case Op::eig: case Op::schur:  return never;
    // control flow
    case Op::while_:                return transpose_loop;
    case Op::case_:                 return transpose_branch;
    case Op::composite:             return transpose_composite;
    case Op::fusion:                return never;
  }
  throw InternalError("transpose", "an op that is none");
}
// clang-format on

}  // namespace anabranch
