// The interpreter on floats: special values, one rounding per op, conversions that saturate.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op.h"
#include "ir/scalar.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Literal floats(const std::vector<double>& values) {
  std::vector<T> converted;
  for (double value : values) converted.push_back(convert_scalar<T>(value));
  return row<T>(converted);
}

// The numbers, so that NaN equals NaN and -0 differs from 0.
std::vector<std::string> words(const Literal& literal) {
  std::vector<std::string> result;
  visit_dtype(literal.type().dtype, [&]<class T>() {
    for (T value : literal.values<T>()) {
      const auto number = static_cast<double>(value);
      result.push_back(std::isnan(number) ? "nan" : std::to_string(number));
    }
  });
  return result;
}

template <class T>
class FloatOps : public testing::Test {};
using Floats = testing::Types<Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(FloatOps, Floats);

TYPED_TEST(FloatOps, MaximumAndMinimumSeeNanAndTheSignOfZero) {
  using T = TypeParam;
  const Literal x = floats<T>({0.0, -0.0, nan, 1, -inf, 2});
  const Literal y = floats<T>({-0.0, 0.0, 1, nan, inf, 3});
  EXPECT_EQ(words(apply(Op::maximum, {x, y})), words(floats<T>({0.0, 0.0, nan, nan, inf, 3})));
  EXPECT_EQ(words(apply(Op::minimum, {x, y})), words(floats<T>({-0.0, -0.0, nan, nan, -inf, 2})));
  EXPECT_EQ(words(apply(Op::clamp, {floats<T>({0, 0, nan, 5}), floats<T>({-1, nan, 0, 9}),
                                    floats<T>({1, 1, 1, 3})})),
            words(floats<T>({0, nan, nan, 3})));
}

TYPED_TEST(FloatOps, Comparisons) {
  using T = TypeParam;
  const Literal x = floats<T>({1, 2, nan, 0.0});
  const Literal y = floats<T>({2, 2, nan, -0.0});
  const auto compared = [&](Comparison direction) {
    return apply(Op::compare, {x, y}, CompareAttributes{direction});
  };
  EXPECT_EQ(compared(Comparison::eq), row({false, true, false, true}));
  EXPECT_EQ(compared(Comparison::ne), row({true, false, true, false}));
  EXPECT_EQ(compared(Comparison::lt), row({true, false, false, false}));
  EXPECT_EQ(compared(Comparison::le), row({true, true, false, true}));
  EXPECT_EQ(compared(Comparison::gt), row({false, false, false, false}));
  EXPECT_EQ(compared(Comparison::ge), row({false, true, false, true}));
}

TYPED_TEST(FloatOps, SignsAndRoundings) {
  using T = TypeParam;
  const Literal x = floats<T>({2.5, -2.5, 0.5, -0.5, 1.25, -0.0, inf, nan});
  EXPECT_EQ(words(apply(Op::floor, {x})), words(floats<T>({2, -3, 0, -1, 1, -0.0, inf, nan})));
  EXPECT_EQ(words(apply(Op::ceil, {x})), words(floats<T>({3, -2, 1, -0.0, 2, -0.0, inf, nan})));
  EXPECT_EQ(words(apply(Op::round_nearest_even, {x})),
            words(floats<T>({2, -2, 0, -0.0, 1, -0.0, inf, nan})));
  EXPECT_EQ(words(apply(Op::round_nearest_afz, {x})),
            words(floats<T>({3, -3, 1, -1, 1, -0.0, inf, nan})));
  EXPECT_EQ(words(apply(Op::sign, {x})), words(floats<T>({1, -1, 1, -1, 1, -0.0, 1, nan})));
  EXPECT_EQ(words(apply(Op::abs, {x})),
            words(floats<T>({2.5, 2.5, 0.5, 0.5, 1.25, 0.0, inf, nan})));
  EXPECT_EQ(words(apply(Op::negate, {x})),
            words(floats<T>({-2.5, 2.5, -0.5, 0.5, -1.25, 0.0, -inf, nan})));
  EXPECT_EQ(apply(Op::is_finite, {x}), row({true, true, true, true, true, true, false, false}));
}

