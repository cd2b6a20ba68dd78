// Each elementwise function against the C++ standard library.
#include <cmath>
#include <numbers>

#include "tests/support/values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

struct Unary {
  const char* name;
  ab::Array (*function)(const ab::Operand&);
  double (*expected)(double);
  std::vector<double> at;
};

double reference_erfinv(double y) {  // by bisection
  double low = -6, high = 6;
  for (int i = 0; i < 100; ++i) (std::erf((low + high) / 2) < y ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

const Unary unary[] = {
    {"abs", ab::abs, [](double x) { return std::fabs(x); }, {-1.5, 0, 2}},
    {"negative", ab::negative, [](double x) { return -x; }, {-1.5, 0, 2}},
    {"positive", ab::positive, [](double x) { return x; }, {-1.5, 0, 2}},
    {"sign", ab::sign, [](double x) { return double((x > 0) - (x < 0)); }, {-1.5, 0, 2}},
    {"square", ab::square, [](double x) { return x * x; }, {-1.5, 0, 2}},
    {"reciprocal", ab::reciprocal, [](double x) { return 1 / x; }, {-1.5, 4, 2}},
    {"exp", ab::exp, [](double x) { return std::exp(x); }, {-3, 0, 1, 10}},
    {"expm1", ab::expm1, [](double x) { return std::expm1(x); }, {-3, 1e-6, 1}},
    {"exp2", ab::exp2, [](double x) { return std::exp2(x); }, {-3, 0, 5}},
    {"log", ab::log, [](double x) { return std::log(x); }, {0.5, 1, 10, 0}},
    {"log1p", ab::log1p, [](double x) { return std::log1p(x); }, {-0.5, 1e-6, 3}},
    {"log2", ab::log2, [](double x) { return std::log2(x); }, {0.5, 8, 10}},
    {"log10", ab::log10, [](double x) { return std::log10(x); }, {0.5, 100, 3}},
    {"sqrt", ab::sqrt, [](double x) { return std::sqrt(x); }, {0, 2, 9}},
    {"rsqrt", ab::rsqrt, [](double x) { return 1 / std::sqrt(x); }, {0.25, 2, 9}},
    {"cbrt", ab::cbrt, [](double x) { return std::cbrt(x); }, {-8, 0.5, 27}},
    {"sin", ab::sin, [](double x) { return std::sin(x); }, {-3, 0.5, 10}},
    {"cos", ab::cos, [](double x) { return std::cos(x); }, {-3, 0.5, 10}},
    {"tan", ab::tan, [](double x) { return std::tan(x); }, {-1, 0.5, 1}},
    {"asin", ab::asin, [](double x) { return std::asin(x); }, {-1, 0.25, 1}},
    {"acos", ab::acos, [](double x) { return std::acos(x); }, {-1, 0.25, 1}},
    {"atan", ab::atan, [](double x) { return std::atan(x); }, {-10, 0.25, 1}},
    {"sinh", ab::sinh, [](double x) { return std::sinh(x); }, {-2, 0.25, 1}},
    {"cosh", ab::cosh, [](double x) { return std::cosh(x); }, {-2, 0.25, 1}},
    {"tanh", ab::tanh, [](double x) { return std::tanh(x); }, {-2, 0.25, 20}},
    {"asinh", ab::asinh, [](double x) { return std::asinh(x); }, {-2, 0.25, 20}},
    {"acosh", ab::acosh, [](double x) { return std::acosh(x); }, {1, 1.5, 20}},
    {"atanh", ab::atanh, [](double x) { return std::atanh(x); }, {-0.5, 0.25, 0.9}},
    {"erf", ab::erf, [](double x) { return std::erf(x); }, {-2, 0.25, 1}},
    {"erfinv", ab::erfinv, reference_erfinv, {-0.5, 0.25, 0.9}},
    {"floor", ab::floor, [](double x) { return std::floor(x); }, {-1.5, 2.5, 3}},
    {"ceil", ab::ceil, [](double x) { return std::ceil(x); }, {-1.5, 2.5, 3}},
    {"round", ab::round, [](double x) { return std::nearbyint(x); }, {-1.5, 2.5, 0.5, 3.2}},
    {"trunc", ab::trunc, [](double x) { return std::trunc(x); }, {-1.5, 2.5, -0.5}},
    {"sigmoid", ab::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, {-30, 0, 2}},
    {"relu", ab::relu, [](double x) { return std::fmax(x, 0); }, {-1.5, 0, 2}},
    {"silu", ab::silu, [](double x) { return x / (1 + std::exp(-x)); }, {-3, 0, 2}},
    {"softplus", ab::softplus, [](double x) { return std::log1p(std::exp(x)); }, {-30, 0, 30}},
};

TEST(Elementwise, UnaryFunctionsInFloat) {
  for (const Unary& row : unary) {
    SCOPED_TRACE(row.name);
    std::vector<float> in(row.at.begin(), row.at.end());
    std::vector<double> expected;
    for (float x : in) expected.push_back(row.expected(x));
    auto size = static_cast<std::int64_t>(in.size());
    expect_values([&] { return row.function(ab::array(in)); }, {ab::f32, {size}}, expected);
  }
}

TEST(Elementwise, UnaryFunctionsInDouble) {
  for (const Unary& row : unary) {
    SCOPED_TRACE(row.name);
    std::vector<double> expected;
    for (double x : row.at) expected.push_back(row.expected(x));
    auto size = static_cast<std::int64_t>(row.at.size());
    expect_values([&] { return row.function(ab::array(row.at)); }, {ab::f64, {size}}, expected,
                  1e-14);
  }
}

struct Binary {
  const char* name;
  ab::Array (*function)(const ab::Operand&, const ab::Operand&);
  double (*expected)(double, double);
};

double floored(double a, double b) { return a - b * std::floor(a / b); }

const Binary binary[] = {
    {"add", ab::add, [](double a, double b) { return a + b; }},
    {"subtract", ab::subtract, [](double a, double b) { return a - b; }},
    {"multiply", ab::multiply, [](double a, double b) { return a * b; }},
    {"maximum", ab::maximum, [](double a, double b) { return std::fmax(a, b); }},
    {"minimum", ab::minimum, [](double a, double b) { return std::fmin(a, b); }},
    {"remainder", ab::remainder, floored},
    {"fmod", ab::fmod, [](double a, double b) { return std::fmod(a, b); }},
    {"floor_divide", ab::floor_divide, [](double a, double b) { return std::floor(a / b); }},
    {"equal", ab::equal, [](double a, double b) { return double(a == b); }},
    {"not_equal", ab::not_equal, [](double a, double b) { return double(a != b); }},
    {"less", ab::less, [](double a, double b) { return double(a < b); }},
    {"less_equal", ab::less_equal, [](double a, double b) { return double(a <= b); }},
    {"greater", ab::greater, [](double a, double b) { return double(a > b); }},
    {"greater_equal", ab::greater_equal, [](double a, double b) { return double(a >= b); }},
};

TEST(Elementwise, BinaryFunctionsInIntegersAndFloats) {
  const std::vector<std::int32_t> a = {7, -7, 7, -7, 5, 0}, b = {3, 3, -3, -3, 5, 2};
  for (const Binary& row : binary) {
    SCOPED_TRACE(row.name);
    std::vector<double> expected;
    for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(row.expected(a[i], b[i]));
    auto integers = [&] { return row.function(ab::array(a), ab::array(b)); };
    auto floats = [&] {
      return row.function(ab::array(a).astype(ab::f32), ab::array(b).astype(ab::f32));
    };
    ab::Dtype dtype = ab::trace(integers).type(ab::trace(integers).outputs()[0]).dtype;
    expect_values(integers, {dtype, {6}}, expected);
    expect_values(floats, {dtype == ab::bool_ ? ab::bool_ : ab::f32, {6}}, expected);
  }
}

// The special cases of the Array API, and quotients that round up to a whole number.
TEST(Elementwise, FloorDivideAndRemainderOfFloats) {
  struct Row {
    double x, y, quotient, rest;
  };
  const Row rows[] = {
      {1, 0.1, 9, std::fmod(1, 0.1)},
      {-1, 0.1, -10, 0.1 - std::fmod(1, 0.1)},
      {6, 3, 2, 0.0},
      {-6, 3, -2, 0.0},
      {6, -3, -2, -0.0},
      {-6, -3, 2, -0.0},
      {0.0, 3, 0.0, 0.0},
      {-0.0, 3, -0.0, 0.0},
      {0.0, -3, -0.0, -0.0},
      {-0.0, -3, 0.0, -0.0},
      {0.5, 3, 0.0, 0.5},
      {-0.5, 3, -1, 2.5},
      {0.5, -3, -1, -2.5},
      {-0.5, -3, 0.0, -0.5},
      {1, inf, 0.0, 1},
      {-1, inf, -1, inf},
      {1, -inf, -1, -inf},
      {-1, -inf, 0.0, -1},
      {inf, 2, inf, nan},
      {-inf, 2, -inf, nan},
      {inf, inf, nan, nan},
      {1, 0.0, inf, nan},
      {-1, 0.0, -inf, nan},
      {0.0, 0.0, nan, nan},
      {nan, 1, nan, nan},
      {1e300, 1e-300, inf, std::fmod(1e300, 1e-300)},
      {4503599627370495.5, 1, 4503599627370495, 0.5},
  };
  std::vector<double> x, y, quotients, rests;
  for (const Row& row : rows) {
    x.push_back(row.x);
    y.push_back(row.y);
    quotients.push_back(row.quotient);
    rests.push_back(row.rest);
  }
  const auto size = static_cast<std::int64_t>(x.size());
  const ab::Type type{ab::f64, {size}};
  expect_values([&] { return ab::floor_divide(ab::array(x), ab::array(y)); }, type, quotients, 0);
  expect_values([&] { return ab::remainder(ab::array(x), ab::array(y)); }, type, rests, 0);
  for (const bool is_quotient : {true, false}) {
    std::vector<double> expected;
    for (const Row& row : rows) {
      const double value = is_quotient ? row.quotient : row.rest;
      expected.push_back(std::isnan(value) ? 0 : std::signbit(value));
    }
    expect_values(
        [&] {
          const auto [quotient, rest] = ab::divmod(ab::array(x), ab::array(y));
          const ab::Array value = is_quotient ? quotient : rest;
          return ab::signbit(value) & !ab::isnan(value);
        },
        {ab::bool_, {size}}, expected);
  }
}

TEST(Elementwise, OtherFunctionsOfTwoOperands) {
  auto x = [] { return ab::array({3.0f, -1.0f, 0.0f}); };
  auto y = [] { return ab::array({4.0f, 2.0f, 0.0f}); };
  const ab::Type type{ab::f32, {3}};
  expect_values([&] { return x() / y(); }, type, {0.75, -0.5, nan});
  expect_values([&] { return ab::atan2(x(), y()); }, type,
                {std::atan2(3, 4), std::atan2(-1, 2), 0});
  expect_values([&] { return ab::hypot(x(), y()); }, type, {5, std::sqrt(5.0), 0});
  expect_values([&] { return ab::pow(x(), 2); }, type, {9, 1, 0});
  expect_values(
      [&] { return ab::logaddexp(x(), y()); }, type,
      {std::log(std::exp(3) + std::exp(4)), std::log(std::exp(-1) + std::exp(2)), std::log(2)});
  expect_values([] { return ab::logaddexp(ab::array({-INFINITY}), ab::array({-INFINITY})); },
                {ab::f32, {1}}, {-inf});
  expect_values([] { return ab::hypot(ab::array({1e30f}), 1e30f); }, {ab::f32, {1}},
                {std::sqrt(2.0) * 1e30});
  expect_values(
      [] {
        return ab::hypot(ab::array({-INFINITY, NAN, NAN}), ab::array({NAN, INFINITY, 0.0f}));
      },
      {ab::f32, {3}}, {inf, inf, nan});
  expect_values([&] { return ab::array({7, -7}) / 2; }, {ab::i32, {2}}, {3, -3});
  expect_values([&] { return ab::array({7, -7}) % 4; }, {ab::i32, {2}}, {3, -3});
}

TEST(Elementwise, Classification) {
  auto x = [] { return ab::array<float>({1, -INFINITY, INFINITY, NAN}); };
  const ab::Type type{ab::bool_, {4}};
  expect_values([&] { return ab::isfinite(x()); }, type, {1, 0, 0, 0});
  expect_values([&] { return ab::isinf(x()); }, type, {0, 1, 1, 0});
  expect_values([&] { return ab::isnan(x()); }, type, {0, 0, 0, 1});
  auto integers = [] { return ab::array({0, -5}); };
  const ab::Type two{ab::bool_, {2}};
  expect_values([&] { return ab::isfinite(integers()); }, two, {1, 1});
  expect_values([&] { return ab::isinf(integers()); }, two, {0, 0});
  expect_values([&] { return ab::isnan(integers()); }, two, {0, 0});
}

TEST(Elementwise, SignsOfZeroAndNan) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    auto x = [&] { return ab::array<double>({-0.0, 0.0, -2, -INFINITY}).astype(dtype); };
    expect_values([&] { return ab::signbit(x()); }, {ab::bool_, {4}}, {1, 0, 1, 1});
    expect_values([&] { return 1 / ab::copysign(ab::zeros({4}, dtype), x()); }, {dtype, {4}},
                  {-inf, inf, -inf, -inf});
    expect_values([&] { return ab::copysign(x(), 3); }, {dtype, {4}}, {0, 0, 2, inf});
  }
}

