// Random pointwise loops, their kernels run on the CPU as CUDA C++.
#include <gtest/gtest.h>

#include "cpu_cases.h"
#include "tests/support/random_loop.h"

namespace anabranch::testing {
namespace {

constexpr std::uint64_t loops = 120;

TEST(RandomCudaLoops, GiveWhatTheInterpreterGives) {
  CpuCases cases;
  for (std::uint64_t seed = 0; seed < loops; ++seed) {
    cases.add(random_pointwise_loop(1000 + seed), true);
  }
  cases.expect_what_the_interpreter_gives("random pointwise loops");
}

}  // namespace
}  // namespace anabranch::testing
