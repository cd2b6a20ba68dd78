// Parts of numbers, comparisons with a tolerance, divisors, exact powers.
#include <cmath>
#include <numeric>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(ElementwiseMore, Classification) {
  const auto x = [] { return ab::array<float>({1, -INFINITY, INFINITY, NAN}); };
  const ab::Type type{ab::bool_, {4}};
  expect_values([&] { return ab::isposinf(x()); }, type, {0, 0, 1, 0});
  expect_values([&] { return ab::isneginf(x()); }, type, {0, 1, 0, 0});
  expect_values([] { return ab::isposinf(ab::array({1})); }, {ab::bool_, {1}}, {0});
}

TEST(ElementwiseMore, Closeness) {
  const std::vector<double> a = {1, 1, inf, inf, nan, 1e-9, 100},
                            b = {1.00000999, 1.0001, inf, -inf, nan, 0, 100.002};
  const auto x = [&] { return ab::array(a); };
  const auto y = [&] { return ab::array(b); };
  expect_values([&] { return ab::isclose(x(), y()); }, {ab::bool_, {7}}, {1, 0, 1, 0, 0, 1, 0});
  expect_values([&] { return ab::isclose(x(), y(), 1e-4, 0, true); }, {ab::bool_, {7}},
                {1, 1, 1, 0, 1, 0, 1});
  expect_values(
      [&] {
        return ab::isclose(ab::array({100, 7}), ab::array({101, 7}), 0.1);
      },
      {ab::bool_, {2}}, {1, 1});
  expect_values([&] { return ab::isclose(ab::array({inf}), 1e30); }, {ab::bool_, {1}}, {0});
  expect_values([&] { return ab::allclose(x(), y()); }, {ab::bool_, {}}, {0});
  expect_values([&] { return ab::allclose(ab::zeros({0}), ab::zeros({0})); }, {ab::bool_, {}}, {1});
  expect_values(
      [] {
        return ab::array_equal(ab::array({1, 2}), ab::array({1, 2}));
      },
      {ab::bool_, {}}, {1});
  EXPECT_FALSE(ab::array_equal(ab::array({1, 2}), ab::array({1})).item<bool>());
}

TEST(ElementwiseMore, ExtremesThatLeaveOutNan) {
  const auto x = [] { return ab::array<float>({1, NAN, 2, NAN}); };
  const auto y = [] { return ab::array<float>({2, 3, NAN, NAN}); };
  expect_values([&] { return ab::fmax(x(), y()); }, {ab::f32, {4}}, {2, 3, 2, nan});
  expect_values([&] { return ab::fmin(x(), y()); }, {ab::f32, {4}}, {1, 3, 2, nan});
  expect_values([] { return ab::fmax(ab::array({1, 5}), 3); }, {ab::i32, {2}}, {3, 5});
  expect_values(
      [] {
        return ab::heaviside(ab::array<float>({-2, 0, 3, NAN, -INFINITY}), 0.5);
      },
      {ab::f32, {5}}, {0, 0.5, 1, nan, 0});
}

TEST(ElementwiseMore, MantissaAndExponent) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    SCOPED_TRACE(name(dtype));
    const double least = dtype == ab::f16    ? 0x1p-24
                         : dtype == ab::bf16 ? 0x1p-133
                         : dtype == ab::f32  ? 0x1p-149
                                             : 0x1p-1074;
    const ab::Array x = ab::array(std::vector<double>{1, -0.75, 0, -0.0, inf, nan, 60000, least,
                                                      -3 * least, 0x1p-14})
                            .astype(dtype);
    std::vector<double> mantissas, exponents, back;
    for (double value : doubles(x)) {
      int exponent = 0;
      mantissas.push_back(std::frexp(value, &exponent));
      exponents.push_back(std::isfinite(value) ? exponent : 0);
      back.push_back(value);
    }
    expect_values([&] { return ab::frexp(x).mantissa; }, {dtype, {10}}, mantissas, 0);
    expect_values([&] { return ab::frexp(x).exponent; }, {ab::i32, {10}}, exponents, 0);
    expect_values(
        [&] {
          const auto [mantissa, exponent] = ab::frexp(x);
          return ab::ldexp(mantissa, exponent);
        },
        {dtype, {10}}, back, 0);
  }
}

TEST(ElementwiseMore, TimesAPowerOfTwo) {
  const std::vector<double> x = {1,   -1.5,     0x1.8p-1070,          1.75, 1.25, 3, 0,
                                 inf, 0x1p1023, 0x1.fffffffffffffp-2, 1};
  const std::vector<std::int32_t> n = {3,    -2,    1000,  1023,  1024,      -1076,
                                       5000, -5000, -2097, -1021, 2147483647};
  std::vector<double> expected, narrow;
  for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(std::ldexp(x[i], n[i]));
  expect_values([&] { return ab::ldexp(ab::array(x), ab::array(n)); }, {ab::f64, {11}}, expected,
                0);
  expect_values(
      [] {
        return ab::ldexp(ab::array({3.0f, 1.0f, 1.5f}), ab::array({-150, 128, 127}));
      },
      {ab::f32, {3}}, {0x1p-148, inf, 0x1.8p127}, 0);
  expect_values(
      [] {
        return ab::ldexp(ab::array({3.0f, 1.0f}).astype(ab::f16), 2);
      },
      {ab::f16, {2}}, {12, 4}, 0);
  EXPECT_THROW(ab::ldexp(ab::zeros({2}), 0.5), ab::Error);
}