TYPED_TEST(FloatOps, ArithmeticOfSpecialValues) {
  using T = TypeParam;
  const Literal x = floats<T>({inf, 0, -7, 7, 5, -0.0});
  const Literal y = floats<T>({-inf, 0, 3, -3, inf, 5});
  EXPECT_EQ(words(apply(Op::add, {x, y})), words(floats<T>({nan, 0, -4, 4, inf, 5})));
  EXPECT_EQ(words(apply(Op::divide, {x, y})),
            words(floats<T>({nan, nan, -7.0 / 3, -7.0 / 3, 0, -0.0})));
  EXPECT_EQ(words(apply(Op::remainder, {x, y})), words(floats<T>({nan, nan, -1, 1, 5, -0.0})));
  EXPECT_EQ(words(apply(Op::sqrt, {floats<T>({4, -1, -0.0, inf})})),
            words(floats<T>({2, nan, -0.0, inf})));
}

// Each op and a value known in closed form.
TYPED_TEST(FloatOps, ApproximateOpsAtKnownPoints) {
  using T = TypeParam;
  struct Row {
    Op op;
    double x, result;
  };
  const Row rows[] = {
      {Op::rsqrt, 4, 0.5},
      {Op::rsqrt, 0, inf},
      {Op::cbrt, -27, -3},
      {Op::exponential, 0, 1},
      {Op::exponential, -inf, 0},
      {Op::exponential, 1, std::exp(1.0)},
      {Op::exponential_minus_one, -0.0, -0.0},
      {Op::exponential_minus_one, 1, std::exp(1.0) - 1},
      {Op::log, 1, 0},
      {Op::log, 0, -inf},
      {Op::log, -1, nan},
      {Op::log_plus_one, 1, std::log(2.0)},
      {Op::log_plus_one, -1, -inf},
      {Op::logistic, 0, 0.5},
      {Op::logistic, -inf, 0},
      {Op::sine, 0.5, 0.479425538604203},
      {Op::sine, inf, nan},
      {Op::cosine, 0.5, 0.8775825618903728},
      {Op::tan, 0.5, 0.5463024898437905},
      {Op::asin, 0.5, 0.5235987755982989},
      {Op::asin, 2, nan},
      {Op::acos, 0.5, 1.0471975511965979},
      {Op::atan, 1, 0.7853981633974483},
      {Op::sinh, 1, 1.1752011936438014},
      {Op::cosh, 1, 1.5430806348152437},
      {Op::tanh, 1, 0.7615941559557649},
      {Op::tanh, -inf, -1},
      {Op::asinh, 1, 0.881373587019543},
      {Op::acosh, 2, 1.3169578969248166},
      {Op::acosh, 0.5, nan},
      {Op::atanh, 0.5, 0.5493061443340549},
      {Op::atanh, 1, inf},
      {Op::erf, 0.5, 0.5204998778130465},
      {Op::erf, inf, 1},
      {Op::erf_inv, 0.5, 0.4769362762044699},
      {Op::erf_inv, -1, -inf},
      {Op::erf_inv, 1.5, nan},
      {Op::erf_inv, -0.0, -0.0},
  };
  for (const Row& known : rows) {
    const Literal result = apply(known.op, {floats<T>({known.x})});
    EXPECT_EQ(words(result), words(floats<T>({known.result}))) << name(known.op) << " " << known.x;
  }
}

TYPED_TEST(FloatOps, AnglesAndPowers) {
  using T = TypeParam;
  EXPECT_EQ(words(apply(Op::atan2, {floats<T>({1, 0.0, -0.0, 0.0}), floats<T>({-1, -1, -1, 1})})),
            words(floats<T>({2.356194490192345, M_PI, -M_PI, 0.0})));
  EXPECT_EQ(words(apply(Op::power,
                        {floats<T>({2, 0, -8, -2, nan, 2}), floats<T>({10, 0, 0.5, 3, 0, -1})})),
            words(floats<T>({1024, 1, nan, -8, 1, 0.5})));
}

