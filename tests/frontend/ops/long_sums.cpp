// Sums of many floats, in every form of loop that they become: the error that docs/ir.md states.
#include <cmath>
#include <vector>

#include "tests/support/values.h"

namespace {

struct Form {
  const char* name;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> axes;
};

const Form forms[] = {
    {"all of it, in chunks", {1 << 25}, {0}},
    {"a prime number", {33554393}, {0}},
    {"few long rows", {3, 1 << 22}, {1}},
    {"many rows", {64, 1 << 18}, {1}},
    {"few columns", {1 << 22, 3}, {0}},
    {"many columns", {1 << 17, 100}, {0}},
    {"columns and rows", {1 << 12, 3, 1 << 12}, {0, 2}},
    {"short rows inside", {1 << 20, 4, 5}, {0, 2}},
    {"the middle of three", {2, 1 << 20, 9}, {1}},
};

std::int64_t terms_of(const Form& form) {
  std::int64_t count = 1;
  for (std::int64_t axis : form.axes) count *= form.sizes[static_cast<std::size_t>(axis)];
  return count;
}

// As docs/ir.md says, times the sum of the magnitudes.
double bound_of(const Form& form) {
  const auto loops = static_cast<double>(form.axes.size() + 1);
  return (64 * loops + 3 * std::log2(static_cast<double>(terms_of(form)))) * 0x1p-24;
}

// Positions along all axes in row-major order; no pass knows what depends on them.
ab::Array positions(const Form& form) {
  std::int64_t count = 1;
  for (std::int64_t size : form.sizes) count *= size;
  return ab::reshape(ab::arange(count, ab::i32), ab::Sizes(form.sizes));
}

std::vector<double> compute(const Form& form, ab::Array (*element)(ab::Array, ab::Array)) {
  auto sum = ab::jit(
      [&](ab::Array x) { return ab::sum(element(positions(form), x), ab::Axes(form.axes)); });
  return doubles(sum(ab::scalar(0.1f)));
}

// The sums of n numbers, none negative: the worst relative error.
double worst(const std::vector<double>& sums, const std::vector<double>& truths) {
  double most = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    most = std::max(most, std::fabs(sums[i] / truths[i % truths.size()] - 1));
  }
  return most;
}

// Every rounding of a running sum would go the same way.
TEST(LongSums, OfEqualNumbers) {
  for (const Form& form : forms) {
    const std::vector<double> sums = compute(
        form, [](ab::Array position, ab::Array x) { return ab::where(position >= 0, x, 0); });
    const double truth = static_cast<double>(terms_of(form)) * static_cast<double>(0.1f);
    const double error = worst(sums, {truth});
    EXPECT_LE(error, bound_of(form)) << form.name;
    EXPECT_LE(error, 1e-6) << form.name << ": what pairwise sums reach";
  }
}

// Of hashed positions: 24 random bits each, in [0, 1). In f64 any order is exact enough.
TEST(LongSums, OfRandomNumbers) {
  for (const Form& form : forms) {
    const auto numbers = [&] {
      ab::Array bits = positions(form).astype(ab::u32) * 2654435769u;
      bits = (bits ^ (bits >> 16u)) * 0x85ebca6bu;
      return (bits >> 8u).astype(ab::f32) * 0x1p-24f;
    };
    auto sums = ab::jit([&] {
      return std::tuple{ab::sum(numbers(), ab::Axes(form.axes)),
                        ab::sum(numbers().astype(ab::f64), ab::Axes(form.axes))};
    });
    const auto [sum, truth] = sums();
    const double error = worst(doubles(sum), doubles(truth));
    EXPECT_LE(error, bound_of(form)) << form.name;
    EXPECT_LE(error, 1e-6) << form.name << ": what pairwise sums reach";
  }
}

// A sum beside other reductions of the same loop, in a kernel of two stages that no threads share.
TEST(LongSums, OfSeveralStages) {
  constexpr std::int64_t count = 1 << 24;
  auto both = ab::jit([](ab::Array x) {
    const ab::Array y = ab::where(ab::arange(count, ab::i32) % 2 == 0, x, 3 * x);
    return std::tuple{ab::mean(y), ab::var(y), ab::max(y), ab::logsumexp(y)};
  });
  const auto [mean, var, max, logsumexp] = both(ab::scalar(0.1f));
  const double x = static_cast<double>(0.1f), top = static_cast<double>(3 * 0.1f);
  EXPECT_NEAR(mean.item<float>() / ((x + top) / 2), 1, 1e-6);
  EXPECT_NEAR(var.item<float>() / (x * x), 1, 2e-6);
  EXPECT_EQ(max.item<float>(), 3 * 0.1f);
  EXPECT_NEAR(logsumexp.item<float>(), std::log(count / 2 * (std::exp(x) + std::exp(top))), 1e-5);
}

}  // namespace
