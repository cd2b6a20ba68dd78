// Programs on a GPU, from the user's function to the numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "anabranch/anabranch.h"
#include "codegen/compile.h"
#include "codegen/cuda/gpu_costs.h"
#include "fake_driver.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/gpus.h"
#include "tests/support/default_device.h"

namespace ab = anabranch;

namespace {

ab::Options on_gpu(int streams = 4) {
  ab::Options options;
  options.device = ab::Device::cuda(0);
  options.streams = streams;
  return options;
}

ab::Array numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 8;
  return ab::array(values, {count});
}

TEST(JitOnGpu, ComputesWhatTheCpuComputes) {
  auto f = [](ab::Array x) { return ab::tanh(x * 0.5f) + ab::sum(x); };
  const ab::Array x = numbers(1000);
  const std::vector<float> here = ab::jit(f)(x).to_vector<float>();
  const ab::Array there = ab::jit(f, on_gpu())(x.to(ab::Device::cuda(0)));
  EXPECT_EQ(there.device(), ab::Device::cuda(0));
  const std::vector<float> got = there.to_vector<float>();
  ASSERT_EQ(got.size(), here.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], here[i], 1e-3f);
}

TEST(JitOnGpu, CallsDependOnEachOtherWithoutTheHost) {
  auto next = ab::jit([](ab::Array x) { return x * 0.5f + 1.0f; }, on_gpu());
  ab::Array x = numbers(100).to(ab::Device::cuda(0));
  for (int i = 0; i < 200; ++i) x = next(x);
  for (const float value : x.to_vector<float>()) EXPECT_NEAR(value, 2.0f, 1e-5f);
}

// Near, element by element, to what the same function gives on the CPU.
template <class Function>
void expect_as_on_cpu(Function function, const ab::Array& x, int streams = 4,
                      float tolerance = 1e-4f) {
  const std::vector<float> here = ab::jit(function)(x).template to_vector<float>();
  const ab::Array there = ab::jit(function, on_gpu(streams))(x.to(ab::Device::cuda(0)));
  EXPECT_EQ(there.device(), ab::Device::cuda(0));
  const std::vector<float> got = there.to_vector<float>();
  ASSERT_EQ(got.size(), here.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], here[i], tolerance) << i;
}

