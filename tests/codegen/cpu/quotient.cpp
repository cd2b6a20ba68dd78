// Division by a divisor that a whole loop shares, against the CPU's own division, bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/codegen/cpu/kernel_sketch.h"
#include "tests/codegen/cpu/same_bits.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t count = 4096;

/// out[i] = in[i] / divisor[0]
Kernel kernel_of(Dtype dtype) {
  KernelSketch sketch("divide_" + std::string(name(dtype)));
  const auto in = sketch.buffer(Access::read, dtype, count);
  const auto by = sketch.buffer(Access::read, dtype, 1);
  const auto out = sketch.buffer(Access::write, dtype, count);
  const Ref divisor = sketch.load(by, sketch.at(0));
  const Index i = sketch.open(range(count, 64 / static_cast<int>(byte_size(dtype)), 2));
  sketch.store(out, i, sketch.compute(dtype, Op::divide, {sketch.load(in, i), divisor}));
  sketch.close();
  return sketch.kernel();
}

template <class T>
class Quotient : public testing::Test {
 protected:
  using Bits = BitsOf<T>;
  static constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;

  void expect_same(const std::vector<T>& dividends, T divisor) {
    std::vector<T> out(count);
    ASSERT_EQ(dividends.size(), out.size());
    void* buffers[] = {const_cast<T*>(dividends.data()), &divisor, out.data()};
    code_.functions[0](code_.keep_alive.get(), buffers, 0, count);
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(have_same_bits(out[i], dividends[i] / divisor))
          << std::hexfloat << dividends[i] << " / " << divisor;
    }
  }

  /// A float whose mantissa is random, or close to that of a power of two.
  T random(int low_exponent, int high_exponent) {
    Bits mantissa = static_cast<Bits>(random_()) & ((Bits{1} << mantissa_bits) - 1);
    if (random_() % 3 == 0) mantissa &= 7;
    if (random_() % 3 == 0) mantissa |= ((Bits{1} << mantissa_bits) - 1) & ~Bits{7};
    const int span = high_exponent - low_exponent + 1;
    const int exponent = low_exponent + static_cast<int>(random_() % static_cast<unsigned>(span));
    const T unit = std::bit_cast<T>(std::bit_cast<Bits>(T{1}) | mantissa);
    return std::ldexp(random_() % 2 ? unit : -unit, exponent);
  }

 private:
  std::vector<Kernel> kernels_ = {kernel_of(sizeof(T) == 4 ? f32 : f64)};
  Code code_ = compile_legalised(kernels_);
  std::mt19937_64 random_{1};
};

using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(Quotient, Formats);

TYPED_TEST(Quotient, OfOrdinaryNumbers) {
  std::vector<TypeParam> dividends(count);
  for (int round = 0; round < 400; ++round) {
    for (TypeParam& x : dividends) x = this->random(-20, 20);
    this->expect_same(dividends, std::abs(this->random(-20, 20)));
  }
}

// For f32: every dividend's mantissa next to the divisors whose reciprocals are rounded worst.
TYPED_TEST(Quotient, OfMantissasNearTwo) {
  std::vector<TypeParam> dividends(count);
  const TypeParam step = std::numeric_limits<TypeParam>::epsilon();
  for (int below = 1; below < 64; ++below) {
    for (std::size_t i = 0; i < dividends.size(); ++i) {
      dividends[i] = TypeParam{2} - static_cast<TypeParam>(i + 1) * step;
    }
    this->expect_same(dividends, TypeParam{2} - static_cast<TypeParam>(below) * step);
    this->expect_same(dividends, TypeParam{1} + static_cast<TypeParam>(below) * step);
  }
}

TYPED_TEST(Quotient, OfExtremeNumbers) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> extremes = {0,
                                           Limits::denorm_min(),
                                           Limits::min(),
                                           Limits::min() / 2,
                                           Limits::epsilon(),
                                           1,
                                           3,
                                           Limits::max(),
                                           Limits::max() / 3,
                                           Limits::infinity(),
                                           -0,
                                           -1,
                                           Limits::quiet_NaN()};
  const int lowest = Limits::min_exponent - Limits::digits, highest = Limits::max_exponent - 1;
  std::vector<TypeParam> dividends(count);
  auto any = [&](std::size_t i) {
    const TypeParam x = extremes[i % extremes.size()];
    return i % 5 == 0 ? this->random(lowest, highest) : i % 2 ? x : -x;
  };
  // One extreme among zeros, too: most vectors take the fast path.
  for (std::size_t round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < dividends.size(); ++i) {
      dividends[i] = round % 2 == 0 || i % 37 == 0 ? any(i + round) : (i % 3 ? 0.0f : -0.0f);
    }
    this->expect_same(dividends, any(7 * round));
    this->expect_same(dividends, std::abs(this->random(-40, 40)));
  }
}

// At the ends of the fast path, where remainders are least.
TYPED_TEST(Quotient, OfNumbersAtTheBounds) {
  std::vector<TypeParam> dividends(count);
  const int dividend = sizeof(TypeParam) == 4 ? 90 : 900,
            divisor = sizeof(TypeParam) == 4 ? 30 : 100;
  for (int round = 0; round < 200; ++round) {
    const int exponent = round % 2 ? divisor : -divisor;
    for (TypeParam& x : dividends) {
      x = round % 4 < 2 ? this->random(dividend - 2, dividend + 2)
                        : this->random(-dividend - 2, -dividend + 2);
    }
    this->expect_same(dividends, std::abs(this->random(exponent - 1, exponent + 1)));
  }
}

}  // namespace
}  // namespace anabranch::cpu
