// Bits of elements: bitcasts between widths, rounding to other formats, neighbours, rotations.
#include <bit>
#include <cmath>
#include <random>

#include "tests/support/values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Bitcast, ToNarrowerAddsAnAxisLowestBitsFirst) {
  expect_values(
      [] {
        return ab::bitcast(ab::array<std::uint32_t>({0x01020304u, 0xfffefdfcu}), ab::u8);
      },
      {ab::u8, {2, 4}}, {4, 3, 2, 1, 0xfc, 0xfd, 0xfe, 0xff});
  expect_values([] { return ab::bitcast(ab::scalar(std::uint64_t{0x8000000000000001u}), ab::i32); },
                {ab::i32, {2}}, {1, -2147483648.0});
  expect_values(
      [] {
        return ab::bitcast(ab::array(std::vector<double>{1.0, -2.0}), ab::u16);
      },
      {ab::u16, {2, 4}}, {0, 0, 0, 0x3ff0, 0, 0, 0, 0xc000});
  expect_values([] { return ab::bitcast(ab::array<std::int32_t>({0x3f803f80}), ab::bf16); },
                {ab::bf16, {1, 2}}, {1, 1});
  expect_values(
      [] {
        return ab::bitcast(ab::zeros({0, 3}, ab::f64), ab::f32);
      },
      {ab::f32, {0, 3, 2}}, {});
}

TEST(Bitcast, ToWiderTakesTheLastAxis) {
  expect_values(
      [] {
        return ab::bitcast(ab::array<std::uint8_t>({4, 3, 2, 1, 0, 0, 0x80, 0x3f}, {2, 4}),
                           ab::u32);
      },
      {ab::u32, {2}}, {0x01020304, 0x3f800000});
  expect_values(
      [] {
        return ab::bitcast(ab::array<std::uint16_t>({0, 0, 0, 0x3ff0}), ab::f64);
      },
      {ab::f64, {}}, {1});
  expect_values(
      [] {
        return ab::bitcast(ab::array<std::int8_t>({-1, -2}, {1, 2}), ab::i16);
      },
      {ab::i16, {1}}, {-257});
}

TEST(Bitcast, ThereAndBackIsTheSame) {
  const std::vector<double> values = {1.5, -0.0, 3e300, -7e-310, inf};
  for (ab::Dtype part : {ab::u8, ab::i16, ab::f16, ab::bf16, ab::u32, ab::f32, ab::i64}) {
    SCOPED_TRACE(name(part));
    expect_values([&] { return ab::bitcast(ab::bitcast(ab::array(values), part), ab::f64); },
                  {ab::f64, {5}}, values, 0);
  }
}

TEST(Bitcast, OfABoolIsOfOneByte) {
  const auto bools = [] { return ab::array({0, 1, 2}) > 0; };
  expect_values([&] { return ab::bitcast(bools(), ab::u8); }, {ab::u8, {3}}, {0, 1, 1});
  expect_values([&] { return ab::bitcast(bools(), ab::i8); }, {ab::i8, {3}}, {0, 1, 1});
  expect_values([&] { return ab::bitcast(bools(), ab::bool_); }, {ab::bool_, {3}}, {0, 1, 1});
  expect_values(
      [] {
        return ab::bitcast(ab::array<std::int8_t>({0, 1, -128}), ab::bool_);
      },
      {ab::bool_, {3}}, {0, 1, 1});
}

TEST(Bitcast, RefusesWhatDoesNotFit) {
  for (const auto& [from, to] : {std::pair(ab::c64, ab::u64), std::pair(ab::f64, ab::c64)}) {
    try {
      ab::bitcast(ab::zeros({2}, from), to);
      ADD_FAILURE();
    } catch (const ab::Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("bitcast: ", 0), 0u) << error.what();
    }
  }
  EXPECT_THROW(ab::bitcast(ab::zeros({3}, ab::u8), ab::u32), ab::Error);
  EXPECT_THROW(ab::bitcast(ab::zeros({}, ab::u8), ab::u16), ab::Error);
  EXPECT_THROW(ab::bitcast(ab::zeros({2}, ab::u32), ab::bool_), ab::Error);
}

