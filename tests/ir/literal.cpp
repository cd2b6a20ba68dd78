#include "ir/literal.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

template <class T>
Literal row(std::initializer_list<T> values) {
  return Literal::of<T>(std::span(values.begin(), values.size()),
                        {static_cast<std::int64_t>(values.size())});
}

TEST(Literal, HoldsRowMajorValues) {
  const std::int16_t values[] = {1, 2, 3, 4, 5, 6};
  const Literal literal = Literal::of<std::int16_t>(values, {2, 3});
  EXPECT_EQ(literal.type(), (Type{i16, {2, 3}}));
  EXPECT_EQ(literal.bytes().size(), 12u);
  EXPECT_EQ(literal.values<std::int16_t>()[4], 5);
  EXPECT_EQ(Literal().type(), (Type{bool_, {}}));
}

TEST(Literal, RefusesTheWrongNumberOfValues) {
  const float values[] = {1, 2, 3};
  try {
    Literal::of<float>(values, {2, 2});
    FAIL() << "3 values fill no f32[2,2]";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "array of shape [2,2] needs 4 values, and 3 were given");
  }
  EXPECT_THROW(Literal(Type{f32, {2}}, std::vector<std::byte>(7)), InternalError);
}

TEST(Literal, RefusesToBeReadAsAnotherDtype) {
  EXPECT_THROW(Literal::scalar(1.0f).values<std::int32_t>(), InternalError);
}

TEST(Literal, ComparesBits) {
  const auto nan = std::bit_cast<float>(0x7fc00000u);
  EXPECT_EQ(Literal::scalar(nan), Literal::scalar(nan));
  EXPECT_NE(Literal::scalar(nan), Literal::scalar(-nan));
  EXPECT_NE(Literal::scalar(0.0f), Literal::scalar(-0.0f));
  EXPECT_NE(Literal::scalar(0.0f), Literal::scalar(std::uint32_t{0}));
  EXPECT_NE(row<float>({0}), Literal::scalar(0.0f));
}

TEST(Literal, HashesEqualValuesEqually) {
  EXPECT_EQ(row<double>({1, 2}).hash(), row<double>({1, 2}).hash());
  EXPECT_NE(row<double>({1, 2}).hash(), row<double>({2, 1}).hash());
  EXPECT_NE(row<float>({0}).hash(), row<std::int32_t>({0}).hash());
}

TEST(Literal, KnowsWhenAllElementsAreTheSame) {
  EXPECT_TRUE(row<float>({2, 2, 2}).is_splat());
  EXPECT_TRUE(row<float>({2}).is_splat());
  EXPECT_TRUE(Literal::scalar(true).is_splat());
  EXPECT_FALSE(row<float>({2, 2, 3}).is_splat());
  EXPECT_FALSE(row<float>({0.0f, -0.0f}).is_splat());
  EXPECT_FALSE(row<float>({}).is_splat());
}

TEST(Literal, GivesBits) {
  EXPECT_EQ(row<std::int8_t>({0, -1}).bits(1).low, 0xffu);
  EXPECT_EQ(Literal::scalar(-1.0).bits(0).low, 0xbff0000000000000u);
  EXPECT_EQ(Literal::scalar(bf16, 1).bits(0).low, 0x3f80u);
}

TEST(Literal, ConvertsScalars) {
  EXPECT_EQ(Literal::scalar(i8, 300), Literal::scalar(std::int8_t{127}));
  EXPECT_EQ(Literal::scalar(bool_, 0.5), Literal::scalar(true));
  EXPECT_EQ(Literal::scalar(f16, 0.1), Literal::scalar(Float16::from_bits(0x2e66)));
}

}  // namespace
}  // namespace anabranch
