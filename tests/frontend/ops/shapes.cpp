// Functions that only move elements, and arrays made from nothing.
#include <array>

#include "tests/support/values.h"

namespace {

ab::Array x() { return ab::array({0, 1, 2, 3, 4, 5}, {2, 3}); }
ab::Type ints(std::initializer_list<std::int64_t> sizes) { return {ab::i32, sizes}; }
ab::Type floats(std::initializer_list<std::int64_t> sizes) { return {ab::f32, sizes}; }

TEST(Shapes, TheSameElementsUnderAnotherShape) {
  expect_values([] { return ab::reshape(x(), {3, -1}); }, ints({3, 2}), {0, 1, 2, 3, 4, 5});
  expect_values([] { return ab::ravel(x()); }, ints({6}), {0, 1, 2, 3, 4, 5});
  expect_values([] { return ab::expand_dims(x(), -1); }, ints({2, 3, 1}), {0, 1, 2, 3, 4, 5});
  expect_values([] { return ab::expand_dims(x(), 0); }, ints({1, 2, 3}), {0, 1, 2, 3, 4, 5});
  expect_values(
      [] {
        return ab::squeeze(ab::reshape(x(), {1, 6, 1}));
      },
      ints({6}), {0, 1, 2, 3, 4, 5});
  expect_values(
      [] {
        return ab::squeeze(ab::reshape(x(), {1, 6, 1}), -1);
      },
      ints({1, 6}), {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(ab::reshape(ab::zeros(ab::f32, {0, 4}), {4, 0}).shape(), ab::Shape({4, 0}));
}

TEST(Shapes, OtherPlaces) {
  expect_values([] { return ab::permute_dims(x(), {1, 0}); }, ints({3, 2}), {0, 3, 1, 4, 2, 5});
  expect_values([] { return ab::matrix_transpose(x()); }, ints({3, 2}), {0, 3, 1, 4, 2, 5});
  expect_values([] { return ab::flip(x(), 1); }, ints({2, 3}), {2, 1, 0, 5, 4, 3});
  expect_values([] { return ab::flip(x()); }, ints({2, 3}), {5, 4, 3, 2, 1, 0});
  expect_values(
      [] {
        return ab::broadcast_to(ab::array({1, 2}, {2, 1}), {2, 2});
      },
      ints({2, 2}), {1, 1, 2, 2});
}

TEST(Shapes, PartsAndWholes) {
  expect_values([] { return ab::slice(x(), {0, 1}, {2, 3}); }, ints({2, 2}), {1, 2, 4, 5});
  expect_values([] { return ab::slice(x(), {0, 0}, {2, 3}, {1, 2}); }, ints({2, 2}), {0, 2, 3, 5});
  expect_values([] { return ab::index(x(), -1); }, ints({3}), {3, 4, 5});
  expect_values([] { return ab::index(x(), 1, -1); }, ints({2}), {1, 4});
  expect_values(
      [] {
        return ab::concat({x(), x()}, 1);
      },
      ints({2, 6}), {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  expect_values(
      [] {
        return ab::concat(std::vector<ab::Array>{x(), x()});
      },
      ints({4, 3}), {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  expect_values(
      [] {
        return ab::stack({ab::array({1, 2}), ab::array({3, 4})}, -1);
      },
      ints({2, 2}), {1, 3, 2, 4});
  expect_values([] { return ab::pad(ab::array({1, 2}), {1}, {2}, 7); }, ints({5}), {7, 1, 2, 7, 7});
  expect_values([] { return ab::pad(ab::array({1, 2, 3}), {-1}, {0}); }, ints({2}), {2, 3});
}

TEST(Creation, FromValues) {
  EXPECT_EQ(ab::array(std::vector<double>{1, 2}).dtype(), ab::f64);
  EXPECT_EQ(ab::array(std::vector<bool>{true, false}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  const float raw[] = {1, 2, 3, 4};
  EXPECT_EQ(ab::array(std::span<const float>(raw), {2, 2}).shape(), ab::Shape({2, 2}));
  EXPECT_EQ(ab::scalar(2.5f).item<float>(), 2.5f);
  EXPECT_EQ(ab::scalar(3, ab::u8).item<std::uint8_t>(), 3);
}

TEST(Creation, FromRowsAndRanges) {
  EXPECT_EQ(ab::to_string(ab::array({{1, 2}, {3, 4}})), "[[1 2]\n [3 4]]");
  EXPECT_EQ(ab::array({1.f, 2.f, 3.f}).shape(), ab::Shape({3}));
  EXPECT_EQ(ab::array({1, 2, 3}, ab::f64).to_vector<double>(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(ab::array({1, 2, 3, 4}, {2, 2}, ab::u8).dtype(), ab::u8);
  EXPECT_EQ(ab::array(std::array{1.0f, 2.0f}).dtype(), ab::f32);
  const double raw[] = {1, 2, 3, 4};
  EXPECT_EQ(ab::array(raw, {2, 2}).dtype(), ab::f64);
  std::vector<float> values(6);
  const std::size_t rows = 2;
  EXPECT_EQ(ab::array(values, {rows, values.size() / rows}).shape(), ab::Shape({2, 3}));
  EXPECT_EQ(ab::array(std::span<float>(values)).shape(), ab::Shape({6}));
  EXPECT_EQ(ab::array(std::vector<ab::Float16>{ab::Float16(0.5f)}).item<ab::Float16>(), 0.5f);
}

TEST(Creation, ShapeAndDtypeInEitherOrder) {
  expect_values([] { return ab::zeros({1, 2}); }, floats({1, 2}), {0, 0});
  expect_values([] { return ab::zeros({2}, ab::i32); }, ints({2}), {0, 0});
  expect_values([] { return ab::zeros(2, ab::i32); }, ints({2}), {0, 0});
  expect_values([] { return ab::ones({2}); }, floats({2}), {1, 1});
  expect_values([] { return ab::ones({}, ab::i32); }, ints({}), {1});
  expect_values([] { return ab::full({2}, 7, ab::f32); }, floats({2}), {7, 7});
  expect_values([] { return ab::full(2, 7); }, ints({2}), {7, 7});
  expect_values([] { return ab::ones_like(x(), ab::f32); }, floats({2, 3}), {1, 1, 1, 1, 1, 1});
  expect_values([] { return ab::arange(1, 4, ab::f32); }, floats({3}), {1, 2, 3});
  expect_values([] { return ab::eye(2, ab::i32); }, ints({2, 2}), {1, 0, 0, 1});
}

TEST(Creation, BorrowedMemoryIsReadInPlaceAndHandedBack) {
  bool released = false;
  std::vector<float> memory = {1, 2, 3};
  {
    ab::Array x = ab::borrow(memory.data(), {3},
                             [&](const float* data) { released = data == memory.data(); });
    EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{2, 3, 4}));
    EXPECT_FALSE(released);
  }
  ab::wait_all();
  EXPECT_TRUE(released);
}

TEST(Creation, FromNothing) {
  expect_values([] { return ab::zeros(ab::i32, {2}); }, ints({2}), {0, 0});
  expect_values([] { return ab::ones(ab::f32, {2}); }, floats({2}), {1, 1});
  expect_values([] { return ab::full({2}, 2.5f); }, floats({2}), {2.5, 2.5});
  expect_values([] { return ab::full(ab::i32, {2}, 7); }, ints({2}), {7, 7});
  expect_values([] { return ab::zeros_like(x()); }, ints({2, 3}), {0, 0, 0, 0, 0, 0});
  expect_values([] { return ab::full_like(ab::array({1, 2}), 9); }, ints({2}), {9, 9});
  expect_values([] { return ab::arange(4); }, ints({4}), {0, 1, 2, 3});
  expect_values([] { return ab::arange(2, 9, 3); }, ints({3}), {2, 5, 8});
  expect_values([] { return ab::arange(1, 0, -0.25f); }, floats({4}), {1, 0.75, 0.5, 0.25});
  expect_values([] { return ab::arange(3, ab::f32); }, floats({3}), {0, 1, 2});
  expect_values([] { return ab::linspace(0, 1, 5); }, floats({5}), {0, 0.25, 0.5, 0.75, 1});
  expect_values([] { return ab::linspace(0, 1, 4, ab::f32, false); }, floats({4}),
                {0, 0.25, 0.5, 0.75});
  expect_values([] { return ab::linspace(2, 3, 1); }, floats({1}), {2});
  expect_values([] { return ab::eye(2); }, floats({2, 2}), {1, 0, 0, 1});
  expect_values([] { return ab::eye(2, 3, 1, ab::i32); }, ints({2, 3}), {0, 1, 0, 0, 0, 1});
  expect_values([] { return ab::tril(x()); }, ints({2, 3}), {0, 0, 0, 3, 4, 0});
  expect_values([] { return ab::triu(x(), 1); }, ints({2, 3}), {0, 1, 2, 0, 0, 5});
}

TEST(Creation, AnEyeOfANegativeSizeIsNone) {
  EXPECT_EQ(ab::eye(2).shape(), ab::Shape({2, 2}));
  EXPECT_EQ(ab::eye(2, -1).shape(), ab::Shape({2, 2}));
  EXPECT_THROW(ab::eye(2, -5), ab::Error);
}

TEST(Shapes, RangesOfLargeIntegersAreExact) {
  constexpr std::int64_t large = std::int64_t{1} << 53, top = INT64_MAX;
  EXPECT_EQ(ab::arange(large + 1, large + 7, 2).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{large + 1, large + 3, large + 5}));
  EXPECT_EQ(ab::arange(top - 7, top, 3).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{top - 7, top - 4, top - 1}));
  EXPECT_EQ(ab::arange(4 * large + 1, 4 * large + 3).shape(), ab::Shape({2}));
  EXPECT_EQ(ab::arange(3, -3, -2).to_vector<int>(), (std::vector<int>{3, 1, -1}));
  EXPECT_EQ(ab::arange(3, -4, -2).to_vector<int>(), (std::vector<int>{3, 1, -1, -3}));
  EXPECT_EQ(ab::arange(3, 3).shape(), ab::Shape({0}));
  EXPECT_EQ(ab::arange(3, 1).shape(), ab::Shape({0}));
}

TEST(Shapes, MatricesOfBoolsAndOfADtype) {
  const ab::Array mask = ab::array({{true, false}, {false, true}});
  EXPECT_EQ(mask.type(), (ab::Type{ab::bool_, {2, 2}}));
  EXPECT_EQ(mask.astype(ab::i32).to_vector<int>(), (std::vector<int>{1, 0, 0, 1}));
  expect_values(
      [] {
        return ab::array({{1.5, 2.0}, {3.0, 4.0}}, ab::f16);
      },
      {ab::f16, {2, 2}}, {1.5, 2, 3, 4});
}

TEST(Shapes, BoolsArePaddedWithFalse) {
  const auto x = [] { return ab::array({true, true}); };
  expect_values([&] { return ab::pad(x(), {1}, {1}); }, {ab::bool_, {4}}, {0, 1, 1, 0});
  expect_values([&] { return ab::pad(x(), {1}, {0}, true); }, {ab::bool_, {3}}, {1, 1, 1});
  EXPECT_THROW(ab::pad(x(), {1}, {1}, 2), ab::Error);
}

TEST(Creation, RangesOfStepsThatTheDtypeDoesNotHold) {
  expect_values([] { return ab::arange(5, 0, -1, ab::u32); }, {ab::u32, {5}}, {5, 4, 3, 2, 1});
  expect_values([] { return ab::arange(255, -1, -85, ab::u8); }, {ab::u8, {4}}, {255, 170, 85, 0});
  expect_values([] { return ab::arange(-100, 101, 200, ab::i8); }, {ab::i8, {2}}, {-100, 100});
  EXPECT_EQ(ab::arange(UINT64_MAX, UINT64_MAX - 2, -1, ab::u64).to_vector<std::uint64_t>(),
            (std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX - 1}));
  EXPECT_THROW(ab::arange(1, -2, -1, ab::u32), ab::Error);
}

}  // namespace
