// The interpreter on integers and bool: what wraps, what has a defined result instead of a trap.
#include <gtest/gtest.h>

#include "ir/interpret/rules.h"
#include "ir/text/print.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

constexpr auto i8_min = std::int8_t{-128};

template <class T>
struct IntegerOps : testing::Test {
  static constexpr T lowest = std::numeric_limits<T>::min();
  static constexpr T highest = std::numeric_limits<T>::max();
  static constexpr T ones = static_cast<T>(~T{0});
  static constexpr int width = 8 * sizeof(T);
};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerOps, Integers);

TYPED_TEST(IntegerOps, ArithmeticWraps) {
  using T = TypeParam;
  const Literal x = row<T>({this->highest, this->lowest, 5});
  const Literal y = row<T>({1, 1, 7});
  EXPECT_EQ(apply(Op::add, {x, y}), row<T>({this->lowest, T(this->lowest + 1), 12}));
  EXPECT_EQ(apply(Op::subtract, {x, y}), row<T>({T(this->highest - 1), this->highest, T(-2)}));
  EXPECT_EQ(apply(Op::multiply, {x, row<T>({2, 3, 7})}),
            row<T>({T(-2), std::is_signed_v<T> ? this->lowest : T{0}, 35}));
  EXPECT_EQ(apply(Op::negate, {x}),
            row<T>({T(0 - std::uint64_t(this->highest)), this->lowest, T(-5)}));
  EXPECT_EQ(apply(Op::abs, {x}), row<T>({this->highest, this->lowest, 5}));
}

TYPED_TEST(IntegerOps, DivisionNeverTraps) {
  using T = TypeParam;
  const Literal x = row<T>({7, 0, this->lowest, this->highest, this->lowest});
  const Literal y = row<T>({0, 0, this->ones, 2, 0});
  const bool is_signed = std::is_signed_v<T>;
  EXPECT_EQ(apply(Op::divide, {x, y}),
            row<T>({this->ones, this->ones, is_signed ? this->lowest : T{0}, T(this->highest / 2),
                    this->ones}));
  EXPECT_EQ(apply(Op::remainder, {x, y}), row<T>({7, 0, 0, 1, this->lowest}));
}

TYPED_TEST(IntegerOps, DivisionTruncatesTowardZero) {
  using T = TypeParam;
  if constexpr (std::is_signed_v<T>) {
    const Literal x = row<T>({7, -7, 7, -7});
    const Literal y = row<T>({2, 2, -2, -2});
    EXPECT_EQ(apply(Op::divide, {x, y}), row<T>({3, -3, -3, 3}));
    EXPECT_EQ(apply(Op::remainder, {x, y}), row<T>({1, -1, 1, -1}));
  } else {
    EXPECT_EQ(apply(Op::divide, {row<T>({this->highest}), row<T>({3})}),
              row<T>({T(this->highest / 3)}));
  }
}

TYPED_TEST(IntegerOps, ShiftsPastTheWidth) {
  using T = TypeParam;
  const T top = T(T{1} << (this->width - 1));
  const T width = this->width;
  const Literal x = row<T>({top, top, top, top, 5});
  const Literal y = row<T>({0, 1, width, this->ones, 1});
  EXPECT_EQ(apply(Op::shift_left, {x, y}), row<T>({top, 0, 0, 0, 10}));
  EXPECT_EQ(apply(Op::shift_right_logical, {x, y}),
            row<T>({top, T(T{1} << (this->width - 2)), 0, 0, 2}));
  EXPECT_EQ(apply(Op::shift_right_arithmetic, {x, y}),
            row<T>({top, T(T{3} << (this->width - 2)), this->ones, this->ones, 2}));
}

TYPED_TEST(IntegerOps, BitsAndSigns) {
  using T = TypeParam;
  const Literal x = row<T>({0, 1, this->ones, 6});
  const T width = this->width;
  EXPECT_EQ(apply(Op::not_, {x}), row<T>({this->ones, T(~T{1}), 0, T(~T{6})}));
  EXPECT_EQ(apply(Op::popcnt, {x}), row<T>({0, 1, width, 2}));
  EXPECT_EQ(apply(Op::count_leading_zeros, {x}), row<T>({width, T(width - 1), 0, T(width - 3)}));
  EXPECT_EQ(apply(Op::sign, {x}), row<T>({0, 1, std::is_signed_v<T> ? this->ones : T{1}, 1}));
  const Literal y = row<T>({3, 3, 3, 3});
  EXPECT_EQ(apply(Op::and_, {x, y}), row<T>({0, 1, 3, 2}));
  EXPECT_EQ(apply(Op::or_, {x, y}), row<T>({3, 3, this->ones, 7}));
  EXPECT_EQ(apply(Op::xor_, {x, y}), row<T>({3, 2, T(~T{3}), 5}));
}

