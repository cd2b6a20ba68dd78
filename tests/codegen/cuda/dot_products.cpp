#include <gtest/gtest.h>

#include "codegen/cuda/dot/products.h"

namespace anabranch::cuda {
namespace {

TEST(DotProducts, AreOfTransposesFromLastToFirst) {
  const Type lhs{f32, {64, 128}}, rhs{f32, {128, 32}};
  const auto products = dot_products(lhs, rhs, {{}, {}, {1}, {0}});
  ASSERT_TRUE(products);
  EXPECT_EQ(products->rows, 32);
  EXPECT_EQ(products->columns, 64);
  EXPECT_EQ(products->inner, 128);
  EXPECT_EQ(products->a, (Matrix{false, 32, 0}));
  EXPECT_EQ(products->b, (Matrix{false, 128, 0}));
  EXPECT_EQ(products->d, (Matrix{false, 32, 0}));
  EXPECT_EQ(products->calls.size(), 1u);
}

TEST(DotProducts, ReadTransposedOperandsAsTheyAre) {
  const auto products = dot_products({f32, {128, 64}}, {f32, {32, 128}}, {{}, {}, {0}, {1}});
  ASSERT_TRUE(products);
  EXPECT_EQ(products->a, (Matrix{true, 128, 0}));
  EXPECT_EQ(products->b, (Matrix{true, 64, 0}));
}

// Of the queries and keys [batch, position, head, channel] the longer of batch and head goes into
// one call.
TEST(DotProducts, TakeBatchAxesThatDoNotFoldInSeveralCalls) {
  const Type queries{f16, {2, 10, 8, 64}}, keys{f16, {2, 12, 8, 64}};
  const auto products = dot_products(queries, keys, {{0, 2}, {0, 2}, {3}, {3}});
  ASSERT_TRUE(products);
  EXPECT_EQ(products->batch, 8);
  EXPECT_EQ(products->calls.size(), 2u);
  EXPECT_EQ(products->a, (Matrix{true, 8 * 64, 64}));
  EXPECT_EQ(products->d, (Matrix{false, 12, 10 * 12}));
  EXPECT_EQ(products->calls[1].d, 8 * 10 * 12);
}

TEST(DotLayout, IsLeftAloneWhereTheLibraryTakesIt) {
  const LaidOutDot dot = lay_out({f32, {4, 5}}, {f32, {6, 5}}, {{}, {}, {1}, {1}});
  EXPECT_TRUE(dot.lhs_order.empty());
  EXPECT_TRUE(dot.rhs_order.empty());
}

TEST(DotLayout, TransposesTheSmallerOperandWhereThatIsEnough) {
  // The contracting axes lie apart in the left operand alone.
  const LaidOutDot dot = lay_out({f32, {4, 3, 5}}, {f32, {4, 5, 600}}, {{}, {}, {0, 2}, {0, 1}});
  EXPECT_EQ(dot.lhs_order, (std::vector<std::int64_t>{1, 0, 2}));
  EXPECT_TRUE(dot.rhs_order.empty());
  EXPECT_TRUE(dot_products(dot.lhs, dot.rhs, dot.attributes));
}

TEST(DotLayout, TransposesWhatWouldTakeManyCalls) {
  const LaidOutDot dot =
      lay_out({f32, {20, 10, 17, 64}}, {f32, {20, 12, 17, 64}}, {{0, 2}, {0, 2}, {3}, {3}});
  const auto products = dot_products(dot.lhs, dot.rhs, dot.attributes);
  ASSERT_TRUE(products);
  EXPECT_EQ(products->calls.size(), 1u);
  EXPECT_EQ(products->batch, 20 * 17);
}

TEST(LibraryDot, IsOfFloatsThatAreThere) {
  const DotAttributes attributes{{}, {}, {1}, {0}};
  EXPECT_TRUE(has_library_dot({f64, {2, 3}}, {f64, {3, 4}}, attributes));
  EXPECT_FALSE(has_library_dot({i32, {2, 3}}, {i32, {3, 4}}, attributes));
  EXPECT_FALSE(has_library_dot({f32, {2, 0}}, {f32, {0, 4}}, attributes));
}

}  // namespace
}  // namespace anabranch::cuda
