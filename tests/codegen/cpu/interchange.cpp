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

// Where rows are many, and where they are too few for it.
TEST(UnrollColumns, WhatStandsBesideEachOtherIsComputedOnce) {
  for (std::int64_t n : {1, 40, 64, 65, 1000}) {
    expect_lowers(with_sizes(R"(
graph points(%0: f32[N,2], %1: f32[N]) {
  %2: f32[N,1] = slice %0 start=[0,0] limit=[N,1] stride=[1,1]
  %3: f32[N,1] = slice %0 start=[0,1] limit=[N,2] stride=[1,1]
  %4: f32[N,1] = reshape %1
  %5: f32[N,1] = tanh %2
  %6: f32[N,1] = multiply %5, %3
  %7: f32[N,1] = tanh %3
  %8: f32[N,1] = multiply %7, %4
  %9: f32[N,1] = add %5, %7
  %10: f32[N,2] = abs %0
  %11: f32[N,6] = concatenate %5, %6, %8, %9, %10 axis=1
  return %11
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
