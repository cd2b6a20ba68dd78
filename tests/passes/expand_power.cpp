// Powers with a constant exponent: how far what they are written as is from the power.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "passes/expand.h"
#include "tests/support/ulp.h"

namespace anabranch {
namespace {

Graph power_of(Dtype dtype, std::int64_t count, double exponent) {
  GraphBuilder builder;
  const Value x = builder.parameter({dtype, Shape{count}});
  const Value y = builder.constant(Literal::scalar(dtype, exponent));
  const Value all =
      builder.add(Op::broadcast_in_dim, {y}, AxesAttributes{}, Type{dtype, Shape{count}});
  return builder.build({builder.add(Op::power, {x, all})});
}

bool has_power(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::power; });
}

// Zeros, infinities, NaN, the ends of the ranges of normal and subnormal numbers and of those whose
// powers are, and any bits.
template <class T>
std::vector<T> bases() {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> numbers = {0,
                            1,
                            2,
                            T(0.1),
                            Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            Limits::min(),
                            Limits::max(),
                            std::nextafter(Limits::min(), T(0))};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> near_one(0.5, 4);
  for (int exponent = Limits::min_exponent; exponent < Limits::max_exponent; ++exponent) {
    numbers.push_back(std::ldexp(static_cast<T>(near_one(random)), exponent));
  }
  for (int i = 0; i < 20'000; ++i) {
    numbers.push_back(static_cast<T>(near_one(random)));
    numbers.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  }
  const std::size_t count = numbers.size();
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(-numbers[i]);
  return numbers;
}

template <class T>
void check(Dtype dtype) {
  const std::vector<T> numbers = bases<T>();
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Literal input = Literal::of(std::span<const T>(numbers), Shape{count});
  for (const double exponent : {3.0, 4.0, -2.0, -1.5, -0.5, 0.5, 1.5, 2.5}) {
    PassContext context;
    const Graph made = expand(power_of(dtype, count, exponent), context);
    EXPECT_FALSE(has_power(made)) << exponent;
    const std::vector<Literal> got = interpret(made, std::span(&input, 1));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const long double truth =
          std::pow(static_cast<long double>(numbers[i]), static_cast<long double>(exponent));
      const T power = got[0].values<T>()[i];
      ASSERT_LE(test::ulp_error(power, truth), 3)
          << numbers[i] << " to the " << exponent << " is " << truth << ", and not " << power;
    }
  }
}

TEST(ExpandPower, IsWithinThreeUlpOfThePower) {
  check<float>(f32);
  check<double>(f64);
}

TEST(ExpandPower, OtherPowersStay) {
  PassContext context;
  for (const double exponent : {0.3, 3.5, -3.0, 5.0}) {
    EXPECT_TRUE(has_power(expand(power_of(f32, 8, exponent), context))) << exponent;
  }
  EXPECT_TRUE(has_power(expand(power_of(f16, 8, 3), context)));  // each product would round
}

}  // namespace
}  // namespace anabranch