// Rounding by arithmetic: to a multiple of the last bit that stays.
double rounded(double x, ab::Dtype dtype, int exponent_bits, int mantissa_bits) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const auto& format = ab::info(dtype);
  const int own_exponent_bits = format.bits - format.precision;
  const int least = 1 - format.max_exponent;  // of normal numbers
  const int exponent = std::max(std::ilogb(x), least);
  double result = x;
  if (mantissa_bits < format.precision - 1) {
    const double unit = std::ldexp(1, exponent - mantissa_bits);
    result = std::nearbyint(x / unit) * unit;
    // Without a mantissa the last bit that stays is the exponent's.
    const bool is_tie = std::fabs(x) / unit - std::floor(std::fabs(x) / unit) == 0.5;
    const bool is_subnormal = std::ilogb(x) < least;
    if (mantissa_bits == 0 && is_tie) {
      const bool is_odd = !is_subnormal && (exponent + format.max_exponent) % 2 == 1;
      const double whole = is_subnormal ? 0 : 1;
      result = std::copysign((whole + (is_odd ? 1 : 0)) * unit, x);
    }
    if (std::fabs(result) >= std::ldexp(1, format.max_exponent + 1)) return std::copysign(inf, x);
  }
  if (exponent_bits < own_exponent_bits) {
    const int reduced = (1 << (exponent_bits - 1)) - 1;
    if (std::fabs(result) >= std::ldexp(1, reduced + 1)) return std::copysign(inf, x);
    if (std::fabs(result) < std::ldexp(1, 1 - reduced)) return std::copysign(0, x);
  }
  return result;
}

void expect_reduced(const ab::Array& x, ab::Dtype dtype, int exponent_bits, int mantissa_bits) {
  SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(exponent_bits) + " " +
               std::to_string(mantissa_bits));
  const std::vector<double> in = doubles(x);
  const std::vector<double> got = doubles(ab::jit(
      [&](ab::Array y) { return ab::reduce_precision(y, exponent_bits, mantissa_bits); })(x));
  int wrong = 0;
  for (std::size_t i = 0; i < in.size() && wrong < 5; ++i) {
    const double expected = rounded(in[i], dtype, exponent_bits, mantissa_bits);
    const bool same = std::isnan(expected)
                          ? std::isnan(got[i])
                          : got[i] == expected && std::signbit(got[i]) == std::signbit(expected);
    if (same) continue;
    ++wrong;
    ADD_FAILURE() << in[i] << " gives " << got[i] << " instead of " << expected;
  }
}

TEST(ReducePrecision, OfEveryHalf) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (ab::Dtype dtype : {ab::f16, ab::bf16}) {
    const ab::Array x = ab::bitcast(ab::array(all), dtype);
    for (auto [exponent_bits, mantissa_bits] : {std::pair(5, 10),
                                                {4, 3},
                                                {5, 2},
                                                {1, 0},
                                                {2, 1},
                                                {8, 0},
                                                {3, 10},
                                                {5, 7},
                                                {8, 5},
                                                {11, 52}}) {
      expect_reduced(x, dtype, exponent_bits, mantissa_bits);
    }
  }
}

TEST(ReducePrecision, OfSomeFloatsAndDoubles) {
  std::mt19937_64 generator(5);
  std::vector<std::uint32_t> words(20000);
  std::vector<std::uint64_t> doubles(20000);
  for (auto& word : words) word = static_cast<std::uint32_t>(generator());
  for (auto& word : doubles) word = generator();
  for (int i = 0; i < 6000; ++i)
    doubles[i] = (doubles[i] & ~(0x7ffull << 52)) | (1023ull - 60 + i % 120) << 52;
  const ab::Array f32 = ab::bitcast(ab::array(words), ab::f32),
                  f64 = ab::bitcast(ab::array(doubles), ab::f64);
  for (auto [exponent_bits, mantissa_bits] :
       {std::pair(8, 7), {5, 10}, {4, 3}, {8, 23}, {2, 22}, {8, 0}, {11, 30}}) {
    expect_reduced(f32, ab::f32, exponent_bits, mantissa_bits);
    expect_reduced(f64, ab::f64, exponent_bits, mantissa_bits);
  }
}

