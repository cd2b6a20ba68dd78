// Quantiles, and reductions that pass over NaN.
#include <tuple>

#include "tests/support/values.h"

namespace {

using ab::f32;
using ab::i64;
constexpr double nan = NAN;

ab::Array numbers() { return ab::array({3.f, 1.f, 2.f, 7.f, 5.f, -4.f, 0.f, 6.f}, {2, 4}); }
ab::Array holes() {
  return ab::array({3.f, NAN, 2.f, 7.f, NAN, NAN, NAN, NAN, 1.f, 5.f, NAN, 4.f}, {3, 4});
}

TEST(Statistics, QuantilesInterpolate) {
  expect_values([] { return ab::median(numbers(), 1); }, {f32, {2}}, {2.5, 2.5});
  expect_values([] { return ab::median(numbers()); }, {f32, {}}, {2.5});
  expect_values([] { return ab::median(numbers(), 0, ab::keepdims); }, {f32, {1, 4}},
                {4, -1.5, 1, 6.5});
  expect_values([] { return ab::quantile(numbers(), 0.1, 1); }, {f32, {2}}, {1.3, -2.8});
  expect_values([] { return ab::percentile(numbers(), 100, 1); }, {f32, {2}}, {7, 6});
  // A list of one is a list.
  expect_values([] { return ab::quantile(numbers(), {0.1}, 1); }, {f32, {1, 2}}, {1.3, -2.8});
  expect_values(
      [] {
        return ab::percentile(numbers(), {10, 100}, 1);
      },
      {f32, {2, 2}}, {1.3, -2.8, 7, 6});
  expect_values(
      [] {
        return ab::quantile(numbers(), std::vector{0., 0.5, 1.}, 1);
      },
      {f32, {3, 2}}, {1, -4, 2.5, 2.5, 7, 6});
  using ab::Interpolation;
  const auto third = [](Interpolation how) {
    return [how] { return ab::quantile(numbers(), 0.4, 1, false, how); };  // place 1.2
  };
  expect_values(third(Interpolation::lower), {f32, {2}}, {2, 0});
  expect_values(third(Interpolation::higher), {f32, {2}}, {3, 5});
  expect_values(third(Interpolation::nearest), {f32, {2}}, {2, 0});
  expect_values(third(Interpolation::midpoint), {f32, {2}}, {2.5, 2.5});
}

TEST(Statistics, QuantilesOfNanAndInfinity) {
  expect_values([] { return ab::median(holes(), 1); }, {f32, {3}}, {nan, nan, nan});
  expect_values([] { return ab::median(ab::array({-INFINITY, 1.f, INFINITY})); }, {f32, {}}, {1});
  expect_values([] { return ab::nanmedian(holes(), 1); }, {f32, {3}}, {3, nan, 4});
  expect_values([] { return ab::nanmedian(holes()); }, {f32, {}}, {3.5});
  expect_values([] { return ab::nanquantile(holes(), 0.25, 1); }, {f32, {3}}, {2.5, nan, 2.5});
  expect_values([] { return ab::nanpercentile(holes(), {25}, 1); }, {f32, {1, 3}}, {2.5, nan, 2.5});
  expect_values([] { return ab::nanpercentile(holes(), 100, 1, ab::keepdims); }, {f32, {3, 1}},
                {7, nan, 5});
  EXPECT_EQ(ab::median(ab::zeros({3}, ab::f16)).dtype(), ab::f16);
  EXPECT_THROW(ab::median(ab::zeros({0}, f32)), ab::Error);
  EXPECT_THROW(ab::quantile(numbers(), 1.5), ab::Error);
}

TEST(Statistics, QuantilesOfEqualElements) {
  const double inf = INFINITY;
  const auto ends = [](float x, float y) { return ab::array({y, x, x, y}); };
  for (float x : {1.0f, -INFINITY, INFINITY, 0.1f, -0.1f}) {
    expect_values([&] { return ab::median(ends(x, x)); }, {f32, {}}, {x}, 0);
    expect_values([&] { return ab::nanmedian(ends(x, x)); }, {f32, {}}, {x}, 0);
    expect_values([&] { return ab::quantile(ends(x, x), 0.3); }, {f32, {}}, {x}, 0);
  }
  expect_values([&] { return ab::quantile(ends(-INFINITY, 1), 0.5); }, {f32, {}}, {-inf});
  expect_values([&] { return ab::quantile(ends(-INFINITY, 1), 1. / 6); }, {f32, {}}, {-inf});
  EXPECT_TRUE(std::signbit(ab::median(ab::array({-0.0f, -0.0f})).item<float>()));
  // Their derivative is that of the interpolation all the same.
  const auto slopes = [](auto f, std::vector<double> x, std::vector<double> wanted) {
    const auto size = static_cast<std::int64_t>(x.size());
    expect_close(doubles(ab::grad(f)(ab::array(x, ab::Shape{size}))), wanted, 1e-12, "slopes");
  };
  const auto median = [](ab::Array x) { return ab::median(x); };
  const auto nanmedian = [](ab::Array x) { return ab::nanmedian(x); };
  slopes(median, {1, 1}, {0.5, 0.5});
  slopes(median, {0, 1, 1, 2}, {0, 0.5, 0.5, 0});
  slopes(median, {0, 1, 2}, {0, 1, 0});
  slopes(nanmedian, {1, nan, 1}, {0.5, 0, 0.5});
  slopes([](ab::Array x) { return ab::quantile(x, 0.25); }, {3, 3}, {0.75, 0.25});
}

// Places have more digits than the elements' dtype.
TEST(Statistics, QuantilesOfManyElements) {
  constexpr std::int64_t step = 60000;
  constexpr double q = (step + 0.1) / 100000;  // of 100,001 elements that are no NaN
  const ab::Array place = ab::arange(100002);
  const ab::Array x = ab::where(place == 100001, NAN, ab::where(place > step, 1.0f, 0.0f));
  EXPECT_NEAR(ab::nanquantile(x, q).item<float>(), 0.1, 1e-6);
  EXPECT_NEAR(ab::nanquantile(x.astype(ab::bf16), q).astype(f32).item<float>(), 0.1, 1e-3);
  EXPECT_NEAR(ab::quantile(ab::slice_in_dim(x, 0, 100001, 0), q).item<float>(), 0.1, 1e-6);
}

TEST(Statistics, ReductionsThatPassOverNan) {
  expect_values([] { return ab::nansum(holes(), 1); }, {f32, {3}}, {12, 0, 10});
  expect_values([] { return ab::nanprod(holes(), 1); }, {f32, {3}}, {42, 1, 20});
  expect_values([] { return ab::nanmax(holes(), 1); }, {f32, {3}}, {7, nan, 5});
  expect_values([] { return ab::nanmin(holes(), 0); }, {f32, {4}}, {1, 5, 2, 4});
  expect_values([] { return ab::nanmean(holes(), 1); }, {f32, {3}}, {4, nan, 10. / 3});
  expect_values([] { return ab::nanvar(holes(), 1); }, {f32, {3}}, {14. / 3, nan, 26. / 9});
  expect_values([] { return ab::nanvar(holes(), 1, false, 1); }, {f32, {3}}, {7, nan, 13. / 3});
  expect_values([] { return ab::nanstd(holes()); }, {f32, {}}, {std::sqrt(35. / 9)});
  expect_values([] { return ab::nanvar(ab::array({NAN, INFINITY, 1.0f})); }, {f32, {}}, {nan});
  expect_values([] { return ab::nanargmax(holes(), 1); }, {i64, {3}}, {3, -1, 1});
  expect_values([] { return ab::nanargmin(holes(), 1); }, {i64, {3}}, {2, -1, 0});
  expect_values([] { return ab::nanargmax(ab::array({NAN, -INFINITY, NAN})); }, {i64, {}}, {1});
  EXPECT_EQ(ab::nansum(ab::array({1, 2})).dtype(), i64);
  EXPECT_EQ(ab::nanmax(ab::array({1, 2})).item<int>(), 2);
}

TEST(Statistics, AveragesAndCovariances) {
  expect_values([] { return ab::ptp(numbers(), 1); }, {f32, {2}}, {6, 10});
  expect_values(
      [] {
        return ab::average(numbers(), ab::array({1.f, 0.f, 0.f, 3.f}), 1);
      },
      {f32, {2}}, {6, 5.75});
  expect_values([] { return ab::trapezoid(numbers(), 0.5); }, {f32, {2}}, {4, 0.75});
  const auto rows = [] { return ab::array({0.f, 1.f, 2.f, 2.f, 1.f, 0.f}, {2, 3}); };
  expect_values([&] { return ab::cov(rows()); }, {f32, {2, 2}}, {1, -1, -1, 1});
  expect_values([&] { return ab::cov(rows(), 0); }, {f32, {2, 2}},
                {2. / 3, -2. / 3, -2. / 3, 2. / 3});
  expect_values([&] { return ab::corrcoef(rows() * 3.f); }, {f32, {2, 2}}, {1, -1, -1, 1});
  // 3 / sqrt(3) / sqrt(3) rounds to more than 1.
  const auto beyond = [] { return ab::array({0.f, 0.f, 3.f, 0.f, 0.f, -3.f}, {2, 3}); };
  expect_values([&] { return ab::corrcoef(beyond()); }, {f32, {2, 2}}, {1, -1, -1, 1}, 0);
}

}  // namespace
