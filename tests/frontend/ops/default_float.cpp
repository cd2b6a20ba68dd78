// A C++ double that is written down makes an array of the default float, as zeros does; memory of
// doubles stays f64.
#include <array>

#include "tests/support/values.h"

namespace {

TEST(DefaultFloat, IsWhatWrittenDoublesMake) {
  EXPECT_EQ(ab::default_float, ab::zeros({1}).dtype());
  const ab::Array made[] = {ab::full({3}, 1.0),
                            ab::scalar(1.0),
                            ab::array({1.0, 2.0}),
                            ab::array({1.0, 2.0}, {2, 1}),
                            ab::array({{1.0, 2.0}, {3.0, 4.0}}),
                            ab::arange(3.0),
                            ab::arange(0, 1, 0.25),
                            ab::linspace(0.0, 1.0, 3),
                            ab::ones_like(1.0)};
  for (const ab::Array& array : made) {
    EXPECT_EQ(array.dtype(), ab::f32);
    EXPECT_EQ((array + ab::zeros(array.shape())).dtype(), ab::f32);
  }
  EXPECT_EQ(ab::array({0.1, HUGE_VAL, -2.5}, {3}).to_vector<float>(),
            (std::vector<float>{0.1f, INFINITY, -2.5f}));
}

TEST(DefaultFloat, IsNotWhatAGivenDtypeMakes) {
  // Converted once, from the double.
  EXPECT_EQ(ab::full({1}, 0.1, ab::f64).item<double>(), 0.1);
  EXPECT_EQ(ab::full(ab::f64, {1}, 0.1).item<double>(), 0.1);
  EXPECT_EQ(ab::full_like(ab::zeros(ab::f64, {1}), 0.1).item<double>(), 0.1);
  EXPECT_EQ(ab::scalar(0.1, ab::f64).item<double>(), 0.1);
  EXPECT_EQ(ab::array({0.1}, ab::f64).item<double>(), 0.1);
  EXPECT_EQ(ab::array({0.1}, {1, 1}, ab::f64).item<double>(), 0.1);
  EXPECT_EQ(ab::arange(0.1, 1.0, ab::f64).item<double>(), 0.1);
}

TEST(DefaultFloat, IsNotWhatMemoryOfDoublesMakes) {
  const std::vector<double> values = {0.1, 0.2};
  const double list[] = {0.1, 0.2};
  EXPECT_EQ(ab::array(values).to_vector<double>(), values);
  EXPECT_EQ(ab::array(std::array{0.1, 0.2}).to_vector<double>(), values);
  EXPECT_EQ(ab::array(list).to_vector<double>(), values);
  EXPECT_EQ(ab::borrow(values.data(), {2}, [] {}).dtype(), ab::f64);
}

TEST(DefaultFloat, LeavesOtherNumbersTheirTypes) {
  EXPECT_EQ(ab::full({3}, 1.0f).dtype(), ab::f32);
  EXPECT_EQ(ab::full({3}, 1).dtype(), ab::i32);
  EXPECT_EQ(ab::full({3}, std::uint64_t{1}).dtype(), ab::u64);
  EXPECT_EQ(ab::full({3}, true).dtype(), ab::bool_);
  EXPECT_EQ(ab::full({3}, ab::Float16(1.0f)).dtype(), ab::f16);
  EXPECT_EQ(ab::full({3}, ab::scalar(1.0, ab::f64)).dtype(), ab::f64);
  EXPECT_EQ(ab::arange(3).dtype(), ab::i32);
}

TEST(DefaultFloat, RefusesANumberBeyondIt) {
  for (auto make : {+[] { return ab::full({3}, 1e300); }, +[] { return ab::scalar(-1e39); },
                    +[] {
                      return ab::array({1.0, 1e300});
                    }}) {
    try {
      make();
      ADD_FAILURE() << "no error";
    } catch (const ab::Error& error) {
      EXPECT_NE(std::string(error.what()).find("beyond f32, the default float; give the dtype"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(ab::scalar(HUGE_VAL).item<float>(), INFINITY);
}

// Numbers beside a mask are numbers alone: they take the dtype of what they meet.
TEST(DefaultFloat, NumbersThatAreSelectedStayWeak) {
  const ab::Array mask = ab::array(std::vector<bool>{true, false});
  EXPECT_EQ((ab::where(mask, 0.1, 1.0) + ab::zeros({2})).dtype(), ab::f32);
  EXPECT_EQ((ab::where(mask, 0.1, 1.0) + ab::zeros(ab::f64, {2})).to_vector<double>(),
            (std::vector<double>{0.1, 1}));
  EXPECT_EQ(ab::where(mask, ab::scalar(1.0, ab::f64), 0).dtype(), ab::f64);
}

}  // namespace
