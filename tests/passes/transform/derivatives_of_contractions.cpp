// dot and convolution, of random axes, against central differences.
#include <algorithm>
#include <numeric>

#include "ir/text/parse.h"
#include "passes/transform/vjp.h"
#include "tests/passes/transform/random_trials.h"

namespace anabranch {
namespace {

using testing::check_trials;
using testing::Trial;
using Axes = std::vector<std::int64_t>;

Axes shuffled(const Trial& trial, std::size_t count) {
  Axes axes = axes_up_to(static_cast<std::int64_t>(count));
  std::ranges::shuffle(axes, trial.random);
  return axes;
}

std::size_t place(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// What is not differentiated by.
std::vector<std::size_t> fixed_of(int which) {
  if (which == 0) return {1};
  if (which == 1) return {0};
  return {};
}

std::vector<Quantity> random_dot(const Trial& trial) {
  const std::size_t batch = place(trial.below(3)), contracting = place(trial.below(3));
  const std::size_t left_free = place(trial.below(3)), right_free = place(trial.below(3));
  const Axes left = shuffled(trial, batch + contracting + left_free);
  const Axes right = shuffled(trial, batch + contracting + right_free);
  Axes left_sizes(left.size()), right_sizes(right.size());
  DotAttributes how;
  const auto deal = [&](std::size_t i) { left_sizes[place(left[i])] = trial.size(3); };
  for (std::size_t i = 0; i < left.size(); ++i) deal(i);
  for (std::size_t i = 0; i < right.size(); ++i) {
    const bool is_shared = i < batch + contracting;
    right_sizes[place(right[i])] = is_shared ? left_sizes[place(left[i])] : trial.size(3);
    if (!is_shared) continue;
    (i < batch ? how.lhs_batch : how.lhs_contracting).push_back(left[i]);
    (i < batch ? how.rhs_batch : how.rhs_contracting).push_back(right[i]);
  }
  const Quantity x = trial.parameter(left_sizes), y = trial.parameter(right_sizes);
  return {{&trial.graph, trial.graph.add(Op::dot, {x.value, y.value}, how)}};
}

std::vector<Quantity> random_convolution(const Trial& trial) {
  const std::size_t spatial = place(1 + trial.below(3)), rank = spatial + 2;
  ConvolutionAttributes how;
  how.lhs_axes = shuffled(trial, rank);
  how.rhs_axes = shuffled(trial, rank);
  how.result_axes = shuffled(trial, rank);
  how.groups = trial.percent(50) ? 1 : 1 + trial.below(3);
  const std::int64_t most = spatial == 1 ? 6 : spatial == 2 ? 4 : 3;
  const std::int64_t inputs = trial.size(2), outputs = trial.size(2);
  Axes lhs(rank), rhs(rank);
  lhs[place(how.lhs_axes[0])] = trial.size(2);
  lhs[place(how.lhs_axes[1])] = inputs * how.groups;
  rhs[place(how.rhs_axes[0])] = outputs * how.groups;
  rhs[place(how.rhs_axes[1])] = inputs;
  for (std::size_t i = 2; i < rank; ++i) {
    const std::int64_t size = trial.size(most), window = 1 + trial.below(3);
    lhs[place(how.lhs_axes[i])] = size;
    rhs[place(how.rhs_axes[i])] = window;
    how.strides.push_back(1 + trial.below(3));
    how.lhs_dilations.push_back(trial.percent(60) ? 1 : 1 + trial.below(3));
    how.rhs_dilations.push_back(trial.percent(60) ? 1 : 1 + trial.below(3));
    how.rhs_reversals.push_back(trial.below(2));
    // Not more is cropped than there is.
    const std::int64_t all = size == 0 ? 0 : 1 + (size - 1) * how.lhs_dilations.back();
    how.low.push_back(std::max(trial.below(6) - 2, -all));
    how.high.push_back(std::max(trial.below(6) - 2, -all - how.low.back()));
  }
  const Quantity x = trial.parameter(lhs), w = trial.parameter(rhs);
  return {{&trial.graph, trial.graph.add(Op::convolution, {x.value, w.value}, how)}};
}

TEST(DerivativesOfContractions, Dot) {
  check_trials("dot", random_dot, {.order = 2}, 60);
  check_trials("dot by lhs", random_dot, {.order = 2, .fixed = fixed_of(0)}, 30);
  check_trials("dot by rhs ", random_dot, {.order = 2, .fixed = fixed_of(1)}, 30);
}

// As many as `op` there are in the linear part of a function's vjp.
std::ptrdiff_t count_in_vjp(const char* text, std::vector<bool> by, Op op) {
  const ForwardAndLinear pulled = vjp(parse(text), std::move(by));
  return std::ranges::count(pulled.linear.nodes(), op, &Node::op);
}

TEST(DerivativesOfContractions, AreNotTransposedWhereAnOrderOfOperandsSavesIt) {
  constexpr const char* layer = R"(graph f(%0: f32[8,3], %1: f32[3,5]) {
  %2: f32[8,5] = dot %0, %1 lhs_batch=[] rhs_batch=[] lhs_contracting=[1] rhs_contracting=[0]
  %3: f32[] = reduce_sum %2 axes=[0,1]
  return %3
})";
  constexpr const char* batched = R"(graph f(%0: f32[2,8,3], %1: f32[2,3,5]) {
  %2: f32[2,8,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[0] lhs_contracting=[2] rhs_contracting=[1]
  return %2
})";
  for (const char* text : {layer, batched}) {
    for (const std::vector<bool>& by : {std::vector{false, true}, {true, false}, {true, true}}) {
      EXPECT_EQ(count_in_vjp(text, by, Op::transpose), 0) << text;
      EXPECT_EQ(count_in_vjp(text, by, Op::dot), std::ranges::count(by, true)) << text;
    }
  }
}

TEST(DerivativesOfContractions, Convolution) {
  check_trials("convolution", random_convolution, {.order = 2}, 60);
  check_trials("convolution by lhs", random_convolution, {.order = 2, .fixed = fixed_of(0)}, 60);
  check_trials("convolution by rhs ", random_convolution, {.order = 2, .fixed = fixed_of(1)}, 60);
}

}  // namespace
}  // namespace anabranch