TEST(Elementwise, WhatIsNotFiniteReplaced) {
  auto x = [] { return ab::array<float>({NAN, INFINITY, -INFINITY, 3}); };
  const double most = std::numeric_limits<float>::max();
  expect_values([&] { return ab::nan_to_num(x()); }, {ab::f32, {4}}, {0, most, -most, 3});
  expect_values([&] { return ab::nan_to_num(x().astype(ab::f16), 7); }, {ab::f16, {4}},
                {7, 65504, -65504, 3});
}

// A number takes the dtype of the array beside it, whichever side it stands on.
TEST(Elementwise, NumbersFollowTheArray) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    auto x = [&] { return ab::array({1, 2}).astype(dtype); };
    EXPECT_EQ((x() + 1).dtype(), dtype);
    expect_values([&] { return 2 * x() + 0.5; }, {dtype, {2}}, {2.5, 4.5});
    expect_values([&] { return 1u - x(); }, {dtype, {2}}, {0, -1});
    expect_values([&] { return 2.0 / x(); }, {dtype, {2}}, {2, 1});
    expect_values([&] { return 1.5f < x(); }, {ab::bool_, {2}}, {0, 1});
    expect_values([&] { return x() * ab::Float16(2.0f); }, {dtype, {2}}, {2, 4});
  }
  for (ab::Dtype dtype : {ab::i8, ab::u8, ab::i16, ab::u16, ab::i32, ab::u32, ab::i64, ab::u64}) {
    auto x = [&] { return ab::array({3, 4}).astype(dtype); };
    expect_values([&] { return (x() + 1) * 2L; }, {dtype, {2}}, {8, 10});
    expect_values([&] { return 7 % x(); }, {dtype, {2}}, {1, 3});
    expect_values([&] { return 1 << x(); }, {dtype, {2}}, {8, 16});
    expect_values([&] { return (x() ^ 1) | 8; }, {dtype, {2}}, {10, 13});
    expect_values([&] { return x() == 4; }, {ab::bool_, {2}}, {0, 1});
  }
}

