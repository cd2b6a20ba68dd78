// Learning rates that depend on the step: what `optim` takes as a learning rate.
//
//   namespace schedule = ab::optim::schedule;
//   const ab::Array rate = schedule::warmup_cosine(state.step, {.peak = 3e-4, .warmup = 100,
//                                                               .steps = 10000});
//   std::tie(params, state) = ab::optim::adamw(params, gradients, state, {.learning_rate = rate});
//
// A schedule takes the number of steps taken so far: an integer scalar, such as AdamState's `step`,
// or a number. It gives a scalar of `dtype`, f32 or f64. Throws Error for another step or dtype,
// and for counts of steps below 1.
#pragma once

#include <cstdint>

#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"

namespace ANABRANCH_API anabranch {
namespace optim::schedule {

/// `rate`, always.
Array constant(const Operand& step, double rate, Dtype dtype = f32);

/// From `begin` in a straight line to `end`, which it has from step `steps` on.
Array linear(const Operand& step, double begin, double end, std::int64_t steps, Dtype dtype = f32);

/// (step + 1) / steps of `peak` up to it, then `peak`: the first step is not one of rate 0.
Array warmup(const Operand& step, double peak, std::int64_t steps, Dtype dtype = f32);

/// floor + (peak - floor) (1 + cos(pi step / steps)) / 2, and `floor` from step `steps` on
/// (Loshchilov, Hutter: arXiv:1608.03983, equation 5, without restarts).
Array cosine(const Operand& step, double peak, std::int64_t steps, double floor = 0,
             Dtype dtype = f32);

struct WarmupCosine {
  double peak = 1e-3;
  std::int64_t warmup = 1;  ///< steps of `warmup`
  std::int64_t steps = 2;   ///< in all: those after the warm-up follow `cosine`
  double floor = 0;
};
/// `warmup`, then `cosine`. Throws Error unless there are more steps than those of the warm-up.
Array warmup_cosine(const Operand& step, const WarmupCosine& how, Dtype dtype = f32);

/// rate * factor^(step / steps), for a factor above 0.
Array exponential(const Operand& step, double rate, double factor, std::int64_t steps = 1,
                  Dtype dtype = f32);

/// rate * factor^floor(step / every): constant, and `factor` times as much after each `every`
/// steps.
Array stepwise(const Operand& step, double rate, double factor, std::int64_t every,
               Dtype dtype = f32);

}  // namespace optim::schedule
}  // namespace anabranch
