#include "ir/scalar.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ConvertScalar, TruncatesSaturatesAndDropsNaN) {
  EXPECT_EQ((convert_scalar<std::int32_t>(-2.9)), -2);
  EXPECT_EQ((convert_scalar<std::int8_t>(127.9)), 127);
  EXPECT_EQ((convert_scalar<std::int8_t>(128.0f)), 127);
  EXPECT_EQ((convert_scalar<std::int8_t>(-1e9)), -128);
  EXPECT_EQ((convert_scalar<std::uint8_t>(-0.5)), 0);
  EXPECT_EQ((convert_scalar<std::uint8_t>(255.5)), 255);
  EXPECT_EQ((convert_scalar<std::int64_t>(9.3e18)), INT64_MAX);
  EXPECT_EQ((convert_scalar<std::int64_t>(-9223372036854775808.0)), INT64_MIN);
  EXPECT_EQ((convert_scalar<std::uint64_t>(18446744073709549568.0)), 18446744073709549568u);
  EXPECT_EQ((convert_scalar<std::uint64_t>(infinity)), UINT64_MAX);
  EXPECT_EQ((convert_scalar<std::uint64_t>(-infinity)), 0u);
  EXPECT_EQ((convert_scalar<std::int32_t>(nan)), 0);
  EXPECT_EQ((convert_scalar<std::int16_t>(Float16(70000.0f))), INT16_MAX);
}

TEST(ConvertScalar, WrapsIntegers) {
  EXPECT_EQ((convert_scalar<std::int8_t>(std::int32_t{200})), -56);
  EXPECT_EQ((convert_scalar<std::uint64_t>(std::int8_t{-1})), UINT64_MAX);
  EXPECT_EQ((convert_scalar<std::int32_t>(true)), 1);
}

TEST(ConvertScalar, AsksWhetherItIsZero) {
  EXPECT_TRUE(convert_scalar<bool>(0.25));
  EXPECT_TRUE(convert_scalar<bool>(nan));
  EXPECT_TRUE(convert_scalar<bool>(Float16::from_bits(1)));
  EXPECT_TRUE(convert_scalar<bool>(std::int32_t{256}));
  EXPECT_FALSE(convert_scalar<bool>(-0.0));
}

// The nearest of all finite halves, ties to even bits; written without rounding to float on the
// way.
template <class Half>
std::uint16_t nearest_bits(long double value) {
  const long double magnitude = std::fabs(value);
  std::uint16_t best = 0;
  for (std::uint16_t bits = 0; std::isfinite(float(Half::from_bits(bits))); ++bits) {
    const long double distance = std::fabs(float(Half::from_bits(bits)) - magnitude);
    const long double least = std::fabs(float(Half::from_bits(best)) - magnitude);
    if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
  }
  return static_cast<std::uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

TEST(ConvertScalar, RoundsDoublesToHalvesOnce) {
  // Just above, below and at the middle of two neighbours, where rounding twice goes wrong.
  for (std::uint16_t bits : {0x0000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x3c01, 0x5bff, 0x7bfe}) {
    const double low = float(Float16::from_bits(bits));
    const double high = float(Float16::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const double middle = (low + high) / 2;
    for (double value :
         {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9), -middle}) {
      EXPECT_EQ(convert_scalar<Float16>(value).bits, nearest_bits<Float16>(value)) << value;
    }
  }
  for (std::uint16_t bits : {0x0000, 0x0001, 0x007f, 0x0080, 0x3f80, 0x3f81, 0x7f7e}) {
    const double low = float(BFloat16::from_bits(bits));
    const double high = float(BFloat16::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const double middle = low + (high - low) / 2;
    for (double value :
         {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300), -middle}) {
      EXPECT_EQ(convert_scalar<BFloat16>(value).bits, nearest_bits<BFloat16>(value)) << value;
    }
  }
}

TEST(ConvertScalar, RoundsIntegersToHalvesOnce) {
  // 2^24 + 2^13 + 1 ends just above a tie for bf16 that float would round onto it.
  for (std::int64_t value : {(1LL << 24) + (1LL << 16) + 1, (1LL << 40) + (1LL << 32) + 1,
                             (1LL << 40) + (1LL << 32), -((1LL << 40) + (1LL << 32) + 1)}) {
    EXPECT_EQ(convert_scalar<BFloat16>(value).bits,
              nearest_bits<BFloat16>(static_cast<long double>(value)))
        << value;
  }
}

TEST(ConvertScalar, OverflowsToInfinity) {
  EXPECT_EQ(convert_scalar<Float16>(65520.0).bits, 0x7c00);
  EXPECT_EQ(convert_scalar<Float16>(65519.99).bits, 0x7bff);
  EXPECT_EQ(convert_scalar<Float16>(-1e300).bits, 0xfc00);
  EXPECT_EQ(convert_scalar<BFloat16>(3.4e38).bits, 0x7f80);
  EXPECT_EQ(convert_scalar<BFloat16>(-infinity).bits, 0xff80);
  EXPECT_EQ(convert_scalar<Float16>(std::uint64_t{1} << 63).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(float(convert_scalar<Float16>(nan))));
  EXPECT_TRUE(std::isnan(float(convert_scalar<BFloat16>(nan))));
}

TEST(Dtype, NamesItself) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    EXPECT_EQ(byte_size(dtype), visit_any_dtype(dtype, []<class T>() { return sizeof(T); }));
    EXPECT_EQ(dtype, visit_any_dtype(dtype, []<class T>() { return dtype_of<T>; }));
    EXPECT_EQ(
        is_float(dtype) + is_signed_integer(dtype) + is_unsigned_integer(dtype) + is_complex(dtype),
        dtype != Dtype::bool_);
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(dtype_of<long long>, i64);
  EXPECT_EQ(dtype_of<unsigned char>, u8);
}

}  // namespace
}  // namespace anabranch
