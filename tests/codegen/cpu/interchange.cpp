// Kernels whose loops are merged, split, turned or cut into tiles give what the interpreter gives,
// where sizes fit and where they do not. What becomes of the loops:
// tests/golden/kernel/interchange.
#include <gtest/gtest.h>

#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

TEST(Interchange, ShortRowsShareVectors) {
  for (std::int64_t n : {1, 16, 128, 1600, 1601}) {
    expect_lowers(with_sizes(R"(
graph pixels(%0: f32[N,3], %1: f32[3]) {
  %2: f32[N,3] = broadcast_in_dim %1 axes=[1]
  %3: f32[N,3] = multiply %0, %2
  return %3
})",
                             n));
  }
}

TEST(Interchange, TransposedReadsGoByTiles) {
  for (std::int64_t n : {32, 96, 127, 130, 1024}) {
    expect_lowers(with_sizes(R"(
graph turned(%0: f32[N,M]) {
  %1: f32[M,N] = transpose %0 axes=[1,0]
  return %1
})",
                             n, 160));
  }
}

}  // namespace
}  // namespace anabranch::testing
