// Subscripts, read and updated, against what NumPy gives.
#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

ab::Array cube() { return ab::reshape(ab::arange(24, ab::f32), {2, 3, 4}); }
ab::Array row() { return ab::arange(6, ab::f32); }

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Subscripts, NumbersAndRanges) {
  expect_values([] { return cube()(1, ab::all, -1); }, {ab::f32, {3}}, {15, 19, 23});
  expect_values([] { return cube()(ab::all, ab::range(1, 3), ab::range(0, 1)); },
                {ab::f32, {2, 2, 1}}, {4, 8, 16, 20});
  expect_values([] { return row()(ab::range(1, -1)); }, {ab::f32, {4}}, {1, 2, 3, 4});
  expect_values([] { return row()(ab::range(4)); }, {ab::f32, {2}}, {4, 5});
  expect_values([] { return row()(ab::range(-100, 100)); }, {ab::f32, {6}}, {0, 1, 2, 3, 4, 5});
  expect_values([] { return row()(ab::range(4, 2)); }, {ab::f32, {0}}, {});
  expect_values([] { return row()(ab::range(9)); }, {ab::f32, {0}}, {});
}

TEST(Subscripts, Steps) {
  expect_values([] { return row()(ab::range({}, {}, 2)); }, {ab::f32, {3}}, {0, 2, 4});
  expect_values([] { return row()(ab::range(1, {}, 3)); }, {ab::f32, {2}}, {1, 4});
  expect_values([] { return row()(ab::range({}, {}, -1)); }, {ab::f32, {6}}, {5, 4, 3, 2, 1, 0});
  expect_values([] { return row()(ab::range(4, 0, -2)); }, {ab::f32, {2}}, {4, 2});
  expect_values([] { return row()(ab::range(-2, {}, -2)); }, {ab::f32, {3}}, {4, 2, 0});
  expect_values([] { return row()(ab::range(2, 4, -1)); }, {ab::f32, {0}}, {});
  expect_values([] { return row()(ab::range({}, {}, INT64_MIN)); }, {ab::f32, {1}}, {5});
}

TEST(Subscripts, NewAxesAndEllipses) {
  expect_values([] { return row()(ab::newaxis, ab::all); }, {ab::f32, {1, 6}}, {0, 1, 2, 3, 4, 5});
  expect_values([] { return cube()(ab::ellipsis, 0); }, {ab::f32, {2, 3}}, {0, 4, 8, 12, 16, 20});
  expect_values([] { return cube()(1, ab::ellipsis, ab::newaxis, 3); }, {ab::f32, {3, 1}},
                {15, 19, 23});
  expect_values([] { return cube()(0, 0, 0, ab::ellipsis); }, {ab::f32, {}}, {0});
}

TEST(Subscripts, Arrays) {
  expect_values([] { return cube()(ab::array({1, 0, 1}), 0, 0); }, {ab::f32, {3}}, {12, 0, 12});
  expect_values(
      [] {
        return row()(ab::array({{5, -1}, {0, 2}}));
      },
      {ab::f32, {2, 2}}, {5, 5, 0, 2});
  // Pairs.
  expect_values(
      [] {
        return cube()(ab::array({0, 1}), ab::array({2, 0}));
      },
      {ab::f32, {2, 4}}, {8, 9, 10, 11, 12, 13, 14, 15});
  // A column of one with a row of the other.
  expect_values(
      [] {
        return cube()(ab::all, ab::array({{0}, {2}}), ab::array({3, 0}));
      },
      {ab::f32, {2, 2, 2}}, {3, 0, 11, 8, 15, 12, 23, 20});
  // Apart from each other: their axes come first.
  expect_values(
      [] {
        return cube()(ab::array({0, 1, 1}), ab::all, ab::array({0, 1, 2}));
      },
      {ab::f32, {3, 3}}, {0, 4, 8, 13, 17, 21, 14, 18, 22});
  expect_values(
      [] {
        return cube()(0, ab::all, ab::array({0, 2}));
      },
      {ab::f32, {2, 3}}, {0, 4, 8, 2, 6, 10});
  // With ranges beside them.
  expect_values([] { return cube()(ab::array({1}), ab::range({}, {}, -2), ab::range(1, 3)); },
                {ab::f32, {1, 2, 2}}, {21, 22, 13, 14});
  // Out of range: the nearest.
  expect_values([] { return row()(ab::array({9, -9, 3})); }, {ab::f32, {3}}, {5, 0, 3});
  expect_values([] { return cube()(ab::scalar(1), 1); }, {ab::f32, {4}}, {16, 17, 18, 19});
}

