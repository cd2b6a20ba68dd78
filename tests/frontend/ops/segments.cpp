// Segments, histograms, tables.
#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ab::Array row() { return ab::array({1.0f, 2.0f, 3.0f, 4.0f}); }
ab::Array ids() { return ab::array({2, 0, 2, 7}); }

TEST(Segments, OfARow) {
  expect_values([] { return ab::segment_sum(row(), ids(), 4); }, {ab::f32, {4}}, {2, 0, 4, 0});
  expect_values([] { return ab::segment_prod(row(), ids(), 4); }, {ab::f32, {4}}, {2, 1, 3, 1});
  expect_values([] { return ab::segment_max(row(), ids(), 4); }, {ab::f32, {4}},
                {2, -infinity, 3, -infinity});
  expect_values([] { return ab::segment_min(row(), ids(), 4); }, {ab::f32, {4}},
                {2, infinity, 1, infinity});
  expect_values([] { return ab::segment_max(row().astype(ab::i8), ids(), 2); }, {ab::i8, {2}},
                {2, -128});
}

TEST(Segments, OfSlabs) {
  const auto x = [] { return ab::reshape(ab::arange(12, ab::f32), {2, 3, 2}); };
  expect_values(
      [&] {
        return ab::segment_sum(x(), ab::array({1, 1}), 2);
      },
      {ab::f32, {2, 3, 2}}, {0, 0, 0, 0, 0, 0, 6, 8, 10, 12, 14, 16});
  expect_values(
      [&] {
        return ab::segment_sum(x(), ab::array({{0, 1, 0}, {1, -1, 1}}), 2);
      },
      {ab::f32, {2, 2}}, {4, 6, 18, 21});
}

// 4,096 ones and a half: an f16 would stop counting at 2,048.
TEST(Segments, OfHalvesAreSummedInF32) {
  expect_values(
      [] { return ab::segment_sum(ab::ones({4096}, ab::f16), ab::zeros({4096}, ab::i32), 1); },
      {ab::f16, {1}}, {4096});
}

TEST(Bincount, CountsAndWeighs) {
  expect_values(
      [] {
        return ab::bincount(ab::array({1, 3, 1, -1, 9, 0}), 4);
      },
      {ab::i64, {4}}, {1, 2, 0, 1});
  expect_values(
      [] {
        return ab::bincount(ab::array({1, 3, 1}), 4, ab::array({0.5f, 2.0f, 0.25f}));
      },
      {ab::f32, {4}}, {0, 0.75, 0, 2});
}

TEST(Histogram, OfEqualBins) {
  const auto x = [] { return ab::array({0.0f, 1.0f, 2.5f, 5.0f, 10.0f, 4.99f}); };
  expect_values([&] { return ab::histogram_bin_edges(x(), 4); }, {ab::f32, {5}},
                {0, 2.5, 5, 7.5, 10});
  expect_values([&] { return ab::histogram(x(), 4).first; }, {ab::i64, {4}}, {2, 2, 1, 1});
  expect_values(
      [&] {
        return ab::histogram(x(), 2, ab::HistogramRange{0, 2}).first;
      },
      {ab::i64, {2}}, {1, 1});
  expect_values([] { return ab::histogram_bin_edges(ab::full({3}, 2.0f), 2); }, {ab::f32, {3}},
                {1.5, 2, 2.5});
  expect_values([] { return ab::histogram_bin_edges(ab::zeros({0}), 2); }, {ab::f32, {3}},
                {0, 0.5, 1});
}

TEST(Histogram, BetweenGivenEdges) {
  expect_values(
      [] {
        return ab::histogram(ab::array({0.0f, 1.0f, 2.0f, 3.0f, 4.0f, -1.0f, std::nanf("")}),
                             ab::array({0.0f, 1.0f, 3.0f, 3.5f}));
      },
      {ab::i64, {3}}, {1, 2, 1});
}

TEST(Interp, IsLinearBetweenPoints) {
  const auto xp = [] { return ab::array({1.0f, 2.0f, 4.0f}); };
  const auto fp = [] { return ab::array({10.0f, 20.0f, 0.0f}); };
  const auto x = [] { return ab::array({1.0f, 1.5f, 3.0f, 4.0f, 0.0f, 9.0f, std::nanf("")}); };
  expect_values([&] { return ab::interp(x(), xp(), fp()); }, {ab::f32, {7}},
                {10, 15, 10, 0, 10, 0, nan});
  expect_values([&] { return ab::interp(x(), xp(), fp(), -1, 7); }, {ab::f32, {7}},
                {10, 15, 10, 0, -1, 7, nan});
}

