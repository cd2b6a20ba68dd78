// Optimisers: plain functions from parameters, gradients and a state to the next ones.
//
//   auto state = ab::optim::adam_init(params);
//   auto step = ab::jit([](Params p, ab::optim::AdamState<Params> s, Batch batch) {
//     const auto gradients = ab::grad(loss)(p, batch);
//     return ab::optim::adam(p, gradients, s, {.learning_rate = 1e-3});   // a pair: next p, next s
//   });
//   std::tie(params, state) = step(params, state, batch);
//
// Parameters are trees (anabranch/tree.h) whose arrays are floats; gradients are trees of the same
// type, whose arrays have the same shapes. Everything works outside `jit`, inside it, and as the
// carry of a `scan`: each array keeps its shape and dtype. A step computes in f32 where the
// parameter is f16 or bf16, in the parameter's dtype elsewhere, and rounds once at its end. States
// of f16 and bf16 parameters are f32, in which small numbers of them add up.
//
// A learning rate is a number or a scalar array, such as one that a schedule
// (anabranch/optim_schedules.h) makes of the step. All functions throw Error where a parameter is
// no float, where trees or shapes differ, and where a learning rate is no scalar.
#pragma once

#include <source_location>
#include <utility>

#include "anabranch/detail/carry.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {
namespace optim {

// --- gradients -----------------------------------------------------------------------------------

namespace detail {
using anabranch::detail::Leaves;
using anabranch::detail::put_together;
using anabranch::detail::taken_apart;
using anabranch::detail::Tree;

Array norm_of(const Tree& tree, SourceLocation where);
Leaves clipped_by_value(const Tree& gradients, const Operand& low, const Operand& high);
Leaves clipped_by_norm(const Tree& gradients, const Operand& max_norm);
}  // namespace detail

/// The Euclidean norm of all elements of a tree together, a scalar: f64 where an array is, else
/// f32; 0 of no arrays.
template <class T>
Array global_norm(const T& tree, std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<T>());
  return detail::norm_of(detail::taken_apart(tree, "tree"), where);
}

/// Each element held between `low` and `high`.
template <class T>
T clip_by_value(const T& gradients, const Operand& low, const Operand& high) {
  static_assert(tree::is_tree<T>());
  return detail::put_together(
      gradients, detail::clipped_by_value(detail::taken_apart(gradients, "gradients"), low, high));
}

/// All of the tree times min(1, max_norm / global_norm) (Pascanu, Mikolov, Bengio:
/// arXiv:1211.5063, section 3.2, algorithm 1). A gradient that holds NaN or infinity gives NaN.
template <class T>
T clip_by_global_norm(const T& gradients, const Operand& max_norm) {
  static_assert(tree::is_tree<T>());
  return detail::put_together(
      gradients, detail::clipped_by_norm(detail::taken_apart(gradients, "gradients"), max_norm));
}

// --- stochastic gradient descent -----------------------------------------------------------------

struct SgdOptions {
  Operand learning_rate = 0.01;
  double weight_decay = 0;  ///< times the parameter, is added to its gradient
};

struct MomentumOptions {
  Operand learning_rate = 0.01;
  double momentum = 0.9;    ///< how much of the velocity remains
  bool nesterov = false;    ///< steps along g + momentum v, not v
  double weight_decay = 0;  ///< times the parameter, is added to its gradient
};

template <class Params>
struct MomentumState {
  Params velocity;
};

// --- Adam and its kin ----------------------------------------------------------------------------

struct AdamOptions {
  Operand learning_rate = 1e-3;
  double beta1 = 0.9;    ///< how much of the first moment remains
  double beta2 = 0.999;  ///< how much of the second moment remains
  double epsilon = 1e-8;
};

struct AdamwOptions {
  Operand learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0.01;  ///< times the parameter, is added to what the learning rate scales
};

struct LambOptions {
  Operand learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
  double weight_decay = 0.01;  ///< times the parameter, is added to what the trust ratio scales
};

/// Of `adam`, `adamw` and `lamb`.
template <class Params>
struct AdamState {
  Params m, v;  ///< running means of the gradients, and of their squares
  Array step;   ///< i64, rank 0: how many steps were taken
};

