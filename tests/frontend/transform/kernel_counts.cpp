// Into how few kernels programs fuse, differentiated ones above all.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/support/default_device.h"
#include "tests/support/values.h"

namespace {

using ab::Array;

// Of a CPU: epilogues of products are kernels of their own on a GPU.
class KernelCounts : public ::testing::Test {
  const ab::testing::DefaultDevice on_cpu_{ab::Device::cpu()};
};

// The dump says why kernels stay apart.
template <class Function, class... Args>
void expect_counts(int kernels, int library_calls, const Function& function, const Args&... args) {
  const auto compiled = ab::jit(function);
  const ab::ProgramCost cost = compiled.cost(args...);
  EXPECT_EQ(cost.kernels, kernels) << compiled.dump(ab::Stage::optimized, args...);
  EXPECT_EQ(cost.library_calls, library_calls) << compiled.dump(ab::Stage::optimized, args...);
}

// 20 operations, most of which need what they were given, or what they gave, for their derivative.
Array chain(Array x) {
  Array y = ab::tanh(x * 0.5f + 1.0f);
  y = ab::exp(-y * y) / (1.0f + ab::square(x));
  y = ab::sqrt(ab::abs(y) + 0.1f) * ab::sin(x);
  y = ab::log1p(ab::square(y)) - ab::cos(y);
  return ab::where(y > 0, ab::sigmoid(y), y * x);
}

// It is computed in f32: conversions are no reason for kernels of their own.
TEST_F(KernelCounts, ALayerNormOfBf16IsOne) {
  const auto norm = [](Array x, Array scale, Array shift) {
    return ab::layer_norm(x, scale, shift);
  };
  const ab::Spec row = ab::spec(ab::bf16, {1024});
  expect_counts(1, 0, norm, ab::spec(ab::bf16, {4096, 1024}), row, row);
}

TEST_F(KernelCounts, TheBackwardPassOfAnElementwiseChainIsOne) {
  const ab::Spec x = ab::spec(ab::f32, {64, 256});
  EXPECT_GE(ab::trace(chain, x).nodes().size(), 20u);
  expect_counts(1, 0, ab::grad([](Array a) { return ab::sum(chain(a)); }), x);
  expect_counts(
      1, 0, [](Array a, Array cotangent) { return ab::vjp(chain, a).second(cotangent); }, x, x);
  expect_counts(
      1, 0, [](Array a, Array t) { return ab::jvp(chain, std::tuple{a}, std::tuple{t}); }, x, x);
}

// Of which each example takes as many turns as it needs.
TEST_F(KernelCounts, AWhileLoopUnderTwoVmapsIsOne) {
  const auto steps = [](Array x) {
    const auto halve = [](auto& carry) {
      auto [value, count] = carry;
      return std::tuple(value / 2, count + 1);
    };
    const auto is_large = [](auto& carry) { return std::get<0>(carry) > 1; };
    return std::get<1>(ab::while_loop(is_large, halve, std::tuple(x, 0)));
  };
  expect_counts(1, 0, ab::vmap(steps), ab::spec(ab::i32, {1000}));
  expect_counts(1, 0, ab::vmap(ab::vmap(steps)), ab::spec(ab::i32, {50, 33}));
}

// All turns of a map at once, of one inside another, too.
TEST_F(KernelCounts, AMapIsOne) {
  const auto distances = [](Array queries, Array points) {
    return ab::map([&](const Array& q) { return ab::min(ab::abs(points - q)); }, queries);
  };
  expect_counts(1, 0, distances, ab::spec(ab::f32, {40}), ab::spec(ab::f32, {500}));
  const auto table = [](Array rows, Array columns) {
    return ab::map(
        [&](const Array& x) {
          return ab::map([&](const Array& y) { return ab::sin(x * y); }, columns);
        },
        rows);
  };
  expect_counts(1, 0, table, ab::spec(ab::f32, {40}), ab::spec(ab::f32, {30}));
}

// The state of each example is split, and put together again by a second kernel.
TEST_F(KernelCounts, ASolverOfThreeEquationsUnderVmapIsTwo) {
  const auto lorenz = [](Array state) {
    const auto slope = [](const Array& s) {
      return ab::stack(
          {10.0f * (s[1] - s[0]), s[0] * (28.0f - s[2]) - s[1], s[0] * s[1] - 2.5f * s[2]});
    };
    const auto step = [&](const Array&, const Array& s) {
      return s + 0.01f * slope(s + 0.005f * slope(s));
    };
    return ab::fori_loop(0, 40, step, state);
  };
  expect_counts(2, 0, ab::vmap(lorenz), ab::spec(ab::f32, {1000, 3}));
}

// Rows, and their mean.
TEST_F(KernelCounts, SoftmaxCrossEntropyForwardAndBackwardIsTwo) {
  const auto loss = [](Array logits, Array labels) {
    return ab::cross_entropy_loss(logits, labels);
  };
  expect_counts(2, 0, ab::value_and_grad(loss), ab::spec(ab::f32, {64, 100}),
                ab::spec(ab::i32, {64}));
  expect_counts(2, 0, ab::value_and_grad(loss), ab::spec(ab::f32, {64, 100}),
                ab::spec(ab::f32, {64, 100}));
}

struct Params {
  Array w1, b1, w2, b2;
};

// The weights' steps are epilogues of dots; what is left is the loss, its mean, and two biases.
TEST_F(KernelCounts, ATrainingStepOfTwoLayersIsItsDotsAndFour) {
  const auto loss = [](const Params& p, Array x, Array labels) {
    const Array hidden = ab::relu(ab::dense(x, p.w1, p.b1));
    return ab::cross_entropy_loss(ab::dense(hidden, p.w2, p.b2), labels);
  };
  const auto step = [&](Params p, Array x, Array labels) {
    const auto [value, gradients] = ab::value_and_grad(loss)(p, x, labels);
    return std::tuple{ab::optim::sgd(p, gradients, {.learning_rate = 0.1}), value};
  };
  const Params p = {ab::zeros({64, 128}), ab::zeros({128}), ab::zeros({128, 10}), ab::zeros({10})};
  expect_counts(4, 5, step, p, ab::spec(ab::f32, {32, 64}), ab::spec(ab::i32, {32}));
}

}  // namespace