TEST(JitOnGpu, ProgramsGoToTheGpuAndBack) {
  auto f = ab::jit([](ab::Array x) {
    const ab::Array there = ab::exp(x.to(ab::Device::cuda(0)) * 0.1f);
    return there.to(ab::Device::cpu()) + x;
  });
  for (std::int64_t size : {0, 1, 7, 1000, 100'000}) {
    const ab::Array x = numbers(size);
    const std::vector<float> got = f(x).to_vector<float>(), was = x.to_vector<float>();
    for (std::size_t i = 0; i < was.size(); ++i) {
      ASSERT_NEAR(got[i], std::exp(was[i] * 0.1f) + was[i], 1e-4f);
    }
  }
}

// Rows are gathered on the GPU and added on the host, whatever the indices.
TEST(JitOnGpu, GathersAndScatters) {
  const auto f = [](ab::Array x) {
    const ab::Array at = ab::astype(x, ab::i32);  // -8 to 8
    const ab::Array rows = ab::take(ab::reshape(x, {-1, 4}), at, 0, ab::OutOfRange::clip);
    const ab::Array sums = ab::segment_sum(rows * 0.5f, at, 7);
    return ab::ravel(ab::at(sums, ab::array({1, 1, 9})).add(2.0f)) + 1.0f;
  };
  expect_as_on_cpu(f, numbers(1000));
  expect_as_on_cpu(f, numbers(8));
}

TEST(JitOnGpu, ScattersInALoop) {
  const auto f = [](ab::Array x) {
    return ab::fori_loop(
        0, 20,
        [](const ab::Array& i, const ab::Array& carry) {
          return ab::at(carry, ab::reshape(i * 3 % 11, {1})).add(0.25f) * 1.5f;
        },
        x);
  };
  expect_as_on_cpu(f, numbers(9), 1, 0.1f);
}

// Six chains of products that meet in the end.
ab::Array branches(ab::Array x) {
  ab::Array sum = x;
  for (int i = 1; i <= 6; ++i) {
    ab::Array y = x * (0.1f * static_cast<float>(i));
    for (int j = 0; j < 3; ++j) y = ab::matmul(ab::sin(y), x) * 0.1f;
    sum = sum + y;
  }
  return sum;
}

TEST(JitOnGpu, BranchesRunOnSeveralStreams) {
  // Each product of a chain makes the rounding of the sines before it about ten times larger.
  for (int streams : {1, 4}) {
    expect_as_on_cpu(branches, ab::reshape(numbers(256), {16, 16}), streams, 1e-3f);
  }
}

using PretendedStreams = anabranch::testing::PretendedDriver;

// All is on the streams before the GPU does any of it, in an order of its own choice.
TEST_F(PretendedStreams, WaitForWhatTheyRead) {
  const ab::Array x = ab::reshape(numbers(256), {16, 16}).to(ab::Device::cuda(0));
  const std::vector<float> expected = ab::jit(branches, on_gpu(1))(x).to_vector<float>();
  auto f = ab::jit(branches, on_gpu(4));
  EXPECT_GT(f.cost(x).streams, 1);
  f(x).wait();
  auto& gpu = anabranch::cuda::Gpu::of(0);
  gpu.enter();
  const std::function<void()> go_on = anabranch::testing::stop_at(gpu.main().native());
  std::vector<ab::Array> results;
  for (int i = 0; i < 8; ++i) results.push_back(f(x));
  go_on();
  for (const ab::Array& result : results) EXPECT_EQ(result.to_vector<float>(), expected);
}

// Memory goes back while a stream of its own still has to write it. The copy to the GPU takes part
// of the work to another thread.
TEST(JitOnGpu, ResultsMayBeDroppedAtOnce) {
  auto f = ab::jit(
      [](ab::Array x) { return ab::exp(ab::broadcast_to(x.to(ab::Device::cuda(0)), {1 << 18})); });
  const ab::Array x = ab::array({0.0f});
  for (int i = 0; i < 100; ++i) f(x);
  EXPECT_EQ(f(x).to_vector<float>(), std::vector<float>(1 << 18, 1.0f));
}

TEST(JitOnGpu, CustomCallsRunOnTheHost) {
  auto f = [](ab::Array x) {
    const auto twice_and_one = [](const ab::CustomCall& call) {
      const auto from = call.operand<float>(0);
      const auto to = call.result<float>(0);
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = 2 * from[i] + 1;
    };
    return ab::custom_call("twice_and_one", twice_and_one, ab::spec(ab::f32, x.shape()), x * 3) - x;
  };
  expect_as_on_cpu(f, numbers(1000));
}

TEST(JitOnGpu, LoopsAndBranchesNeedNoHostThread) {
  auto fibonacci = [](ab::Array x) {
    return ab::fori_loop(
               0, 7,
               [](ab::Array, const auto& s) {
                 return std::pair{s.second, s.first + s.second};
               },
               std::pair{x, x * 0.5f})
        .first;
  };
  auto halve = [](ab::Array x) {
    return ab::while_loop([](ab::Array y) { return ab::sum(ab::abs(y)) > 1; },
                          [](ab::Array y) { return y * 0.5f; }, x);
  };
  auto choose = [](ab::Array x) {
    return ab::cond(
        ab::sum(x) > 0, [](ab::Array y) { return y + 1; },
        [](ab::Array y) {
          return ab::fori_loop(
              0, 3, [](ab::Array i, ab::Array z) { return z * 2 + i.astype(ab::f32); }, y);
        },
        x);
  };
  for (const float sign : {1.0f, -1.0f}) {
    const ab::Array x = numbers(1003) * sign + sign;
    expect_as_on_cpu(fibonacci, x);
    expect_as_on_cpu(halve, x);
    expect_as_on_cpu(choose, x);
  }
}

// Every launch, once, within the wait for the result, and after what it depends on.
TEST(JitOnGpu, TheTimelineShowsWhenTheGpuRanEachKernel) {
  auto f = ab::jit([](ab::Array x) { return ab::sum(ab::exp(x)) + ab::max(ab::sin(x)); }, on_gpu());
  const ab::Array x = numbers(100'000).to(ab::Device::cuda(0));
  f(x).wait();
  ab::timeline::Recording recording;
  const auto begin = ab::timeline::Clock::now();
  f(x).wait();
  ab::wait_all();
  const auto end = ab::timeline::Clock::now();
  const std::chrono::microseconds slack(200);
  int kernels = 0;
  for (const auto& event : recording.stop().events) {
    if (event.category != ab::timeline::Category::kernel) continue;
    ++kernels;
    EXPECT_EQ(event.track.device, ab::Device::cuda(0));
    EXPECT_GE(event.begin, begin - slack);
    EXPECT_LE(event.begin, event.end);
    EXPECT_LE(event.end, end + slack);
  }
  EXPECT_GE(kernels, 1);
}

TEST(JitOnGpu, TheTimelineShowsCopiesFromAndToTheHost) {
  const ab::testing::DefaultDevice gpu(ab::Device::cuda(0));
  const std::vector<float> values(1000, 1.0f);
  ab::timeline::Recording recording;
  const ab::Array x = ab::array(values, {1000});
  x.wait();
  EXPECT_EQ(x.to_vector<float>(), values);
  std::vector<std::string> copies;
  for (const auto& event : recording.stop().events) {
    if (event.category != ab::timeline::Category::copy) continue;
    EXPECT_EQ(to_string(event.track), "cuda:0 copies 0");
    EXPECT_EQ(event.details.bytes, 4000);
    EXPECT_LE(event.begin, event.end);
    copies.push_back(event.name);
  }
  EXPECT_EQ(copies, (std::vector<std::string>{"copy from the host", "copy to the host"}));
}

// The same program on the same numbers again and again; the memory of one run is free for the next.
void expect_the_same_20_times() {
  const ab::Array x = ab::reshape(numbers(256), {16, 16});
  const std::vector<float> expected = ab::jit(branches)(x).to_vector<float>();
  ab::Options options = on_gpu();
  options.use_all_streams = true;
  auto on_it = ab::jit(branches, options);
  const ab::Array there = x.to(ab::Device::cuda(0));
  for (int run = 0; run < 20; ++run) {
    const std::vector<float> got = on_it(there).to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-3f) << run;
  }
}

TEST(JitOnGpu, RunsInTheSameMemoryGiveTheSame) { expect_the_same_20_times(); }

using PretendedReplays = anabranch::testing::PretendedDriver;

// From the second run with the same memory on, the driver is given a whole run at once.
TEST_F(PretendedReplays, ArePutAsAWhole) {
  anabranch::testing::reuse_memory(true);
  const auto graphs = anabranch::testing::driver_calls("cuGraphLaunch");
  expect_the_same_20_times();
  EXPECT_GE(anabranch::testing::driver_calls("cuGraphLaunch") - graphs, 10);
  anabranch::testing::reuse_memory(false);
}

TEST(JitOnGpu, PredictsByTheGpusOwnFigures) {
  auto f = ab::jit([](ab::Array x) { return x * 0.5f + 1.0f; }, on_gpu());
  const ab::Array x = ab::zeros(ab::f32, {1 << 22}).to(ab::Device::cuda(0));
  const ab::ProgramCost cost = f.cost(x);
  const double memory_ns = 2.0 * 4 * (1 << 22) / ab::cuda::gpu_facts(0).bytes_per_ns;
  EXPECT_NEAR(cost.predicted_ns, ab::cuda::launch_ns + memory_ns, 1);
}

TEST(JitOnGpu, EqualKernelsAreCompiledOnce) {
  const auto bytes_of = [](int layers) {
    const auto f = [layers](ab::Array x) {
      for (int i = 0; i < layers; ++i) {
        x = ab::tanh(x + ab::max(x, i % 2, ab::keepdims));
      }
      return x;
    };
    const ab::Graph graph = ab::trace(f, ab::spec(ab::f32, {4, 16}));
    return ab::compile(graph, on_gpu()).code().bytes;
  };
  EXPECT_EQ(bytes_of(40), bytes_of(2));
}

TEST(JitOnGpu, SmallBranchesHaveStreamsAndLargeOnesDoNot) {
  const auto chains = [](ab::Array x, ab::Array w) {
    std::vector<ab::Array> ends(4, x);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ends[i] = ends[i] * static_cast<float>(i + 2);
      for (int step = 0; step < 12; ++step) ends[i] = ab::matmul(ends[i], w);
    }
    return ends[0] + ends[1] + ends[2] + ends[3];
  };
  const auto streams = [&](std::int64_t size) {
    const ab::Array x = ab::zeros(ab::f32, {size, size}).to(ab::Device::cuda(0));
    return ab::jit(chains, on_gpu()).cost(x, x).streams;
  };
  EXPECT_EQ(streams(32), 4);    // a multiprocessor each
  EXPECT_EQ(streams(4096), 1);  // more tiles than any GPU has multiprocessors
}