TYPED_TEST(FloatOps, InverseErfUndoesErf) {
  using T = TypeParam;
  std::vector<double> arguments = {1e-30, 1e-8, 0.01, 0.3, 0.49, 0.51, 0.7, 0.9, 0.99, 0.999};
  if (sizeof(T) >= 4) arguments.insert(arguments.end(), {0.99999, 1 - 0x1p-24});
  if (sizeof(T) == 8) arguments.insert(arguments.end(), {1 - 1e-10, 1 - 0x1p-53, 1e-300});
  for (double argument : arguments) {
    const T x = convert_scalar<T>(argument);
    const T y = apply(Op::erf_inv, {row<T>({x})}).template values<T>()[0];
    // erf is flat near 1: one ULP of y moves 1 - erf(y) by a relative 2 y ULP.
    const auto wide = static_cast<long double>(static_cast<double>(y));
    const auto exact = static_cast<long double>(static_cast<double>(x));
    const long double residual =
        exact > 0.5L ? std::erfc(wide) / (1 - exact) - 1 : std::erf(wide) / exact - 1;
    const double epsilon = sizeof(T) == 8       ? 0x1p-52
                           : sizeof(T) == 4     ? 0x1p-23
                           : dtype_of<T> == f16 ? 0x1p-10
                                                : 0x1p-7;
    if (static_cast<double>(x) == 0 || exact >= 1) continue;  // f16 and bf16 round some to 0 or 1
    if (static_cast<double>(y) < 1e-7 && dtype_of<T> == f16) continue;  // subnormal
    const auto slope = static_cast<double>(2 * wide * wide + 1);
    EXPECT_LE(std::fabs(static_cast<double>(residual)), slope * epsilon) << argument;
  }
}

TEST(Interpret, NarrowFloatsRoundOnceEveryOp) {
  // 2048 + 1 is a tie in f16, 256 + 1 in bf16: to even, each time.
  const Literal one = floats<Float16>({1});
  const Literal big = floats<Float16>({2048});
  EXPECT_EQ(apply(Op::add, {apply(Op::add, {big, one}), one}), big);
  EXPECT_EQ(apply(Op::add, {floats<BFloat16>({256}), floats<BFloat16>({1})}),
            floats<BFloat16>({256}));
  EXPECT_EQ(apply(Op::multiply, {floats<Float16>({60000}), floats<Float16>({2})}),
            floats<Float16>({inf}));
  // exp(0.4) lies so near a tie of bf16 that nothing but one rounding gets it right from f32.
  EXPECT_EQ(apply(Op::exponential, {floats<BFloat16>({0.5})}), floats<BFloat16>({std::exp(0.5)}));
}

TEST(Interpret, FloatToIntegerSaturates) {
  const Literal x = row<float>({3.9f, -3.9f, 1e30f, -1e30f, NAN, 2147483648.0f, -0.5f});
  const auto to = [&](Dtype dtype) {
    return apply(Op::convert, {x}, NoAttributes{}, Type{dtype, {7}});
  };
  constexpr auto i64_max = std::numeric_limits<std::int64_t>::max();
  constexpr auto i64_min = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(to(i8), row<std::int8_t>({3, -3, 127, -128, 0, 127, 0}));
  EXPECT_EQ(to(u8), row<std::uint8_t>({3, 0, 255, 0, 0, 255, 0}));
  EXPECT_EQ(to(i32), row<int>({3, -3, INT_MAX, INT_MIN, 0, INT_MAX, 0}));
  EXPECT_EQ(to(u32), row<unsigned>({3, 0, UINT_MAX, 0, 0, 2147483648u, 0}));
  EXPECT_EQ(to(i64), row<std::int64_t>({3, -3, i64_max, i64_min, 0, 2147483648, 0}));
  EXPECT_EQ(to(u64), row<std::uint64_t>({3, 0, UINT64_MAX, 0, 0, 2147483648u, 0}));
  EXPECT_EQ(to(bool_), row({true, true, true, true, true, true, true}));
}

TEST(Interpret, ConversionsRoundOnce) {
  // Just above a tie of f16 by less than an f32 can say: through f32 it would be the tie, to even.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(apply(Op::convert, {row<double>({above})}, NoAttributes{}, Type{f16, {1}}),
            floats<Float16>({1 + 0x1p-10}));
  const std::int64_t wide = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  EXPECT_EQ(apply(Op::convert, {row<std::int64_t>({wide})}, NoAttributes{}, Type{bf16, {1}}),
            floats<BFloat16>({0x1p62 + 0x1p55}));
  EXPECT_EQ(apply(Op::convert, {row<std::uint64_t>({UINT64_MAX})}, NoAttributes{}, Type{f32, {1}}),
            row<float>({0x1p64f}));
  EXPECT_EQ(apply(Op::bitcast_convert, {row<float>({-0.0f})}, NoAttributes{}, Type{u32, {1}}),
            row<unsigned>({0x80000000}));
}

TEST(Interpret, SumsLargerThanTheNarrowTypeStayExactOnTheWay) {
  const Literal x = floats<Float16>({2048, 1, 1, 1, 1});
  EXPECT_EQ(apply(Op::reduce_sum, {x}, AxesAttributes{{0}}).values<Float16>()[0], Float16(2052.0f));
}

}  // namespace
}  // namespace anabranch
