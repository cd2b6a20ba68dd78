// Transforms of many lengths on many threads at once: the library keeps the last plans for all.
#include "codegen/fft/ducc.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "codegen/fft/instruction_set.h"

namespace anabranch::testing {
namespace {

using Values = std::vector<std::complex<float>>;

Values transform(std::int64_t length) {
  Values from(static_cast<std::size_t>(length)), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = {static_cast<float>(i % 7), 1};
  const fft::Functions<float>& functions = fft::kernels(fft::instruction_sets().back()).of<float>();
  functions.complex_to_complex({.length = length, .from = {}, .to = {}, .is_alone = true},
                               from.data(), to.data(), true, 1.0f);
  return to;
}

TEST(Ducc, TransformsOnManyThreadsAtOnce) {
  constexpr std::int64_t lengths = 60;
  std::vector<Values> expected;
  for (std::int64_t length = 1; length <= lengths; ++length) expected.push_back(transform(length));
  const auto check = [&](std::int64_t stride) {
    for (std::int64_t i = 0; i < 50'000; ++i) {
      const std::int64_t length = i * stride % lengths + 1;
      ASSERT_EQ(transform(length), expected[static_cast<std::size_t>(length - 1)]) << length;
    }
  };
  std::vector<std::jthread> threads;
  for (const std::int64_t stride : {1, 7, 11, 13}) threads.emplace_back(check, stride);
}

}  // namespace
}  // namespace anabranch::testing