// More than one piece of page-locked memory, each way and by each way.
TEST(JitOnGpu, LargeArraysGoInPieces) {
  const ab::Array here = numbers((std::int64_t{40} << 20) / 4 + 3);
  const std::vector<float> values = here.to_vector<float>();
  const auto host_blocks = [] {
    return anabranch::testing::is_pretended() ? anabranch::testing::alive("host blocks") : 0;
  };
  const std::int64_t before = host_blocks();
  const ab::Array there = here.to(ab::Device::cuda(0));
  EXPECT_EQ(there.to_vector<float>(), values);
  EXPECT_EQ(there.to_vector_async<float>().get(), values);
  std::vector<float> copied(values.size());
  there.copy_to(std::span<float>(copied));
  EXPECT_EQ(copied, values);
  EXPECT_EQ(there.to(ab::Device::cpu()).to_vector<float>(), values);
  const auto twice_of = [](const ab::CustomCall& call) {
    const auto from = call.operand<float>(0);
    const auto to = call.result<float>(0);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = 2 * from[i];
  };
  const ab::Array doubled =
      ab::custom_call("twice_of", twice_of, ab::spec(ab::f32, {there.size()}), there);
  const std::vector<float> twice = doubled.to_vector<float>();
  for (std::size_t i = 0; i < twice.size(); ++i) ASSERT_EQ(twice[i], 2 * values[i]);
  EXPECT_LE(host_blocks() - before, 16);
}

}  // namespace
