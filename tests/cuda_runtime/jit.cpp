// Programs on a GPU, from the user's function to the numbers.
#include <gtest/gtest.h>

#include "anabranch/anabranch.h"

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

}  // namespace
