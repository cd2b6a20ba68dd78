// The dtype that lists of operands come to: those of concat, stack and einsum.
#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

ab::Array one(ab::Dtype dtype) { return ab::ones(dtype, {1}); }

TEST(PromoteList, NumbersTakeTheDtypeOfTheArrays) {
  const auto x = [] { return ab::scalar(0.5f); };
  expect_values([&] { return ab::stack({x(), 2.0}); }, {ab::f32, {2}}, {0.5, 2});
  expect_values([&] { return ab::stack({x(), 1}); }, {ab::f32, {2}}, {0.5, 1});
  expect_values([&] { return ab::stack({0, x()}); }, {ab::f32, {2}}, {0, 0.5});
  expect_values([] { return ab::stack({ab::scalar(5, ab::i8), 1}); }, {ab::i8, {2}}, {5, 1});
  expect_error(
      [] {
        ab::stack({ab::scalar(5, ab::i8), 300});
      },
      "stack: i8 cannot stand for the number 300");
}

TEST(PromoteList, MessagesNameARemedyThatCompiles) {
  const ab::Array x = ab::zeros({2}), is_set = x > 0;
  const std::string takes = ": bool[2] given to what takes real numbers, not bool; convert with ";
  expect_error([&] { ab::floor(is_set); }, "floor" + takes + ".astype(ab::i32)");
  expect_error([&] { ab::maximum(is_set, is_set); },
               "maximum: bool[2] and bool[2] given to what "
               "takes real numbers, not bool; convert with .astype(ab::i32)");
  expect_error([&] { ab::sort({x}, [](const std::vector<ab::Array>& s) { return s[0] - s[1]; }); },
               "sort: result 0 of the comparator is f32, and not bool; convert it with "
               ".astype(ab::bool_)");
  expect_error([] { ab::full({2}, 300, ab::u8); },
               "full: u8 cannot stand for the number 300; give a dtype that can");
}

TEST(PromoteList, NumbersFollowWhatAllArraysComeTo) {
  expect_values(
      [] {
        return ab::stack({300, ab::scalar(5, ab::i8), ab::scalar(6, ab::i16)});
      },
      {ab::i16, {3}}, {300, 5, 6});
  expect_values(
      [] {
        return ab::einsum(",i,i->i", {0.1, one(ab::f64), one(ab::f32)});
      },
      {ab::f64, {1}}, {0.1}, 1e-15);
  expect_values(
      [] {
        return ab::einsum(",i,i->i", {2, 100 * one(ab::u8), -one(ab::i8)});
      },
      {ab::i16, {1}}, {-200});
}

TEST(PromoteList, NumbersAloneStayNumbers) {
  const auto numbers = [] { return ab::stack({1, 2.5}); };
  expect_values(numbers, {ab::f64, {2}}, {1, 2.5});
  EXPECT_EQ((numbers() * one(ab::f16)).dtype(), ab::f16);
  EXPECT_EQ(ab::stack({ab::scalar(1.0f), std::complex<double>(0, 1)}).dtype(), ab::c64);
}

TEST(PromoteList, ArraysMeetAsOperandsDo) {
  expect_values(
      [] {
        return ab::concat({one(ab::u8), one(ab::i8), one(ab::u16)});
      },
      {ab::i32, {3}}, {1, 1, 1});
  expect_error(
      [] {
        ab::concat({one(ab::u8), one(ab::i8), one(ab::u64)});
      },
      "concat: dtypes do not mix: i8[1] and u64[1]; convert one with .astype(ab::");
  expect_error(
      [] {
        ab::stack({one(ab::f32), one(ab::i32)});
      },
      "stack: dtypes do not mix: f32[1] and i32[1]; convert one with .astype(ab::f32)");
  expect_error(
      [] {
        ab::einsum("i,i,i", {one(ab::f64), one(ab::f32), one(ab::i32)});
      },
      "einsum: dtypes do not mix: f64[1] and i32[1]");
}

}  // namespace
