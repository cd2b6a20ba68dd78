// Sliding windows and what is made of them.
#include "tests/support/values.h"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ab::Array row() { return ab::array({1.0f, 5.0f, 2.0f, 4.0f, 3.0f}); }
ab::Array grid() { return ab::reshape(ab::arange(12, ab::f32), {3, 4}); }

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SlidingWindows, OfARow) {
  expect_values([] { return ab::sliding_window_view(row(), 2); }, {ab::f32, {4, 2}},
                {1, 5, 5, 2, 2, 4, 4, 3});
  expect_values([] { return ab::sliding_window_view(row(), 5); }, {ab::f32, {1, 5}},
                {1, 5, 2, 4, 3});
  expect_values([] { return ab::sliding_window_view(row(), 6); }, {ab::f32, {0, 6}}, {});
}

TEST(SlidingWindows, OfSomeAxes) {
  expect_values([] { return ab::sliding_window_view(grid(), 2, 0); }, {ab::f32, {2, 4, 2}},
                {0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 5, 9, 6, 10, 7, 11});
  expect_values(
      [] {
        return ab::sum(ab::sliding_window_view(grid(), {2, 3}), {2, 3});
      },
      {ab::f32, {2, 2}}, {18, 24, 42, 48});
  expect_values(
      [] {
        return ab::sliding_window_view(grid(), {4, 3}, {1, 0});
      },
      {ab::f32, {1, 1, 4, 3}}, {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
}

TEST(SlidingWindows, RefuseWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { return ab::sliding_window_view(grid(), 2); }).substr(0, 61),
            "sliding_window_view: 1 sizes for 2 axes of f32[3,4]; give one");
  EXPECT_NE(refusal([] {
              return ab::sliding_window_view(row(), 0);
            }).find("size, stride and dilation must be at least 1"),
            std::string::npos);
}

TEST(Pooling, MaximaSideBySide) {
  expect_values([] { return ab::max_pool(grid(), {2, 2}); }, {ab::f32, {1, 2}}, {5, 7});
  expect_values([] { return ab::max_pool(grid(), 2); }, {ab::f32, {3, 2}}, {1, 3, 5, 7, 9, 11});
  expect_values([] { return ab::max_pool(row(), 2); }, {ab::f32, {2}}, {5, 4});
  expect_values([] { return ab::max_pool(ab::astype(row(), ab::u8), 2); }, {ab::u8, {2}}, {5, 4});
}

TEST(Pooling, MaximaWithStridesAndPadding) {
  expect_values([] { return ab::max_pool(row(), 3, 1); }, {ab::f32, {3}}, {5, 5, 4});
  expect_values(
      [] {
        return ab::max_pool(-row(), 3, 2, {{1}, {1}});
      },
      {ab::f32, {3}}, {-1, -2, -3});
  expect_values(
      [] {
        return ab::max_pool(ab::astype(-row(), ab::i8), 3, 2, {{1}, {1}});
      },
      {ab::i8, {3}}, {-1, -2, -3});
  expect_values(
      [] {
        return ab::max_pool(row(), 1, 3, {{2}, {}});
      },
      {ab::f32, {3}}, {-infinity, 5, 3});
}

TEST(Pooling, Means) {
  expect_values([] { return ab::avg_pool(grid(), {2, 2}); }, {ab::f32, {1, 2}}, {2.5, 4.5});
  expect_values(
      [] {
        return ab::avg_pool(row(), 2, 2, {{1}, {0}});
      },
      {ab::f32, {3}}, {0.5, 3.5, 3.5});
  expect_values([] { return ab::avg_pool(ab::astype(row(), ab::f16), 5); }, {ab::f16, {1}}, {3});
}

TEST(Pooling, OfImages) {
  const auto image = [] { return ab::reshape(ab::arange(2 * 3 * 8 * 8, ab::f32), {2, 3, 8, 8}); };
  const ab::Array pooled = ab::max_pool(image(), {2, 2});
  EXPECT_EQ(pooled.shape(), ab::Shape({2, 3, 4, 4}));
  expect_values(
      [&] {
        const auto blocks = ab::reshape(image(), {2, 3, 4, 2, 4, 2});
        return ab::max(ab::abs(ab::max_pool(image(), {2, 2}) - ab::max(blocks, {3, 5})));
      },
      {ab::f32, {}}, {0});
}

TEST(Pooling, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] {
              return ab::max_pool(row(), {2, 2});
            }).substr(0, 58),
            "max_pool: 2 sizes for f32[5]; give at most one per axis, a");
  EXPECT_NE(refusal([] {
              return ab::max_pool(grid(), {2, 2}, 1);
            }).find("max_pool: 1 strides for 2 sizes; give one per size"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::avg_pool(grid(), 2, 2, {{1, 1}, {}});
            }).find("avg_pool: 2 low paddings for 1 sizes; give one per size"),
            std::string::npos);
}

}  // namespace
