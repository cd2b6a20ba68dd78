#include "codegen/cpu/grain.h"

#include <gtest/gtest.h>

#include "codegen/costs.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

Kernel passed(const std::string& text) {
  return tile(lower_region(parse(text)).calls.at(0).kernel);
}

TEST(Grain, SmallKernelsAreNeverCut) {
  const std::string text = "graph a(%0: f32[N]) {\n %1: f32[N] = negate %0\n return %1\n}";
  EXPECT_EQ(grain(passed(with_sizes(text, 1000))), 1000);
  const Kernel large = passed(with_sizes(text, 1 << 24));
  EXPECT_LT(grain(large), 1 << 20);
  EXPECT_EQ(grain(large) % 64, 0);
  EXPECT_GE(core_ns(large.cost) * static_cast<double>(grain(large)) / (1 << 24), 19'000);
}

}  // namespace
}  // namespace anabranch::testing
