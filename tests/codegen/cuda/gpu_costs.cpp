// Times and schedules for a GPU from what is known of it: no test here runs anything on one.
#include "codegen/cuda/gpu_costs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "codegen/cuda/backend.h"
#include "codegen/cuda/predict.h"
#include "codegen/schedule/schedule.h"
#include "runtime/executor/launch_times.h"
#include "tests/support/fake_program.h"

namespace anabranch::cuda {
namespace {

using testing::FakeProgram;
using testing::scheduled;

const GpuFacts h100;

Kernel kernel_of(Dtype dtype, const Cost& cost) {
  Kernel kernel;
  kernel.instructions.push_back({Compute{Op::add, {}}, dtype, {}});
  kernel.cost = cost;
  return kernel;
}

DotStep square(Dtype dtype, std::int64_t size, bool tf32 = false) {
  const Type type{dtype, Shape{size, size}};
  DotStep dot;
  dot.lhs = dot.rhs = dot.result = type;
  dot.attributes.lhs_contracting = {1};
  dot.attributes.rhs_contracting = {0};
  dot.tf32 = tf32;
  return dot;
}

double dot_ns(const GpuCosts& costs, const DotStep& dot) {
  const std::int64_t n = dot.lhs.shape[0];
  const auto bytes = static_cast<std::int64_t>(dot.lhs.bytes());
  return costs.ns(dot, {2 * bytes, bytes, 2 * n * n * n});
}

constexpr std::int64_t many = std::int64_t{1} << 30;

TEST(GpuCosts, BytesTakeWhatTheMemoryGives) {
  const GpuCosts costs(h100);
  EXPECT_DOUBLE_EQ(costs.ns(kernel_of(f32, {3350, 3350, 1}), many), 2);
  EXPECT_DOUBLE_EQ(costs.copy_ns(3350'000, many), 2000);
}

TEST(GpuCosts, OperationsTakeTheUnitsOfTheirDtype) {
  const GpuCosts costs(h100);
  const Cost cost{0, 0, 1'000'000'000};
  const double single = costs.ns(kernel_of(f32, cost), many);
  EXPECT_NEAR(single, 1e9 / (132 * 128 * 1.98), 1);
  EXPECT_DOUBLE_EQ(costs.ns(kernel_of(bf16, cost), many), single);  // in f32
  EXPECT_DOUBLE_EQ(costs.ns(kernel_of(f64, cost), many), 2 * single);
  EXPECT_DOUBLE_EQ(costs.ns(kernel_of(i64, cost), many), 2 * single);
  Kernel mixed = kernel_of(f32, cost);
  mixed.instructions.push_back(kernel_of(f64, {}).instructions[0]);
  EXPECT_DOUBLE_EQ(costs.ns(mixed, many), 2 * single);
}

TEST(GpuCosts, DotsTakeTheTensorCoresThatTheyMay) {
  const GpuCosts costs(h100);
  const double half = dot_ns(costs, square(bf16, 8192));
  EXPECT_NEAR(half, 2 * std::pow(8192.0, 3) / 989.4e3, 0.01 * half * 9);  // 989 TFLOP/s, 8 % off
  EXPECT_DOUBLE_EQ(dot_ns(costs, square(f16, 8192)), half);
  EXPECT_DOUBLE_EQ(dot_ns(costs, square(f32, 8192, true)), 2 * half);
  EXPECT_DOUBLE_EQ(dot_ns(costs, square(f32, 8192)), 16 * half);
  EXPECT_DOUBLE_EQ(dot_ns(costs, square(f64, 8192)), 16 * half);
}

TEST(GpuCosts, WhatFillsAPartOfTheGpuHasThatPart) {
  const GpuCosts costs(h100);
  EXPECT_EQ(costs.multiprocessors(1), 1);
  EXPECT_EQ(costs.multiprocessors(2049), 2);
  EXPECT_EQ(costs.multiprocessors(many), 132);
  const Kernel kernel = kernel_of(f32, {1 << 20, 1 << 20, 1});
  EXPECT_DOUBLE_EQ(costs.ns(kernel, 33 * 2048), 4 * costs.ns(kernel, many));
  EXPECT_EQ(costs.multiprocessors(costs.threads(square(f32, 256))), 4);  // tiles of 128 by 128
}

TEST(GpuFacts, AreLookedUpByCapability) {
  EXPECT_EQ(results_per_cycle(80, f32), 64);
  EXPECT_EQ(results_per_cycle(86, f64), 2);
  EXPECT_EQ(results_per_cycle(87, f32), results_per_cycle(86, f32));
  EXPECT_EQ(results_per_cycle(60, f32), results_per_cycle(75, f32));
  EXPECT_EQ(results_per_cycle(999, f32), results_per_cycle(120, f32));
  EXPECT_EQ(dot_results_per_cycle(75, f32, true), 64);  // which has no TF32
}

// --- schedules

Options on_gpu(int streams) {
  Options options;
  options.device = Device::cuda();
  options.streams = streams;
  return options;
}

/// `count` chains of `length` copies of `bytes` each from one input, whose ends are added up.
Program chains(int count, int length, std::int64_t bytes) {
  constexpr std::int64_t bytes_per_thread = 16;
  const GpuCosts costs = GpuCosts::of(0);
  FakeProgram program(16);
  const auto add = [&](const std::vector<SlotId>& from, SlotId to) {
    const std::int64_t threads = bytes / bytes_per_thread;
    program.step(from, to, costs.copy_ns(bytes, threads)).parallelism = threads;
  };
  const SlotId in = program.input();
  std::vector<SlotId> ends;
  for (int chain = 0; chain < count; ++chain) {
    SlotId last = in;
    for (int i = 0; i < length; ++i) {
      const SlotId next = program.temporary();
      add({last}, next);
      last = next;
    }
    ends.push_back(last);
  }
  add(ends, program.output());
  return program.program();
}

std::size_t streams_of(const Program& program, int most) {
  const Program made = scheduled(program, on_gpu(most));
  EXPECT_NO_THROW(verify(made));
  EXPECT_EQ(to_string(made), to_string(scheduled(program, on_gpu(most))));
  return made.streams.size();
}

constexpr std::int64_t small = 4 << 10, large = std::int64_t{1} << 30;

TEST(GpuSchedule, KernelsThatFillTheGpuKeepToOneStream) {
  EXPECT_EQ(streams_of(chains(2, 3, large), 4), 1u);
  EXPECT_EQ(streams_of(chains(4, 8, large), 4), 1u);
}

TEST(GpuSchedule, SmallKernelsRunSideBySide) {
  EXPECT_EQ(streams_of(chains(2, 12, small), 4), 2u);
  EXPECT_EQ(streams_of(chains(4, 12, small), 4), 4u);
  EXPECT_EQ(streams_of(chains(4, 100, small), 4), 4u);
}

TEST(GpuSchedule, ShortBranchesAreNotWorthTheirEvents) {
  EXPECT_EQ(streams_of(chains(2, 1, small), 4), 1u);
  EXPECT_EQ(streams_of(chains(2, 2, small), 4), 1u);
}

TEST(GpuSchedule, HasNoMoreStreamsThanQueues) {
  EXPECT_EQ(streams_of(chains(24, 40, small), 32), static_cast<std::size_t>(most_streams));
}

TEST(GpuSchedule, PredictsEachStepAndEachEvent) {
  const Program program = chains(2, 12, small);
  const double kernel = launch_ns + program.steps[0].predicted_ns;
  EXPECT_NEAR(scheduled(program, on_gpu(1)).prediction.ns, 25 * kernel, 1e-6);
  // The second stream starts after an event of the main one, which waits for its end.
  EXPECT_NEAR(scheduled(program, on_gpu(2)).prediction.ns, 13 * kernel + 2 * event_ns, 1e-6);
}

TEST(GpuSchedule, IsMadeAgainFromMeasuredTimes) {
  Program program = chains(2, 12, large);
  EXPECT_EQ(streams_of(program, 4), 1u);
  for (Step& step : program.steps) step.parallelism = 1;
  LaunchTimes times(program.steps.size());
  for (StepId i = 0; i < program.steps.size(); ++i) times.add(i, std::chrono::microseconds(20));
  program.devices[0].device = Device::cuda();
  const Program made = schedule(program, on_gpu(4), &times).program;
  EXPECT_EQ(made.streams.size(), 2u);
  EXPECT_TRUE(made.prediction.measured);
}

TEST(GpuSchedule, WhatTheHostDoesForItTakesNoMultiprocessor) {
  FakeProgram fake(16);
  const SlotId in = fake.input(), out = fake.output();
  Program& program = fake.program();
  program.devices = {{Device::cuda()}, {Device::cpu()}};
  program.slots[in].device = 1;
  const DeviceModel model = backend().model(Device::cuda(), on_gpu(4));
  Step& step = fake.step({in}, out);
  step.cost = {128, 128, 0};
  for (const bool copies : {true, false}) {
    if (copies) {
      step.work = TransferStep();
    } else {
      step.work = CallStep();
    }
    predict(step, program, {});
    EXPECT_GT(step.predicted_ns, 0);
    EXPECT_EQ(model.share(step).units, 0u);
    EXPECT_EQ(model.share(step).ns, step.predicted_ns);
  }
}

}  // namespace
}  // namespace anabranch::cuda