namespace detail {

Leaves state_zeros(const char* function, const Tree& params, SourceLocation where);
Array no_steps(SourceLocation where);

Leaves sgd_step(const Tree& params, const Tree& gradients, const SgdOptions& options,
                SourceLocation where);

/// Parameters and states after a step, each list as long as the parameters.
struct Stepped {
  Leaves params, first, second;
  Array step;
};
Stepped momentum_step(const Tree& params, const Tree& gradients, const Tree& velocity,
                      const MomentumOptions& options, SourceLocation where);

/// What is asked of the three: `function` says which.
struct AdamStep {
  const char* function;
  Operand learning_rate;
  double beta1, beta2, epsilon, weight_decay;
  bool scales_by_trust = false;  ///< the ratio of lamb
};
Stepped adam_step(const Tree& params, const Tree& gradients, const Tree& m, const Tree& v,
                  const Array& step, const AdamStep& how, SourceLocation where);

template <class Params>
auto adam_step(const Params& params, const Params& gradients, const AdamState<Params>& state,
               const AdamStep& how, SourceLocation where) {
  static_assert(tree::is_tree<Params>());
  const Stepped next =
      adam_step(taken_apart(params, "params"), taken_apart(gradients, "gradients"),
                taken_apart(state.m, "m"), taken_apart(state.v, "v"), state.step, how, where);
  return std::pair(put_together(params, next.params),
                   AdamState<Params>{put_together(state.m, next.first),
                                     put_together(state.v, next.second), next.step});
}

}  // namespace detail

/// Parameters after a step down their gradients: p - learning_rate g. With weight decay, g is the
/// gradient plus weight_decay p.
template <class Params>
Params sgd(const Params& params, const Params& gradients, const SgdOptions& options = {},
           std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Params>());
  return detail::put_together(
      params, detail::sgd_step(detail::taken_apart(params, "params"),
                               detail::taken_apart(gradients, "gradients"), options, where));
}

/// Velocities of 0.
template <class Params>
MomentumState<Params> momentum_init(const Params& params,
                                    std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Params>());
  return {detail::put_together(
      params,
      detail::state_zeros("optim::momentum_init", detail::taken_apart(params, "params"), where))};
}

/// A step with momentum (Sutskever, Martens, Dahl, Hinton: On the importance of initialization and
/// momentum in deep learning, ICML 2013, section 2, with the learning rate outside the velocity, as
/// PyTorch has it): v = momentum v + g, then p - learning_rate v, or with Nesterov's momentum
/// p - learning_rate (g + momentum v).
template <class Params>
std::pair<Params, MomentumState<Params>> momentum(
    const Params& params, const Params& gradients, const MomentumState<Params>& state,
    const MomentumOptions& options = {},
    std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Params>());
  const detail::Stepped next = detail::momentum_step(
      detail::taken_apart(params, "params"), detail::taken_apart(gradients, "gradients"),
      detail::taken_apart(state.velocity, "velocity"), options, where);
  return {detail::put_together(params, next.params),
          {detail::put_together(state.velocity, next.first)}};
}

/// Moments of 0, before the first step; for `adamw` and `lamb`, too.
template <class Params>
AdamState<Params> adam_init(const Params& params,
                            std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Params>());
  const detail::Leaves zeros =
      detail::state_zeros("optim::adam_init", detail::taken_apart(params, "params"), where);
  return {detail::put_together(params, zeros), detail::put_together(params, zeros),
          detail::no_steps(where)};
}

/// A step of Adam (Kingma, Ba: arXiv:1412.6980, algorithm 1): m = beta1 m + (1 - beta1) g,
/// v = beta2 v + (1 - beta2) g^2, then with t counting from 1
/// p - learning_rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
template <class Params>
std::pair<Params, AdamState<Params>> adam(
    const Params& params, const Params& gradients, const AdamState<Params>& state,
    const AdamOptions& options = {}, std::source_location where = std::source_location::current()) {
  return detail::adam_step(
      params, gradients, state,
      {"optim::adam", options.learning_rate, options.beta1, options.beta2, options.epsilon, 0},
      where);
}

/// A step of Adam with decoupled weight decay (Loshchilov, Hutter: arXiv:1711.05101, algorithm 2,
/// the learning rate being its schedule times alpha, as PyTorch has it):
/// p - learning_rate (r + weight_decay p), where r is what `adam` scales.
template <class Params>
std::pair<Params, AdamState<Params>> adamw(
    const Params& params, const Params& gradients, const AdamState<Params>& state,
    const AdamwOptions& options = {},
    std::source_location where = std::source_location::current()) {
  return detail::adam_step(params, gradients, state,
                           {"optim::adamw", options.learning_rate, options.beta1, options.beta2,
                            options.epsilon, options.weight_decay},
                           where);
}

/// A step of LAMB for large batches (You et al.: arXiv:1904.00962, algorithm 2, phi being the
/// identity): p - learning_rate (|p| / |u|) u for u = r + weight_decay p, where r is what `adam`
/// scales; the norms are of each array by itself, and the ratio is 1 where one of them is 0.
template <class Params>
std::pair<Params, AdamState<Params>> lamb(
    const Params& params, const Params& gradients, const AdamState<Params>& state,
    const LambOptions& options = {}, std::source_location where = std::source_location::current()) {
  return detail::adam_step(params, gradients, state,
                           {"optim::lamb", options.learning_rate, options.beta1, options.beta2,
                            options.epsilon, options.weight_decay, true},
                           where);
}

}  // namespace optim
}  // namespace anabranch
