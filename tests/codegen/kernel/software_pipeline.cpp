#include "codegen/kernel/software_pipeline.h"

#include <gtest/gtest.h>

#include "tests/support/check_lowering.h"
#include "tests/support/run_native.h"

namespace anabranch::testing {
namespace {

struct Rows {
  const char* name;
  const char* text;  // N rows of M
};

std::ostream& operator<<(std::ostream& out, const Rows& rows) { return out << rows.name; }

constexpr Rows table[] = {
    {"softmax", R"(
graph softmax(%0: f32[N,M]) {
  %1: f32[N] = reduce_max %0 axes=[1]
  %2: f32[N,M] = broadcast_in_dim %1 axes=[0]
  %3: f32[N,M] = subtract %0, %2
  %4: f32[N,M] = exponential %3
  %5: f32[N] = reduce_sum %4 axes=[1]
  %6: f32[N,M] = broadcast_in_dim %5 axes=[0]
  %7: f32[N,M] = divide %4, %6
  return %7
})"},
    {"softmax_of_halves_and_its_sums", R"(
graph softmax(%0: f16[N,M]) {
  %1: f16[N] = reduce_max %0 axes=[1]
  %2: f16[N,M] = broadcast_in_dim %1 axes=[0]
  %3: f16[N,M] = subtract %0, %2
  %4: f16[N,M] = exponential %3
  %5: f16[N] = reduce_sum %4 axes=[1]
  %6: f16[N,M] = broadcast_in_dim %5 axes=[0]
  %7: f16[N,M] = divide %4, %6
  %8: f16[N] = log %5
  return %7, %8
})"},
    {"a_scale_per_row_and_argmax", R"(
graph scaled(%0: f64[N,M], %1: f32[N], %2: f64[M]) {
  %12: f64[N] = convert %1
  %3: f64[N,M] = broadcast_in_dim %12 axes=[0]
  %4: f64[N,M] = broadcast_in_dim %2 axes=[1]
  %5: f64[N,M] = multiply %0, %3
  %6: f64[N,M] = add %5, %4
  %7: i64[N] = argmax %6 axis=1
  %8: f64[N] = reduce_max %6 axes=[1]
  %9: f64[N,M] = broadcast_in_dim %8 axes=[0]
  %10: f64[N,M] = subtract %6, %9
  %11: f64[N,M] = exponential %10
  return %7, %11
})"},
    {"four_passes", R"(
graph four(%0: f32[N,M]) {
  %1: f32[N] = reduce_max %0 axes=[1]
  %2: f32[N,M] = broadcast_in_dim %1 axes=[0]
  %3: f32[N,M] = subtract %0, %2
  %4: f32[N,M] = exponential %3
  %5: f32[N] = reduce_sum %4 axes=[1]
  %6: f32[N,M] = broadcast_in_dim %5 axes=[0]
  %7: f32[N,M] = divide %4, %6
  %8: f32[N] = reduce_min %7 axes=[1]
  %9: f32[N,M] = broadcast_in_dim %8 axes=[0]
  %10: f32[N,M] = subtract %7, %9
  return %10, %1
})"},
};

class Stagger : public ::testing::TestWithParam<Rows> {};

TEST_P(Stagger, GivesWhatRowsOneByOneGive) {
  for (std::int64_t rows : {1, 2, 3, 7, 8, 9, 33}) {
    for (std::int64_t columns : {2, 5, 33}) {
      const Graph region = parse(with_sizes(GetParam().text, rows, columns));
      Lowered lowered = lower_region(region);
      ASSERT_EQ(lowered.calls.size(), 1u);
      Kernel& kernel = lowered.calls[0].kernel;
      const std::vector<Literal> inputs = small_inputs(region);
      const std::vector<Literal> wanted = run_lowered(lowered, inputs, output_types(region));
      const Kernel plain = kernel;
      for (std::int64_t block : {1, 2, 8, 16}) {
        std::optional<Kernel> staggered = software_pipeline(plain, block);
        if (rows == 1) {  // no loop over rows
          EXPECT_FALSE(staggered);
          continue;
        }
        ASSERT_TRUE(staggered) << to_string(plain);
        verify(*staggered);
        EXPECT_EQ(staggered->extent(), 1);  // not parallel yet
        kernel = *staggered;
        const std::vector<Literal> got = run_lowered(lowered, inputs, output_types(region));
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          expect_equal(got[i], wanted[i], 0, to_string(kernel));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Stagger, IsWhatTilingChoosesForManyRowsThatNoCacheHolds) {
  const Graph region = parse(with_sizes(GetParam().text, 2049, 35));
  const Kernel lowered = lower_region(region).calls.at(0).kernel;
  const Target target{.cache_bytes = 128 * 35 * 8};
  const Kernel staggered = tile(lowered, target);
  EXPECT_EQ(staggered.extent(), 17) << to_string(staggered);
  EXPECT_EQ(tile(lowered, Target{.cache_bytes = 1 << 30}).extent(), 2049);

  const std::vector<Literal> inputs = small_inputs(region);
  const std::vector<Literal> wanted = interpret(region, inputs);
  for (std::int64_t range : {1, 5, 17}) {
    const auto got = run_native(staggered, inputs, output_types(region), range);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_equal(got[i], wanted[i], wanted[i].type().dtype == f16 ? 2e-3 : 1e-6,
                   to_string(staggered));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Stagger, ::testing::ValuesIn(table),
                         [](const auto& info) { return std::string(info.param.name); });

// The first rows are stored before they are what they will be: over an operand, if it has the
// place.
TEST(StaggerRefuses, ResultsThatMayBeInAnOperandsPlace) {
  const auto extent =
      [](const std::string& weights) {
        const Graph region = parse(with_sizes(R"(
graph weighted(%0: f32[N,M], %1: )" + weights + R"([N,M]) {
  %2: f32[N] = reduce_max %0 axes=[1]
  %3: f32[N,M] = broadcast_in_dim %2 axes=[0]
  %4: f32[N,M] = subtract %0, %3
  %5: f32[N,M] = exponential %4
  %6: f32[N] = reduce_sum %5 axes=[1]
  %7: f32[N,M] = broadcast_in_dim %6 axes=[0]
  %8: f32[N,M] = divide %5, %7
  %9: f32[N,M] = convert %1
  %10: f32[N,M] = multiply %8, %9
  return %10
})",
                                              2049, 35));
        return tile(lower_region(region).calls.at(0).kernel, Target{.cache_bytes = 128 * 35 * 8})
            .extent();
      };
  EXPECT_EQ(extent("f16"), 17);
  EXPECT_EQ(extent("f32"), 2049);
}

TEST(StaggerRefuses, RowsThatAreNotLoopsOfOneExtent) {
  auto refused = [](const char* text) {
    return !software_pipeline(lower_region(parse(text)).calls.at(0).kernel, 8);
  };
  EXPECT_TRUE(refused("graph a(%0: f32[9,9]) {\n %1: f32[9,9] = negate %0\n return %1\n}"));
  EXPECT_TRUE(
      refused("graph a(%0: f32[9,9]) {\n %1: f32[9] = reduce_sum %0 axes=[1]\n"
              " return %1\n}"));
}

}  // namespace
}  // namespace anabranch::testing