TYPED_TEST(IntegerOps, OrderAndChoice) {
  using T = TypeParam;
  const Literal x = row<T>({1, 2, this->lowest, this->ones});
  const Literal y = row<T>({2, 2, this->highest, 1});
  const bool is_signed = std::is_signed_v<T>;
  const T big = is_signed ? T{1} : this->ones;
  const T small = is_signed ? this->ones : T{1};
  EXPECT_EQ(apply(Op::maximum, {x, y}), row<T>({2, 2, this->highest, big}));
  EXPECT_EQ(apply(Op::minimum, {x, y}), row<T>({1, 2, this->lowest, small}));
  EXPECT_EQ(apply(Op::compare, {x, y}, CompareAttributes{Comparison::lt}),
            row({true, false, true, is_signed}));
  EXPECT_EQ(apply(Op::compare, {x, y}, CompareAttributes{Comparison::ge}),
            row({false, true, false, !is_signed}));
  EXPECT_EQ(apply(Op::clamp, {row<T>({3, 3, 9}), row<T>({1, 7, 5}), row<T>({5, 5, 4})}),
            row<T>({3, 5, 4}));
}

TYPED_TEST(IntegerOps, Power) {
  using T = TypeParam;
  EXPECT_EQ(apply(Op::power, {row<T>({2, 0, 3, 7}), row<T>({6, 0, 4, 1})}), row<T>({64, 1, 81, 7}));
  EXPECT_EQ(apply(Op::power, {row<T>({2}), row<T>({this->width})}), row<T>({0}));
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(apply(Op::power, {row<T>({1, -1, -1, 2, 0, -2}), row<T>({-3, -3, -4, -1, -1, 3})}),
              row<T>({1, -1, 1, 0, 0, -8}));
  }
}

TEST(Interpret, BoolIsAOneBitInteger) {
  const Literal x = row({false, false, true, true});
  const Literal y = row({false, true, false, true});
  EXPECT_EQ(apply(Op::add, {x, y}), row({false, true, true, true}));
  EXPECT_EQ(apply(Op::multiply, {x, y}), row({false, false, false, true}));
  EXPECT_EQ(apply(Op::maximum, {x, y}), row({false, true, true, true}));
  EXPECT_EQ(apply(Op::minimum, {x, y}), row({false, false, false, true}));
  EXPECT_EQ(apply(Op::and_, {x, y}), row({false, false, false, true}));
  EXPECT_EQ(apply(Op::or_, {x, y}), row({false, true, true, true}));
  EXPECT_EQ(apply(Op::xor_, {x, y}), row({false, true, true, false}));
  EXPECT_EQ(apply(Op::not_, {x}), row({true, true, false, false}));
  EXPECT_EQ(apply(Op::popcnt, {x}), x);
  EXPECT_EQ(apply(Op::count_leading_zeros, {x}), row({true, true, false, false}));
  EXPECT_EQ(apply(Op::shift_left, {x, y}), row({false, false, true, false}));
  EXPECT_EQ(apply(Op::shift_right_logical, {x, y}), row({false, false, true, false}));
  EXPECT_EQ(apply(Op::shift_right_arithmetic, {x, y}), x);
  EXPECT_EQ(apply(Op::compare, {x, y}, CompareAttributes{Comparison::lt}),
            row({false, true, false, false}));
  EXPECT_EQ(apply(Op::select, {x, row<int>({1, 2, 3, 4}), row<int>({5, 6, 7, 8})}),
            row<int>({5, 6, 3, 4}));
}

// Known answers of Random123 1.14 (tests/kat_vectors, philox4x32 with 10 rounds).
TEST(Interpret, PhiloxKnownAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Interpret, RandomBitsAreTheWordsOfABlock) {
  const std::uint64_t key = 0x299f31d0a4093822;
  const std::uint64_t high_block = 0x1234567890;
  const Literal bits =
      apply(Op::random_bits, {row<std::uint64_t>({0, 0, 0, 0, key}),
                              row<std::uint64_t>({0, 1, 2, 3, high_block * 4 + 2})});
  const auto block = philox4x32_10({0x34567890, 0x12, 0, 0}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(bits, row<std::uint32_t>({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, block[2]}));
}

TEST(Interpret, IntegerToIntegerConversionWraps) {
  const Literal x = row<int>({300, -1, 0, 256});
  EXPECT_EQ(apply(Op::convert, {x}, NoAttributes{}, Type{u8, {4}}),
            row<std::uint8_t>({44, 255, 0, 0}));
  EXPECT_EQ(apply(Op::convert, {x}, NoAttributes{}, Type{i8, {4}}),
            row<std::int8_t>({44, -1, 0, 0}));
  EXPECT_EQ(apply(Op::convert, {x}, NoAttributes{}, Type{bool_, {4}}),
            row({true, true, false, true}));
  EXPECT_EQ(
      apply(Op::bitcast_convert, {row<std::int8_t>({i8_min, -1})}, NoAttributes{}, Type{u8, {2}}),
      row<std::uint8_t>({128, 255}));
}

}  // namespace
}  // namespace anabranch
