// Running combinations: values, dtypes, axes, and any associative function.
#include <numeric>
#include <tuple>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

using ab::f32;
using ab::i64;
using Doubles = std::vector<double>;

TEST(Cumulative, SumsProductsAndExtremes) {
  const auto x = [] { return ab::array({3.f, 1.f, 2.f, -1.f, 4.f, 0.5f}, {2, 3}); };
  expect_values([&] { return ab::cumsum(x(), 1); }, {f32, {2, 3}}, {3, 4, 6, -1, 3, 3.5});
  expect_values([&] { return ab::cumsum(x(), 0); }, {f32, {2, 3}}, {3, 1, 2, 2, 5, 2.5});
  expect_values([&] { return ab::cumsum(x()); }, {f32, {6}}, {3, 4, 6, 5, 9, 9.5});
  expect_values([&] { return ab::cumsum(x(), -1, true); }, {f32, {2, 3}}, {6, 3, 2, 3.5, 4.5, 0.5});
  expect_values([&] { return ab::cumprod(x(), 1); }, {f32, {2, 3}}, {3, 3, 6, -1, -4, -2});
  expect_values([&] { return ab::cummax(x(), 1); }, {f32, {2, 3}}, {3, 3, 3, -1, 4, 4});
  expect_values([&] { return ab::cummin(x(), 1, true); }, {f32, {2, 3}}, {1, 1, 2, -1, 0.5, 0.5});
}

TEST(Cumulative, DtypesAreThoseOfSums) {
  EXPECT_EQ(ab::cumsum(ab::array({true, true})).dtype(), i64);
  EXPECT_EQ(ab::cumsum(ab::zeros({2}, ab::i8)).dtype(), i64);
  EXPECT_EQ(ab::cumprod(ab::zeros({2}, ab::u16)).dtype(), ab::u64);
  EXPECT_EQ(ab::cumsum(ab::zeros({2}, ab::f16)).dtype(), ab::f16);
  EXPECT_EQ(ab::cummax(ab::array({false, true, false})).to_vector<bool>(),
            (std::vector<bool>{false, true, true}));
  EXPECT_EQ(ab::cumsum(ab::zeros({0}, f32)).size(), 0);
}

TEST(Cumulative, LogOfSumsOfExponentials) {
  const auto x = [] { return ab::array({1000.f, 1001.f, -INFINITY, 999.f, 1002.f}); };
  const double two = 1001 + std::log1p(std::exp(-1)), four = two + std::log1p(std::exp(999 - two));
  const Doubles expected = {1000, two, two, four, 1002 + std::log1p(std::exp(four - 1002))};
  expect_values([&] { return ab::logcumsumexp(x()); }, {f32, {5}}, expected);
  EXPECT_EQ(ab::logcumsumexp(ab::zeros({2, 3}, ab::bf16), 1, true).dtype(), ab::bf16);
}

TEST(Cumulative, ErrorsNameTheRemedy) {
  EXPECT_THROW(ab::cumsum(ab::zeros({2, 2}), {0, 1}), ab::Error);
  EXPECT_THROW(ab::cumsum(ab::zeros({2}), 1), ab::Error);
}

// Products of 2x2 matrices do not commute.
TEST(AssociativeScan, KeepsTheOrderOfMatrices) {
  using Matrix = std::tuple<ab::Array, ab::Array, ab::Array, ab::Array>;
  const auto product = [](const Matrix& x, const Matrix& y) {
    const auto& [a, b, c, d] = x;
    const auto& [e, f, g, h] = y;
    return Matrix{a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h};
  };
  for (const std::int64_t size : {0, 1, 2, 3, 5, 8, 13}) {
    for (const bool reverse : {false, true}) {
      std::vector<double> parts[4];
      for (std::int64_t i = 0; i < size; ++i) {
        for (int k = 0; k < 4; ++k)
          parts[k].push_back(static_cast<double>((i * 7 + k * 3) % 3 - 1));
      }
      Matrix xs{ab::array(parts[0], {size}), ab::array(parts[1], {size}),
                ab::array(parts[2], {size}), ab::array(parts[3], {size})};
      const Matrix got = ab::associative_scan(product, xs, 0, reverse);
      const auto first = std::get<1>(got).to_vector<double>();
      double m[4] = {1, 0, 0, 1};
      for (std::int64_t i = 0; i < size; ++i) {
        const auto at = static_cast<std::size_t>(reverse ? size - 1 - i : i);
        const double e = parts[0][at], f = parts[1][at], g = parts[2][at], h = parts[3][at];
        const double next[4] = {m[0] * e + m[1] * g, m[0] * f + m[1] * h, m[2] * e + m[3] * g,
                                m[2] * f + m[3] * h};
        std::copy(next, next + 4, m);
        EXPECT_EQ(first[at], m[1]) << size << ", element " << at;
      }
    }
  }
}