TEST(Elementwise, LogicAndBits) {
  auto p = [] { return ab::array(std::vector<bool>{false, false, true, true}); };
  auto q = [] { return ab::array(std::vector<bool>{false, true, false, true}); };
  const ab::Type bools{ab::bool_, {4}};
  expect_values([&] { return ab::logical_and(p(), q()); }, bools, {0, 0, 0, 1});
  expect_values([&] { return ab::logical_or(p(), q()); }, bools, {0, 1, 1, 1});
  expect_values([&] { return ab::logical_xor(p(), q()); }, bools, {0, 1, 1, 0});
  expect_values([&] { return ab::logical_not(p()); }, bools, {1, 1, 0, 0});
  expect_values([&] { return (p() & q()) | !p(); }, bools, {1, 1, 0, 1});
  auto a = [] { return ab::array<std::uint8_t>({12, 255}); };
  const ab::Type bytes{ab::u8, {2}};
  expect_values([&] { return a() & 10; }, bytes, {8, 10});
  expect_values([&] { return a() | 1; }, bytes, {13, 255});
  expect_values([&] { return a() ^ 255; }, bytes, {243, 0});
  expect_values([&] { return ~a(); }, bytes, {243, 0});
  expect_values([&] { return a() << 1; }, bytes, {24, 254});
  expect_values([&] { return a() >> 2; }, bytes, {3, 63});
  expect_values([] { return ab::array({-8}) >> 1; }, {ab::i32, {1}}, {-4});
  expect_values([&] { return ab::bitwise_count(a()); }, bytes, {2, 8});
  expect_values([&] { return ab::count_leading_zeros(a()); }, bytes, {4, 0});
}