TEST(ReducePrecision, KeepsWhatIsNoNumber) {
  expect_values(
      [] {
        return ab::reduce_precision(
            ab::array<float>({NAN, INFINITY, -INFINITY, 65536, -1e-9f, 1.0f / 3}), 5, 10);
      },
      {ab::f32, {6}}, {nan, inf, -inf, inf, 0, 0.333251953125}, 0);
  EXPECT_THROW(ab::reduce_precision(ab::zeros({1}), 0, 3), ab::Error);
  EXPECT_THROW(ab::reduce_precision(ab::zeros({1}), 3, -1), ab::Error);
  EXPECT_THROW(ab::reduce_precision(ab::zeros({1}, ab::i32), 3, 1), ab::Error);
}

TEST(NextAfter, FollowsTheStandardLibrary) {
  const std::vector<float> from = {0,
                                   -0.0f,
                                   1,
                                   1,
                                   -1,
                                   -1,
                                   INFINITY,
                                   -INFINITY,
                                   1e-45f,
                                   -1e-45f,
                                   3.4028235e38f,
                                   NAN,
                                   1,
                                   2,
                                   1.1754944e-38f,
                                   -0.0f},
                           to = {1, -1, 2, 0, 0, -2, 0, 0, 0, 0, INFINITY, 1, NAN, 2, 0, 0.0f};
  std::vector<double> expected, wide_expected;
  for (std::size_t i = 0; i < from.size(); ++i) {
    expected.push_back(std::nextafter(from[i], to[i]));
    wide_expected.push_back(std::nextafter(double(from[i]), double(to[i])));
  }
  const auto size = static_cast<std::int64_t>(from.size());
  expect_values([&] { return ab::nextafter(ab::array(from), ab::array(to)); }, {ab::f32, {size}},
                expected, 0);
  expect_values(
      [&] { return ab::nextafter(ab::array(from).astype(ab::f64), ab::array(to).astype(ab::f64)); },
      {ab::f64, {size}}, wide_expected, 0);
  expect_values(
      [] {
        return ab::nextafter(ab::array<double>({0, 1, -65504, 1}).astype(ab::f16),
                             ab::array<double>({1, 2, -inf, 0}).astype(ab::f16));
      },
      {ab::f16, {4}}, {0x1p-24, 1 + 0x1p-10, -inf, 1 - 0x1p-11}, 0);
  expect_values(
      [] {
        return ab::nextafter(ab::array<double>({0, 1}).astype(ab::bf16), 2);
      },
      {ab::bf16, {2}}, {0x1p-133, 1 + 0x1p-7}, 0);
}

TEST(Rotations, OfEveryWidth) {
  expect_values(
      [] {
        return ab::rotate_left(ab::array<std::uint8_t>({0x81, 0x12, 0xff}),
                               ab::array<std::uint8_t>({1, 4, 8}));
      },
      {ab::u8, {3}}, {3, 0x21, 0xff});
  expect_values(
      [] {
        return ab::rotate_right(ab::array<std::uint8_t>({0x81, 0x12, 0x01}), 1);
      },
      {ab::u8, {3}}, {0xc0, 9, 0x80});
  expect_values(
      [] {
        return ab::rotate_left(ab::array<std::int32_t>({-2147483647, 1}), ab::array({1, 33}));
      },
      {ab::i32, {2}}, {3, 2});
  expect_values([] { return ab::rotate_right(ab::array<std::uint64_t>({1}), 1) >> 40; },
                {ab::u64, {1}}, {8388608});
}

}  // namespace