// h[i] = a[i] h[i + 1] + b[i] from the last element on, along an axis, by a tree of two arrays.
struct Affine {
  ab::Array factor, term;
};

// Levels of odd sizes read through more index maps than a kernel copies: what those name is in
// memory then.
TEST(AssociativeScan, CompilesAtAnySize) {
  const auto scan = ab::jit([](ab::Array x) {
    return ab::associative_scan([](ab::Array a, ab::Array b) { return a + b; }, x);
  });
  for (const std::int64_t size : {191, 500, 600, 1031, 2047}) {
    std::vector<float> counted(static_cast<std::size_t>(size));
    std::iota(counted.begin(), counted.end(), 1.0f);
    EXPECT_EQ(scan(ab::ones({size})).to_vector<float>(), counted) << size;
  }
}

TEST(AssociativeScan, RunsALinearRecurrenceBackwards) {
  const auto chained = [](const Affine& first, const Affine& second) {
    return Affine{first.factor * second.factor, second.factor * first.term + second.term};
  };
  const Affine xs = {ab::array({{2.0f, 0.5f, 3.0f}, {1.0f, -1.0f, 4.0f}}),
                     ab::array({{1.0f, 2.0f, 3.0f}, {0.0f, 5.0f, 6.0f}})};
  const auto scan = [&] {
    return ab::associative_scan(chained, xs, {.axis = -1, .reverse = true}).term;
  };
  expect_values(scan, {f32, {2, 3}}, {8, 3.5, 3, -1, -1, 6});
}

TEST(AssociativeScan, RefusesOtherSizesAndTypes) {
  const auto add = [](const ab::Array& a, const ab::Array& b) { return a + b; };
  EXPECT_THROW(ab::associative_scan([](const auto& a, const auto&) { return a; },
                                    std::pair{ab::zeros({2}), ab::zeros({3})}),
               ab::Error);
  EXPECT_THROW(ab::associative_scan(
                   [](const ab::Array& a, const ab::Array&) { return ab::astype(a, ab::f64); },
                   ab::zeros({4}, f32)),
               ab::Error);
  expect_values(
      [&] {
        return ab::associative_scan(add, ab::ones({2, 3}), 1);
      },
      {f32, {2, 3}}, {1, 2, 3, 1, 2, 3});
}

TEST(Map, CallsAFunctionForEachSlab) {
  const auto sums = [] {
    return ab::map([](const auto& x) { return ab::sum(x * 2.f); }, ab::ones({3, 4}));
  };
  expect_values(sums, {f32, {3}}, {8, 8, 8});
  const auto [twice, next] =
      ab::map([](const auto& x) { return std::pair(x.first * 2, x.second + 1); },
              std::pair{ab::array({1, 2, 3}), ab::array({4, 5, 6})});
  EXPECT_EQ(twice.template to_vector<int>(), (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(next.template to_vector<int>(), (std::vector<int>{5, 6, 7}));
}

TEST(Cumulative, ExtremesRefuseComplexNumbersByName) {
  const ab::Array z = ab::zeros(ab::c64, {2});
  expect_error([&] { ab::cummax(z); }, "cummax: c64[2] given to what takes real numbers");
  expect_error([&] { ab::cummin(z); }, "cummin: c64[2] given to what takes real numbers");
}

TEST(Cumulative, OfImmenseEmptyArraysTakesNoTime) {
  const ab::Array empty = ab::zeros({std::int64_t{1} << 40, 0});
  EXPECT_EQ(ab::cumsum(empty, 1).to_vector<float>().size(), 0u);
  EXPECT_EQ(ab::cumsum(empty, 0).to_vector<float>().size(), 0u);
  EXPECT_EQ(ab::sort(empty, 1).to_vector<float>().size(), 0u);
  EXPECT_EQ(ab::sort(empty, 0).to_vector<float>().size(), 0u);
}

}  // namespace
