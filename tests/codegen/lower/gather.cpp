// gather inside kernels: its producers, its consumers, every case of dimension numbers.
#include <gtest/gtest.h>

#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"
#include "tests/support/random_windows.h"

namespace anabranch::testing {
namespace {

TEST(LowerGather, RowsOfEverySize) {
  for (std::int64_t n : sizes) {
    for (std::int64_t m : {0, 1, 3, 8, 33}) {
      expect_lowers(with_sizes(R"(
graph rows(%0: f32[7,M], %1: i32[N]) {
  %2: f32[N,M] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1,M]
  return %2
})",
                               n, m));
    }
  }
}

TEST(LowerGather, BetweenWhatIsComputed) {
  for (std::int64_t n : sizes) {
    expect_lowers(with_sizes(R"(
graph inside(%0: f32[9,5], %1: i64[N], %2: f32[5]) {
  %3: i64[N] = negate %1
  %4: f32[9,5] = multiply %0, %0
  %5: f32[N,5] = gather %4, %3 offset_axes=[1] collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1,5]
  %6: f32[N,5] = broadcast_in_dim %2 axes=[1]
  %7: f32[N,5] = add %5, %6
  %8: f32[N] = reduce_sum %7 axes=[1]
  return %8
})",
                             n));
  }
}

// The index of one comes from another.
TEST(LowerGather, OfGatheredIndices) {
  expect_lowers(R"(
graph twice(%0: i32[6], %1: i32[6], %2: f64[4]) {
  %3: i32[6] = gather %0, %1 collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1]
  %4: f64[6] = gather %2, %3 collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1]
  %5: f64[6] = add %4, %4
  return %5
})");
}

// Where lanes are left out of what pads it, its index is not read there either.
TEST(LowerGather, WithinWhatIsPadded) {
  for (std::int64_t n : sizes) {
    expect_lowers(with_sizes(R"(
graph padded(%0: f32[5,3], %1: i32[N], %2: f32[]) {
  %3: f32[N,3] = gather %0, %1 offset_axes=[1] collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1,3]
  %4: f32[M,4] = pad %3, %2 low=[2,1] high=[1,0] interior=[0,0]
  %5: f32[M,4] = reverse %4 axes=[0]
  return %5
})",
                             n, n + 3));
  }
}

TEST(LowerGather, OfEveryKindOfWindow) {
  Random random(5);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::int64_t> shape;
    for (std::int64_t axes = random.below(5); axes > 0; --axes) {
      shape.push_back(random.percent(5) ? 0 : 1 + random.below(9));
    }
    const RandomGather made = random_gather(random, Shape(shape), 2000);
    GraphBuilder builder("windows");
    const Dtype dtype = static_cast<Dtype>(turn % dtype_count);
    const Value x = builder.parameter({dtype, Shape(shape)});
    const Value at = builder.parameter({turn % 2 == 0 ? i32 : i64, made.indices});
    const Value taken = builder.add(Op::gather, {x, at}, made.attributes);
    if (builder.node(taken).op != Op::gather) continue;
    expect_lowers(builder.build({taken}));
    if (HasFatalFailure()) FAIL() << "turn " << turn;
  }
}

}  // namespace
}  // namespace anabranch::testing