TEST(Elementwise, SelectionAndClipping) {
  auto x = [] { return ab::array({-2.0f, 0.5f, 9.0f}); };
  expect_values([&] { return ab::where(x() > 0, x(), 0); }, {ab::f32, {3}}, {0, 0.5, 9});
  expect_values([&] { return ab::clip(x(), -1, 1); }, {ab::f32, {3}}, {-1, 0.5, 1});
  expect_values(
      [] {
        return ab::where(ab::array(std::vector<bool>{true, false}), 1, 2.5);
      },
      {ab::f64, {2}}, {1, 2.5});
}

TEST(Elementwise, Conversions) {
  auto x = [] { return ab::array({-1.7f, 2.5f, 300.0f, NAN}); };
  expect_values([&] { return x().astype(ab::i32); }, {ab::i32, {4}}, {-1, 2, 300, 0});
  expect_values([&] { return x().astype(ab::u8); }, {ab::u8, {4}}, {0, 2, 255, 0});
  expect_values([&] { return x().astype(ab::bool_); }, {ab::bool_, {4}}, {1, 1, 1, 1});
  expect_values([] { return ab::bitcast(ab::array({1.0f}), ab::u32); }, {ab::u32, {1}},
                {0x3f800000});
  EXPECT_EQ(x().astype(ab::f32).dtype(), ab::f32);
}

TEST(Elementwise, CompoundAssignmentMakesNewArrays) {
  ab::Array x = ab::array({1.0f, 2.0f});
  const ab::Array before = x;
  x += 1;
  x *= x;
  x -= before;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.5f, 3.5f}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  ab::Array n = ab::array({12, 7});
  n %= 8;
  n <<= 3;
  n |= 1;
  n &= 0x3f;
  n ^= 2;
  n >>= 1;
  EXPECT_EQ(n.to_vector<std::int32_t>(), (std::vector<std::int32_t>{17, 29}));
}

TEST(Elementwise, FloorDivideHasTheDerivativesOfAStep) {
  const auto x = ab::array({0.0, -0.0, 3.5, inf, 1.0}, ab::f64);
  const auto y = ab::array({2.0, -2.0, 2.0, 2.0, 0.0}, ab::f64);
  const auto sum = [](ab::Array a, ab::Array b) { return ab::sum(ab::floor_divide(a, b)); };
  const std::vector<double> none(5, 0.0);
  EXPECT_EQ(doubles(ab::grad(sum)(x, y)), none);
  EXPECT_EQ(doubles(ab::grad(sum, ab::argument(1))(x, y)), none);
}

}  // namespace
