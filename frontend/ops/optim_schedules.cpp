#include "anabranch/optim_schedules.h"

#include <cmath>
#include <numbers>
#include <string>

#include "anabranch/creation.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/special_terms.h"
#include "frontend/ops/term.h"

namespace anabranch::optim::schedule {
namespace {

// The step as f64, which holds any count of steps.
Term counted(const char* function, const Operand& step, Dtype dtype) {
  const SourceLocation where = step.where();
  if (dtype != f32 && dtype != f64) {
    fail(std::string(function) + ": gives f32 or f64, not " + std::string(name(dtype)), where);
  }
  const Array array = as_array(function, step, Takes::integers);
  if (type_of(array).rank() != 0) {
    fail(std::string(function) + ": the step is " + to_string(type_of(array)) +
             ", and has to be an integer scalar",
         where);
  }
  return in_f64(with_own_dtype({array, where}));
}

void demand_steps(const char* function, const char* what, std::int64_t steps,
                  SourceLocation where) {
  if (steps >= 1) return;
  fail(std::string(function) + ": " + what + " is " + std::to_string(steps) + "; give at least 1",
       where);
}

// How much of `steps` is done, from 0 to 1.
Term done(const Term& step, std::int64_t steps) {
  return minimum(maximum(step / static_cast<double>(steps), 0), 1);
}

Term half_cosine(const Term& progress, double peak, double floor) {
  const Term wave = {cos(progress * std::numbers::pi), progress.where()};
  return floor + (peak - floor) * 0.5 * (1 + wave);
}

Array in(Dtype dtype, const Term& rate) { return astype(rate, dtype); }

}  // namespace

Array constant(const Operand& step, double rate, Dtype dtype) {
  counted("optim::schedule::constant", step, dtype);
  return full(Sizes(std::vector<std::int64_t>{}, step.where()), rate, dtype);
}

Array linear(const Operand& step, double begin, double end, std::int64_t steps, Dtype dtype) {
  constexpr const char* function = "optim::schedule::linear";
  demand_steps(function, "steps", steps, step.where());
  const Term progress = done(counted(function, step, dtype), steps);
  return in(dtype, begin * (1 - progress) + end * progress);
}

Array warmup(const Operand& step, double peak, std::int64_t steps, Dtype dtype) {
  constexpr const char* function = "optim::schedule::warmup";
  demand_steps(function, "steps", steps, step.where());
  return in(dtype, peak * done(counted(function, step, dtype) + 1, steps));
}

Array cosine(const Operand& step, double peak, std::int64_t steps, double floor, Dtype dtype) {
  constexpr const char* function = "optim::schedule::cosine";
  demand_steps(function, "steps", steps, step.where());
  return in(dtype, half_cosine(done(counted(function, step, dtype), steps), peak, floor));
}

Array warmup_cosine(const Operand& step, const WarmupCosine& how, Dtype dtype) {
  constexpr const char* function = "optim::schedule::warmup_cosine";
  demand_steps(function, "warmup", how.warmup, step.where());
  if (how.steps <= how.warmup) {
    fail(std::string(function) + ": " + std::to_string(how.steps) + " steps with a warm-up of " +
             std::to_string(how.warmup) + "; give more steps than those of the warm-up",
         step.where());
  }
  const Term count = counted(function, step, dtype);
  const Term rising = how.peak * done(count + 1, how.warmup);
  const double begin = static_cast<double>(how.warmup);
  const Term falling =
      half_cosine(done(count - begin, how.steps - how.warmup), how.peak, how.floor);
  return in(dtype, where(count < begin, rising, falling));
}

Array exponential(const Operand& step, double rate, double factor, std::int64_t steps,
                  Dtype dtype) {
  constexpr const char* function = "optim::schedule::exponential";
  demand_steps(function, "steps", steps, step.where());
  if (!(factor > 0)) {
    fail(std::string(function) + ": factor is " + to_string(Number(factor)) + "; give more than 0",
         step.where());
  }
  const Term turns = counted(function, step, dtype) / static_cast<double>(steps);
  return in(dtype, rate * exp(turns * std::log(factor)));
}

Array stepwise(const Operand& step, double rate, double factor, std::int64_t every, Dtype dtype) {
  constexpr const char* function = "optim::schedule::stepwise";
  demand_steps(function, "every", every, step.where());
  const Term turns = floor(counted(function, step, dtype) / static_cast<double>(every));
  const Term base = {full(Sizes(std::vector<std::int64_t>{}, step.where()), factor, f64),
                     step.where()};
  return in(dtype, rate * pow(base, turns));
}

}  // namespace anabranch::optim::schedule