TEST(Subscripts, SayWhatIsWrong) {
  EXPECT_NE(refusal([] { return row()(0, 0); })
                .find("2 subscripts for the 1 axes of [6]; give at "
                      "most one per axis"),
            std::string::npos);
  EXPECT_NE(refusal([] { return row()(6); }).find("position 6 is out of range of axis 0 of [6]"),
            std::string::npos);
  EXPECT_NE(
      refusal([] { return row()(ab::range({}, {}, 0)); }).find("the step of a range is 0; give"),
      std::string::npos);
  EXPECT_NE(
      refusal([] { return row()(ab::ellipsis, ab::ellipsis); }).find("two ellipses; give one"),
      std::string::npos);
  EXPECT_NE(refusal([] { return row()(row() > 2); }).find("nonzero"), std::string::npos);
  EXPECT_NE(refusal([] { return row()(ab::any); }).find("other than ab::all"), std::string::npos);
  EXPECT_NE(refusal([] { return row()(row()); }).find("give integers"), std::string::npos);
}

TEST(At, SetsParts) {
  expect_values([] { return ab::at(row(), 1).set(9); }, {ab::f32, {6}}, {0, 9, 2, 3, 4, 5});
  expect_values(
      [] {
        return ab::at(row(), ab::range(1, 3)).set(ab::array({7.0f, 8.0f}));
      },
      {ab::f32, {6}}, {0, 7, 8, 3, 4, 5});
  expect_values(
      [] {
        return ab::at(row(), ab::range({}, {}, -2)).set(ab::array({7.0f, 8.0f, 9.0f}));
      },
      {ab::f32, {6}}, {0, 9, 2, 8, 4, 7});
  expect_values(
      [] {
        return ab::at(ab::zeros({2, 3}), ab::all, 1).set(ab::array({1.0f, 2.0f}));
      },
      {ab::f32, {2, 3}}, {0, 1, 0, 0, 2, 0});
  expect_values(
      [] {
        return ab::at(ab::zeros({2, 3}), ab::array({1, 0}), ab::array({2, 0})).set(5);
      },
      {ab::f32, {2, 3}}, {5, 0, 0, 0, 0, 5});
}

TEST(At, Combines) {
  expect_values(
      [] {
        return ab::at(row(), ab::array({1, 1, -1})).add(10);
      },
      {ab::f32, {6}}, {0, 21, 2, 3, 4, 15});
  expect_values([] { return ab::at(row(), ab::range(2, 4)).multiply(2); }, {ab::f32, {6}},
                {0, 1, 4, 6, 4, 5});
  expect_values(
      [] {
        return ab::at(row(), ab::array({1, 4})).min(2);
      },
      {ab::f32, {6}}, {0, 1, 2, 3, 2, 5});
  expect_values([] { return ab::at(row(), ab::all).max(3); }, {ab::f32, {6}}, {3, 3, 3, 3, 4, 5});
  expect_values(
      [] {
        return ab::at(row(), ab::array({8, -7, 0})).add(1);
      },
      {ab::f32, {6}}, {1, 1, 2, 3, 4, 5});
  expect_values([] { return ab::at(row(), ab::array({8, 2})).get(); }, {ab::f32, {2}}, {5, 2});
}

TEST(At, TakesBools) {
  expect_values([] { return ab::at(row(), row() > 3).set(0); }, {ab::f32, {6}}, {0, 1, 2, 3, 0, 0});
  expect_values(
      [] {
        return ab::at(ab::ones({2, 2}), ab::array({false, true})).add(ab::array({1.0f, 2.0f}));
      },
      {ab::f32, {2, 2}}, {1, 1, 2, 3});
  EXPECT_NE(refusal([] {
              return ab::at(cube(), ab::array({true, false, true})).set(0);
            }).find("are not of the first axes"),
            std::string::npos);
}

TEST(At, SaysWhatDoesNotFit) {
  EXPECT_NE(refusal([] { return ab::at(row(), ab::range(0, 2)).set(ab::ones({3})); }).find("at: "),
            std::string::npos);
  EXPECT_NE(
      refusal([] { return ab::at(row(), 0).set(ab::array({1})[0]); }).find("i32[] for a part of"),
      std::string::npos);
}

TEST(At, SaysWhatDoesNotFitUnderAMask) {
  const ab::Array value = ab::scalar(1.0, ab::f64);
  const std::string wanted = "at: f64[] for a part of f32[6]; convert it with .astype(ab::f32)";
  expect_error([&] { ab::at(row(), row() > 3).set(value); }, wanted);
  expect_error([&] { ab::at(row(), row() > 3).add(value); }, wanted);
}

}  // namespace
