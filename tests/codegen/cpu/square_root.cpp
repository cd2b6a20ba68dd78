// Square roots of whole vectors, against the CPU's own, bit by bit.
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

/// out[i] = sqrt(in[i])
Kernel kernel_of(Dtype dtype) {
  KernelSketch sketch("sqrt_" + std::string(name(dtype)));
  const auto in = sketch.buffer(Access::read, dtype, count);
  const auto out = sketch.buffer(Access::write, dtype, count);
  const Index i = sketch.open(range(count, 64 / static_cast<int>(byte_size(dtype)), 2));
  sketch.store(out, i, sketch.compute(dtype, Op::sqrt, {sketch.load(in, i)}));
  sketch.close();
  return sketch.kernel();
}

template <class T>
class SquareRoot : public testing::Test {
 protected:
  void expect_same(const std::vector<T>& numbers) {
    ASSERT_EQ(numbers.size(), count);
    std::vector<T> out(count);
    void* buffers[] = {const_cast<T*>(numbers.data()), out.data()};
    code_.functions[0](code_.keep_alive.get(), buffers, 0, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(have_same_bits(out[i], std::sqrt(numbers[i])))
          << std::hexfloat << "the root of " << numbers[i];
    }
  }

  Code code_ = compile_kernels(std::vector{kernel_of(sizeof(T) == 4 ? f32 : f64)});
};

using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(SquareRoot, Floats);

TYPED_TEST(SquareRoot, OfAnyBits) {
  using Bits = BitsOf<TypeParam>;
  std::mt19937_64 random(3);
  std::vector<TypeParam> numbers(count);
  for (int round = 0; round < 2000; ++round) {
    for (TypeParam& number : numbers)
      number = std::bit_cast<TypeParam>(static_cast<Bits>(random()));
    this->expect_same(numbers);
  }
}

using SquareRootOfF32 = SquareRoot<float>;

// A prime stride through all bit patterns.
TEST_F(SquareRootOfF32, OfEveryExponent) {
  std::vector<float> numbers(count);
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32;) {
    for (float& number : numbers) {
      number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      bits += 251;
    }
    expect_same(numbers);
  }
}

// Squares, and what is next to them: their roots are next to floats, or to what is halfway between.
TYPED_TEST(SquareRoot, NextToSquares) {
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  std::mt19937_64 random(4);
  std::uniform_real_distribution<TypeParam> root(1, 4);
  std::uniform_int_distribution<int> exponent(std::numeric_limits<TypeParam>::min_exponent / 2,
                                              std::numeric_limits<TypeParam>::max_exponent / 2 - 4);
  std::vector<TypeParam> numbers(count);
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      TypeParam half = std::ldexp(root(random), exponent(random));
      if (i % 2 == 0) half = static_cast<TypeParam>(static_cast<float>(half));
      const TypeParam next = std::nextafter(half, infinity);
      const TypeParam square = i % 3 == 0 ? half * next : half * half;
      numbers[i] = i % 5 == 0 ? std::nextafter(square, TypeParam(0)) : square;
      if (i % 5 == 1) numbers[i] = std::nextafter(square, infinity);
    }
    this->expect_same(numbers);
  }
}

TYPED_TEST(SquareRoot, OfTheEndsOfTheRange) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam ends[] = {0,
                            Limits::denorm_min(),
                            3 * Limits::denorm_min(),
                            Limits::min(),
                            std::nextafter(Limits::min(), TypeParam(0)),
                            Limits::max(),
                            Limits::infinity(),
                            Limits::quiet_NaN(),
                            1,
                            std::nextafter(TypeParam(1), TypeParam(0))};
  std::vector<TypeParam> numbers(count, 1);
  std::size_t i = 0;
  for (TypeParam end : ends) {
    numbers[i++] = end;
    numbers[i++] = -end;
  }
  for (int exponent = Limits::min_exponent - Limits::digits; exponent < Limits::max_exponent;
       ++exponent) {
    const TypeParam power = std::ldexp(TypeParam(1), exponent);
    for (TypeParam number : {power, std::nextafter(power, TypeParam(0))}) {
      if (i < count) numbers[i++] = number;
    }
  }
  this->expect_same(numbers);
}

}  // namespace
}  // namespace anabranch::cpu
