// check_nans says which op gave the first NaN, and where.
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckNans, NamesTheOpAndTheLine) {
  const auto f = [](Array x) { return ab::sum(ab::sqrt(x) * 2); };
  const Array good = ab::array({1.0f, 4.0f}), bad = ab::array({1.0f, -4.0f});
  expect_close(doubles(ab::check_nans(f)(good)), {6}, 1e-6, "checked");
  const std::string text = message_of([&] { ab::check_nans(f)(bad); });
  EXPECT_EQ(text, "check_nans: sqrt gives a NaN, f32[2] of f32[2], at check_nans.cpp:21") << text;
}

TEST(CheckNans, LooksAtTheBackwardPass) {
  // sqrt(0) is 0, and its derivative 0 times infinity.
  const auto f = [](Array x) { return ab::sum(ab::sqrt(x * x)); };
  const Array x = ab::array({1.0f, 0.0f});
  ab::check_nans(f)(x);
  const std::string text = message_of([&] { ab::check_nans(ab::grad(f))(x); });
  EXPECT_EQ(text.rfind("check_nans: multiply gives a NaN, f32[2] of f32[2] x f32[2], at "
                       "check_nans.cpp:30",
                       0),
            0u)
      << text;
}

TEST(CheckNans, NamesTheTurnOfALoop) {
  const auto f = [](Array x) {
    return ab::fori_loop(
        0, 5, [](const Array&, Array y) { return ab::log(y); }, x);
  };
  const std::string text = message_of([&] { ab::check_nans(f)(2.0f); });
  EXPECT_EQ(text,
            "check_nans: log gives a NaN, f32[] of f32[], at check_nans.cpp:44, in turn 2 of the "
            "loop, at check_nans.cpp:43")
      << text;
}

TEST(CheckNans, SaysWhatHeldOneBefore) {
  const auto f = [](Array x) { return x + 1; };
  const std::string text = message_of([&] { ab::check_nans(f)(ab::scalar(std::nanf(""))); });
  EXPECT_EQ(text.rfind("check_nans: argument 0 holds a NaN already, at check_nans.cpp:", 0), 0u)
      << text;
  expect_close(doubles(ab::jit(ab::check_nans(f))(1.0f)), {2}, 1e-6, "jitted");
}

}  // namespace
