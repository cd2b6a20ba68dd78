// The dtype that two arrays, or an array and a number, come to.
#include "tests/support/values.h"

namespace {

using ab::Dtype;

Dtype sum_of(Dtype a, Dtype b) { return (ab::zeros(a, {2}) + ab::zeros(b, {2})).dtype(); }

TEST(Promote, ArraysOfOneKindFollowTheArrayApiTable) {
  struct Row {
    Dtype a, b, result;
  };
  const Row rows[] = {
      {ab::f32, ab::f64, ab::f64},  {ab::f16, ab::f32, ab::f32}, {ab::f16, ab::bf16, ab::f32},
      {ab::bf16, ab::f32, ab::f32}, {ab::i8, ab::i16, ab::i16},  {ab::i32, ab::i64, ab::i64},
      {ab::u8, ab::u32, ab::u32},   {ab::i8, ab::u8, ab::i16},   {ab::i16, ab::u8, ab::i16},
      {ab::i32, ab::u16, ab::i32},  {ab::i16, ab::u16, ab::i32}, {ab::u32, ab::i32, ab::i64},
      {ab::i64, ab::u32, ab::i64},  {ab::f32, ab::f32, ab::f32},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(sum_of(row.a, row.b), row.result) << name(row.a) << " " << name(row.b);
    EXPECT_EQ(sum_of(row.b, row.a), row.result) << name(row.b) << " " << name(row.a);
  }
}

TEST(Promote, ArraysOfDifferentKindsDoNotMix) {
  EXPECT_THROW(sum_of(ab::i32, ab::f32), ab::Error);
  EXPECT_THROW(sum_of(ab::u64, ab::i64), ab::Error);
  EXPECT_THROW(ab::zeros(ab::bool_, {1}) == ab::zeros(ab::i32, {1}), ab::Error);
}

// What is made of C++ numbers alone takes the dtype of what it meets, and keeps its own where it
// meets numbers.
TEST(Promote, ArraysOfNumbersKeepTheirDtypeInFunctionsOfSeveralSteps) {
  const ab::Array is_left = ab::arange(4) < 2;
  for (const auto& [made, dtype] : {std::pair(ab::where(is_left, 0.3f, 1.0f), ab::f32),
                                    std::pair(ab::where(is_left, 0.25, 1.0), ab::f64)}) {
    for (const ab::Array& x : {ab::mean(made), ab::var(made), ab::stddev(made), ab::softmax(made),
                               ab::gelu(made), ab::logsumexp(made)}) {
      EXPECT_EQ(x.dtype(), dtype);
    }
    EXPECT_EQ((ab::mean(made) * ab::ones(ab::f16, {1})).dtype(), ab::f16);
  }
  EXPECT_EQ(ab::mean(ab::where(is_left, 0.5f, 1.0f)).item<float>(), 0.75f);
}

TEST(Promote, NumbersTakeTheDtypeOfTheArray) {
  for (Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    EXPECT_EQ((ab::zeros(dtype, {1}) * 2.5).dtype(), dtype);
    EXPECT_EQ((2 * ab::zeros(dtype, {1})).dtype(), dtype);
  }
  for (Dtype dtype : {ab::i8, ab::u8, ab::i64, ab::u64}) {
    EXPECT_EQ((1 + ab::zeros(dtype, {1})).dtype(), dtype);
  }
}

TEST(Promote, NumbersThatAnArrayCannotHoldAreErrors) {
  EXPECT_THROW(ab::zeros(ab::i32, {1}) + 0.5, ab::Error);
  EXPECT_THROW(ab::zeros(ab::u8, {1}) + 256, ab::Error);
  EXPECT_THROW(ab::zeros(ab::u8, {1}) + -1, ab::Error);
  EXPECT_THROW(ab::zeros(ab::bool_, {1}) & 2, ab::Error);
}

TEST(Promote, NumbersPassedToJitTakeTheDtypeOfWhatTheyMeet) {
  auto scale = ab::jit([](ab::Array x, ab::Array rate) { return x * (1 - rate); });
  EXPECT_EQ(scale(ab::ones(ab::f32, {2}), 0.5).dtype(), ab::f32);
  EXPECT_EQ(scale(ab::ones(ab::f32, {2}), 0.5).to_vector<float>(),
            (std::vector<float>{0.5f, 0.5f}));
  EXPECT_EQ(scale(ab::ones(ab::f64, {2}), 0.5f).dtype(), ab::f64);
}

TEST(Promote, AstypeMakesNumbersAnArray) {
  const ab::Array numbers = ab::where(ab::arange(4) > 1, 0.3f, 1.0f);
  EXPECT_EQ((numbers * ab::zeros({4}, ab::f16)).dtype(), ab::f16);
  EXPECT_EQ((numbers.astype(ab::f32) * ab::zeros({4}, ab::f16)).dtype(), ab::f32);
  EXPECT_EQ(ab::mean(numbers.astype(ab::f32)).dtype(), ab::f32);
}

TEST(Promote, ShapesBroadcastAsInNumpy) {
  expect_values(
      [] {
        return ab::array({1.0f, 2.0f}, {2, 1}) + ab::array({10.0f, 20.0f, 30.0f});
      },
      {ab::f32, {2, 3}}, {11, 21, 31, 12, 22, 32});
  EXPECT_EQ((ab::zeros(ab::f32, {3, 1, 5}) + ab::zeros(ab::f32, {4, 1})).shape(),
            ab::Shape({3, 4, 5}));
  EXPECT_EQ((ab::zeros(ab::f32, {0, 1}) + ab::zeros(ab::f32, {1, 2})).shape(), ab::Shape({0, 2}));
}

}  // namespace
