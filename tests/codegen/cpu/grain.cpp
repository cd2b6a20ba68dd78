#include "codegen/cpu/grain.h"

#include <gtest/gtest.h>

#include "codegen/costs.h"
#include "codegen/cpu/kernel_time.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

Kernel passed(const std::string& text) {
  return tile(lower_region(parse(text)).calls.at(0).kernel);
}

TEST(Grain, SmallKernelsAreNeverCut) {
  const std::string text = "graph a(%0: f32[N]) {\n %1: f32[N] = negate %0\n return %1\n}";
  EXPECT_EQ(grain(passed(with_sizes(text, 1000)), 1 << 20), 1000);
  const Kernel large = passed(with_sizes(text, 1 << 24));
  const std::int64_t least = grain(large, 1 << 20);
  EXPECT_LT(least, 1 << 20);
  EXPECT_EQ(least % 64, 0);
  EXPECT_GE(core_ns(large.cost) * static_cast<double>(least) / (1 << 24), 19'000);
}

// 800 kB of 1 MiB: one core's cache holds both arrays, if other kernels have put them there.
TEST(Grain, AKernelAloneIsSharedOutEarlier) {
  const Kernel kernel =
      passed("graph a(%0: f32[100000]) {\n %1: f32[100000] = negate %0\n return %1\n}");
  const std::vector<Kernel> alone{kernel}, beside_another{kernel, kernel};
  EXPECT_LE(cpu::cached_bytes(alone), cpu::cached_bytes(beside_another));
  EXPECT_EQ(grain(kernel, cpu::cached_bytes(beside_another)), 100'000);
  EXPECT_LT(grain(kernel, 800'000 - 1), 50'001);
}

}  // namespace
}  // namespace anabranch::testing