TEST(Interp, IsOfTheDtypeThatAllThreeComeTo) {
  const ab::Array exact = ab::array({0.0, 2.0}, ab::f64), places = ab::array({0.0f, 1.0f});
  const ab::Array tenth = ab::array({0.1, 0.1}, ab::f64);
  const double low = 0.1f;
  expect_values([&] { return ab::interp(ab::array({0.5f}), places, tenth); }, {ab::f64, {1}}, {0.1},
                1e-16);
  expect_values([&] { return ab::interp(ab::array({0.1f}), exact, places); }, {ab::f64, {1}},
                {low / 2}, 1e-16);
  expect_values([&] { return ab::interp(0.5, places, places); }, {ab::f32, {}}, {0.5});
  expect_values([&] { return ab::interp(ab::array({1}), exact, exact); }, {ab::f64, {1}}, {1});
  expect_values(
      [&] {
        return ab::interp(ab::array({1}), ab::array({0, 2}), ab::array({0, 3}));
      },
      {ab::f32, {1}}, {1.5});
}

TEST(Nonzero, GivesTheFirstPositions) {
  const auto x = [] { return ab::array({{0, 3, 0}, {5, 0, 7}}); };
  expect_values([&] { return ab::nonzero(x(), 4)[0]; }, {ab::i64, {4}}, {0, 1, 1, 0});
  expect_values([&] { return ab::nonzero(x(), 4, -1)[1]; }, {ab::i64, {4}}, {1, 0, 2, -1});
  expect_values([&] { return ab::nonzero(x(), 2)[1]; }, {ab::i64, {2}}, {1, 0});
  expect_values(
      [] {
        return ab::nonzero(ab::array({0.5f, 0.0f}), 2, 9)[0];
      },
      {ab::i64, {2}}, {0, 9});
}

TEST(Unique, SortsAndCountsWhatIsDifferent) {
  const auto x = [] { return ab::array({3, 1, 3, 2, 1, 3}, {2, 3}); };
  const auto all = [&] { return ab::unique_all(x(), 4); };
  expect_values([&] { return all().values; }, {ab::i32, {4}}, {1, 2, 3, 1});
  expect_values([&] { return all().indices; }, {ab::i64, {4}}, {1, 3, 0, 1});
  expect_values([&] { return all().counts; }, {ab::i64, {4}}, {2, 1, 3, 0});
  expect_values([&] { return all().inverse_indices; }, {ab::i64, {2, 3}}, {2, 0, 2, 1, 0, 2});
  expect_values([&] { return ab::unique_values(x(), 2); }, {ab::i32, {2}}, {1, 2});
  expect_values([&] { return ab::unique_counts(x(), 2).second; }, {ab::i64, {2}}, {2, 1});
  expect_values([&] { return ab::unique_inverse(x(), 0).second; }, {ab::i64, {2, 3}},
                {2, 0, 2, 1, 0, 2});
}

TEST(Unique, OfFloatsBoolsAndNothing) {
  const auto x = [] { return ab::array({0.0f, float(nan), -0.0f, 1.0f, float(nan)}); };
  expect_values([&] { return ab::unique_values(x(), 4); }, {ab::f32, {4}}, {0, 1, nan, nan});
  expect_values([&] { return ab::unique_counts(x(), 5).second; }, {ab::i64, {5}}, {2, 1, 1, 1, 0});
  expect_values([&] { return ab::unique_values(x() > 0, 2); }, {ab::bool_, {2}}, {0, 1});
  expect_values([&] { return ab::unique_values(ab::zeros({0, 2}, ab::i8), 0); }, {ab::i8, {0}}, {});
  EXPECT_THROW(ab::unique_values(ab::zeros({0}), 1), ab::Error);
  EXPECT_THROW(ab::unique_values(ab::zeros({3}), -1), ab::Error);
}

TEST(Tables, RefuseComplexNumbers) {
  const ab::Array x = row(), z = ab::zeros(ab::c64, {4});
  const std::string takes = ": c64[4] given to what takes real numbers";
  expect_error([&] { ab::interp(z, x, x); }, "interp" + takes);
  expect_error([&] { ab::interp(x, z, x); }, "interp" + takes);
  expect_error([&] { ab::interp(x, x, z); }, "interp" + takes);
  expect_error([&] { ab::histogram(z, 2); }, "histogram" + takes);
  expect_error([&] { ab::histogram(x, z); }, "histogram" + takes);
  expect_error([&] { ab::histogram_bin_edges(z, 2); }, "histogram_bin_edges" + takes);
}

}  // namespace