TEST(ElementwiseMore, FractionAndWhole) {
  const auto x = [] { return ab::array<float>({2.75f, -2.75f, -0.5f, INFINITY, NAN, 3}); };
  expect_values([&] { return ab::modf(x()).fraction; }, {ab::f32, {6}},
                {0.75, -0.75, -0.5, 0, nan, 0}, 0);
  expect_values([&] { return ab::modf(x()).whole; }, {ab::f32, {6}}, {2, -2, 0, inf, nan, 3}, 0);
  expect_values([] { return ab::divmod(ab::array({7, -7}), 3).quotient; }, {ab::i32, {2}}, {2, -3});
  expect_values([] { return ab::divmod(ab::array({7, -7}), 3).remainder; }, {ab::i32, {2}}, {1, 2});
}

TEST(ElementwiseMore, Divisors) {
  const std::vector<std::int32_t> a = {12, -12, 0, 7, 0, 2147483647, 48},
                                  b = {18, 18, 5, 0, 0, 2, -36};
  std::vector<double> divisors, multiples;
  for (std::size_t i = 0; i < a.size(); ++i) {
    divisors.push_back(std::gcd(a[i], b[i]));
    multiples.push_back(i == 5 ? -2.0 : std::lcm(std::int64_t{a[i]}, std::int64_t{b[i]}));
  }
  multiples[5] = 2;  // wraps: |-2|
  expect_values([&] { return ab::gcd(ab::array(a), ab::array(b)); }, {ab::i32, {7}}, divisors);
  expect_values([&] { return ab::lcm(ab::array(a), ab::array(b)); }, {ab::i32, {7}}, multiples);
  expect_values(
      [] {
        return ab::gcd(ab::array<std::uint8_t>({200, 0}), 75);
      },
      {ab::u8, {2}}, {25, 75});
}

TEST(ElementwiseMore, PowersAndLogarithmsThatAreExact) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    SCOPED_TRACE(name(dtype));
    std::vector<double> whole, powers;
    for (int i = -14; i <= 15; ++i) {
      whole.push_back(i);
      powers.push_back(std::ldexp(1, i));
    }
    const ab::Type type{dtype, {30}};
    expect_values([&] { return ab::exp2(ab::array(whole).astype(dtype)); }, type, powers, 0);
    expect_values([&] { return ab::log2(ab::array(powers).astype(dtype)); }, type, whole, 0);
  }
  expect_values(
      [] {
        return ab::exp2(ab::array<float>({INFINITY, -INFINITY, NAN, 0.5f, 128, -149}));
      },
      {ab::f32, {6}}, {inf, 0, nan, std::sqrt(2.0), inf, 0x1p-149}, 1e-7);
  expect_values(
      [] {
        return ab::log2(ab::array<float>({0, -1, INFINITY, NAN, 3, 0x1p-149f, 1.0000001f}));
      },
      {ab::f32, {7}}, {-inf, nan, inf, nan, std::log2(3.0), -149, std::log2(double(1.0000001f))},
      1e-7);
  expect_values(
      [] {
        return ab::log10(ab::array<float>({1, 10, 100, 1000, 1e10f, 0}));
      },
      {ab::f32, {6}}, {0, 1, 2, 3, 10, -inf}, 0);
  expect_values(
      [] {
        return ab::logaddexp2(ab::array<float>({3, -INFINITY, 100, INFINITY}),
                              ab::array<float>({3, -INFINITY, -100, 1}));
      },
      {ab::f32, {4}}, {4, -inf, 100, inf});
  expect_values(
      [] {
        return ab::logaddexp2(ab::array({0.0}, ab::f64), ab::array({-100.25}, ab::f64)) * 0x1p100;
      },
      {ab::f64, {1}}, {std::exp2(-0.25) / std::log(2.0)}, 1e-15);
  expect_values([] { return ab::deg2rad(ab::array({180.0f})); }, {ab::f32, {1}}, {std::acos(-1.0)});
  expect_values([] { return ab::rad2deg(ab::array({std::acos(-1.0f)})); }, {ab::f32, {1}}, {180});
}

using Z = std::complex<float>;

TEST(ElementwiseMore, ClosenessOfComplexNumbers) {
  constexpr float infinite = INFINITY, none = NAN;
  const std::vector<Z> a = {{1, 2}, {1, 2}, {1e6, 1}, {infinite, 0}, {infinite, 0}, {1, none}},
                       b = {{1, 3}, {1, 2}, {1e6, 2}, {infinite, 0}, {1, infinite}, {none, 2}};
  const auto x = [&] { return ab::array(a); };
  const auto y = [&] { return ab::array(b); };
  expect_values([&] { return ab::isclose(x(), y()); }, {ab::bool_, {6}}, {0, 1, 1, 1, 0, 0});
  expect_values([&] { return ab::isclose(x(), y(), 1e-5, 1e-8, true); }, {ab::bool_, {6}},
                {0, 1, 1, 1, 0, 1});
  expect_values([&] { return ab::allclose(x(), y()); }, {ab::bool_, {}}, {0});
}

TEST(ElementwiseMore, WhatHasNoOrderIsRefusedByName) {
  const ab::Array z = ab::zeros(ab::c64, {2});
  const std::string takes = " given to what takes real numbers";
  expect_error([&] { ab::isposinf(z); }, "isposinf: c64[2]" + takes);
  expect_error([&] { ab::isneginf(z); }, "isneginf: c64[2]" + takes);
  expect_error([&] { ab::fmax(z, z); }, "fmax: c64[2] and c64[2]" + takes);
  expect_error([&] { ab::fmin(z, z); }, "fmin: c64[2] and c64[2]" + takes);
}

}  // namespace
