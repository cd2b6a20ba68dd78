// The async contract, line by line.
#include <thread>

#include "frontend/program_cache.h"
#include "runtime/buffer.h"
#include "values.h"

namespace {

TEST(Async, AMillionRecordedOperations) {
  ab::Array y = ab::zeros(ab::f32, {4});
  ab::wait_all();
  ab::reset_peak_memory(ab::Device::cpu());
  auto before = ab::memory_use(ab::Device::cpu()).in_use;
  for (int i = 0; i < 1'000'000; ++i) y = y + 1;
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(4, 1e6f));
  EXPECT_LT(ab::memory_use(ab::Device::cpu()).peak, before + (8u << 20));
}

TEST(Async, ChangingNumbersOutsideJitDoNotCompileAgain) {
  ab::Array x = ab::array({1.0f, 2.0f});
  auto sum = [&](int i) { return (x * i + 0.5 * i).to_vector<float>(); };
  sum(1);
  auto misses = ab::program_cache_use().misses;
  for (int i = 2; i < 10; ++i) EXPECT_EQ(sum(i)[1], 2.5f * static_cast<float>(i));
  EXPECT_EQ(ab::program_cache_use().misses, misses);
}

TEST(Async, ALongLoopThatIsNeverReadRunsInBoundedMemory) {
  auto step = ab::jit([](ab::Array x) { return x * 0.5f + 1; });
  ab::Array x = ab::ones(ab::f32, {1 << 12});
  x.wait();
  ab::wait_all();
  ab::reset_peak_memory(ab::Device::cpu());
  auto before = ab::memory_use(ab::Device::cpu()).in_use;
  for (int i = 0; i < 10'000; ++i) x = step(x);
  EXPECT_LT(ab::memory_use(ab::Device::cpu()).peak, before + (4u << 20));
  EXPECT_FLOAT_EQ(x.to_vector<float>()[0], 2);
}

TEST(Async, RecordedArraysRunWhenAskedFor) {
  ab::Array x = ab::ones(ab::f32, {2}) * 3;
  EXPECT_FALSE(x.ready());
  ab::Array y = x + 1;
  y.wait();
  EXPECT_TRUE(y.ready());
  EXPECT_TRUE(x.ready() || (x.wait(), x.ready()));
  ab::Array z = y * 2, w = y * 3;
  ab::eval(z, w);
  z.wait();
  w.wait();
  EXPECT_TRUE(z.ready() && w.ready());
}

TEST(Async, WaitAllRunsWhatIsRecorded) {
  ab::Array x = ab::ones(ab::f32, {2}) + 1, zeros = ab::zeros(ab::i32, {3});
  ab::wait_all();
  EXPECT_TRUE(x.ready());
  EXPECT_TRUE(zeros.ready());
}

TEST(Async, WhatIsHeldOnTheWayDoesNotRunTwice) {
  ab::Array x = ab::arange(5, ab::f32) * 2;
  ab::Array y = x + 1;
  EXPECT_EQ(y.to_vector<float>()[4], 9);
  EXPECT_TRUE(x.ready());
}

TEST(Async, SharedOperationsAreRecordedInBoundedTime) {
  ab::Array y = ab::ones(ab::f64, {2});
  for (int i = 0; i < 100; ++i) y = y + y;
  EXPECT_EQ(y.to_vector<double>()[0], std::ldexp(1.0, 100));
}

TEST(Async, ArraysMayBeDestroyedInFlight) {
  auto f = ab::jit([](ab::Array x) { return ab::tanh(ab::matmul(x, x)); });
  for (int i = 0; i < 20; ++i) {
    ab::Array x = ab::full({64, 64}, 0.01f);
    f(f(x));
  }
  ab::wait_all();
  EXPECT_EQ(f.traces(), 1);
}

TEST(Async, OneRecordedArrayMayBeReadByManyThreads) {
  for (int round = 0; round < 20; ++round) {
    ab::Array x = ab::arange(100, ab::f32) * round + 1;
    std::vector<std::thread> threads;
    std::vector<float> sums(4);
    for (std::size_t t = 0; t < sums.size(); ++t) {
      threads.emplace_back([&, t] { sums[t] = ab::sum(x + static_cast<float>(t)).item<float>(); });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < sums.size(); ++t) {
      EXPECT_EQ(sums[t], 4950.0f * static_cast<float>(round) + 100 + 100 * static_cast<float>(t));
    }
  }
}

TEST(Async, TheSameProgramGivesTheSameBits) {
  auto f = [](ab::Array x) { return ab::sum(ab::sin(x) * x) + ab::mean(ab::exp(-x)); };
  ab::Array x = ab::random::normal(ab::random::key(5), {1000});
  auto bits = ab::jit(f)(x).to_vector<float>();
  for (int streams : {1, 2, 4}) {
    ab::Options options;
    options.streams = streams;
    EXPECT_EQ(ab::jit(f, options)(x).to_vector<float>(), bits);
  }
}

TEST(Async, AFailureReachesWhatDependsOnItAndNothingElse) {
  ab::Array huge = ab::full({std::int64_t{1} << 50}, 1.0f);
  ab::Array other = ab::ones(ab::f32, {2}) + 1;
  auto f = ab::jit([](ab::Array x) { return x * 2; });
  ab::Array result = f(huge);
  EXPECT_THROW(result.wait(), ab::Error);
  EXPECT_THROW(f(result).wait(), ab::Error);
  EXPECT_EQ(other.to_vector<float>(), (std::vector<float>{2, 2}));
}

}  // namespace
