// What is told of element types, against the standard library.
#include <limits>

#include "tests/support/values.h"

namespace {

template <class T>
void expect_limits_of_float(ab::Dtype dtype) {
  using limits = std::numeric_limits<T>;
  const ab::FloatInfo info = ab::finfo(dtype);
  EXPECT_EQ(info.bits, static_cast<int>(8 * sizeof(T)));
  EXPECT_EQ(info.eps, limits::epsilon());
  EXPECT_EQ(info.max, limits::max());
  EXPECT_EQ(info.min, limits::lowest());
  EXPECT_EQ(info.smallest_normal, limits::min());
}

TEST(DtypeInfo, LimitsOfFloats) {
  expect_limits_of_float<float>(ab::f32);
  expect_limits_of_float<double>(ab::f64);
  EXPECT_EQ(ab::finfo(ab::f16).max, 65504);
  EXPECT_EQ(ab::finfo(ab::f16).smallest_normal, 0x1p-14);
  EXPECT_EQ(ab::finfo(ab::bf16).eps, 0x1p-7);
  EXPECT_THROW(ab::finfo(ab::i32), ab::Error);
}

template <class T>
void expect_limits_of_integer(ab::Dtype dtype) {
  const ab::IntegerInfo info = ab::iinfo(dtype);
  EXPECT_EQ(info.bits, static_cast<int>(8 * sizeof(T)));
  EXPECT_EQ(info.min, static_cast<std::int64_t>(std::numeric_limits<T>::min()));
  EXPECT_EQ(info.max, static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

TEST(DtypeInfo, LimitsOfIntegers) {
  expect_limits_of_integer<std::int8_t>(ab::i8);
  expect_limits_of_integer<std::uint16_t>(ab::u16);
  expect_limits_of_integer<std::int64_t>(ab::i64);
  expect_limits_of_integer<std::uint64_t>(ab::u64);
  EXPECT_THROW(ab::iinfo(ab::bool_), ab::Error);
}

TEST(DtypeInfo, WhatDtypesComeTo) {
  EXPECT_EQ(ab::result_type({ab::i8, ab::u8}), ab::i16);
  EXPECT_EQ(ab::result_type({ab::f16, ab::bf16, ab::f64}), ab::f64);
  EXPECT_EQ(ab::result_type({ab::bool_}), ab::bool_);
  EXPECT_THROW(ab::result_type({ab::i32, ab::f32}), ab::Error);
  EXPECT_THROW(ab::result_type({ab::i8, ab::u64}), ab::Error);
  EXPECT_THROW(ab::result_type({}), ab::Error);
  EXPECT_TRUE(ab::can_cast(ab::u8, ab::i16));
  EXPECT_FALSE(ab::can_cast(ab::i16, ab::u16));
  EXPECT_FALSE(ab::can_cast(ab::f64, ab::f32));
  EXPECT_FALSE(ab::can_cast(ab::i32, ab::f64));
}

TEST(DtypeInfo, Kinds) {
  EXPECT_TRUE(ab::isdtype(ab::i8, "signed integer"));
  EXPECT_TRUE(ab::isdtype(ab::u8, "integral"));
  EXPECT_FALSE(ab::isdtype(ab::u8, "signed integer"));
  EXPECT_TRUE(ab::isdtype(ab::bf16, "real floating"));
  EXPECT_TRUE(ab::isdtype(ab::bf16, "numeric"));
  EXPECT_FALSE(ab::isdtype(ab::bool_, "numeric"));
  EXPECT_FALSE(ab::isdtype(ab::f32, "complex floating"));
  EXPECT_THROW(ab::isdtype(ab::f32, "floating"), ab::Error);
}

}  // namespace
