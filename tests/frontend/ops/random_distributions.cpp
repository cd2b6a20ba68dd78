// Distributions by Kolmogorov and Smirnov's test, moments and frequencies, of fixed keys.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "tests/frontend/values.h"
#include "tests/support/special_reference.h"

namespace {

constexpr std::int64_t count = 20000;

std::vector<double> drawn(const std::function<ab::Array()>& draw) {
  return doubles(ab::jit(draw)().astype(ab::f64));
}

// The greatest distance between the two distribution functions. Of 20,000 draws from the right one
// it is above 0.0138 once in a thousand keys.
double distance(std::vector<double> values, const std::function<double(double)>& cumulative) {
  std::ranges::sort(values);
  double worst = 0;
  const auto size = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); i += 16) {
    const double truth = cumulative(values[i]), at = static_cast<double>(i);
    worst = std::max({worst, std::fabs(truth - at / size), std::fabs(truth - (at + 1) / size)});
  }
  return worst;
}

double normal(double x) { return std::erfc(-x / std::sqrt(2)) / 2; }

TEST(Distributions, FollowTheirFunctions) {
  struct Row {
    const char* name;
    std::function<ab::Array(ab::Array, ab::Dtype)> draw;
    double (*cumulative)(double);
  };
  const Row rows[] = {
      {"exponential",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::exponential(key, {count}, dtype); },
       [](double x) { return -std::expm1(-x); }},
      {"gumbel",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gumbel(key, {count}, dtype); },
       [](double x) { return std::exp(-std::exp(-x)); }},
      {"laplace",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::laplace(key, {count}, dtype); },
       [](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }},
      {"logistic",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::logistic(key, {count}, dtype); },
       [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"cauchy",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::cauchy(key, {count}, dtype); },
       [](double x) { return 0.5 + std::atan(x) / std::acos(-1.0); }},
      {"truncated_normal",
       [](ab::Array key, ab::Dtype dtype) {
         return ab::random::truncated_normal(key, {count}, -1, 2.5, dtype);
       },
       [](double x) { return (normal(x) - normal(-1)) / (normal(2.5) - normal(-1)); }},
      {"gamma(3.5)",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gamma(key, 3.5, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_gamma_quad(3.5, x).lower); }},
      {"gamma(0.4)",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gamma(key, 0.4, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_gamma_quad(0.4, x).lower); }},
      {"beta",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::beta(key, 2, 3.5, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_beta_quad(2, 3.5, x)); }},
  };
  std::uint64_t seed = 100;
  for (const Row& row : rows) {
    for (ab::Dtype dtype : {ab::f32, ab::f64}) {
      SCOPED_TRACE(std::string(row.name) + " " + std::string(name(dtype)));
      const ab::Array key = ab::random::key(seed++);
      EXPECT_EQ(row.draw(key, dtype).dtype(), dtype);
      EXPECT_LT(distance(drawn([&] { return row.draw(key, dtype); }), row.cumulative), 0.0138);
    }
    EXPECT_EQ(row.draw(ab::random::key(1), ab::bf16).dtype(), ab::bf16);
  }
}

TEST(Distributions, TruncatedNormalStaysInside) {
  for (ab::Dtype dtype : {ab::f16, ab::f32, ab::f64}) {
    const auto x = drawn(
        [&] { return ab::random::truncated_normal(ab::random::key(3), {1000}, 5, 5.5, dtype); });
    EXPECT_GE(*std::ranges::min_element(x), 5);
    EXPECT_LE(*std::ranges::max_element(x), 5.5);
  }
}

TEST(Distributions, PoissonHasItsMeanAndVariance) {
  for (double rate : {0.0, 0.3, 4.0, 9.9, 10.0, 37.5, 1000.0}) {
    SCOPED_TRACE(rate);
    const auto x = drawn([&] { return ab::random::poisson(ab::random::key(7), rate, {count}); });
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
    double variance = 0;
    for (double value : x) variance += (value - mean) * (value - mean) / count;
    EXPECT_NEAR(mean, rate, 5 * std::sqrt(rate / count));
    EXPECT_NEAR(variance, rate, 0.06 * rate);
    for (int k = 0; k < 3 && rate < 5; ++k) {
      const double expected = std::exp(-rate) * std::pow(rate, k) / std::tgamma(k + 1);
      EXPECT_NEAR(double(std::ranges::count(x, k)) / count, expected, 0.015);
    }
  }
  const ab::Array rates = ab::array({1.0f, 50.0f});
  EXPECT_EQ(ab::random::poisson(ab::random::key(7), rates, {3, 2}, ab::u16).type(),
            (ab::Type{ab::u16, {3, 2}}));
}

TEST(Distributions, CategoricalFollowsSoftmax) {
  const ab::Array logits = ab::log(ab::array({0.1f, 0.6f, 0.0f, 0.3f}));
  const auto x = drawn([&] {
    return ab::random::categorical(ab::random::key(5), ab::broadcast_to(logits, {count, 4}));
  });
  const double expected[] = {0.1, 0.6, 0, 0.3};
  for (int k = 0; k < 4; ++k)
    EXPECT_NEAR(double(std::ranges::count(x, k)) / count, expected[k], 0.015);
  EXPECT_EQ(ab::random::categorical(ab::random::key(5), ab::zeros({3, 4, 5}), 1).type(),
            (ab::Type{ab::i64, {3, 5}}));
}

TEST(Distributions, SignsAndBits) {
  const auto signs = drawn([] { return ab::random::rademacher(ab::random::key(2), {count}); });
  EXPECT_EQ(std::set<double>(signs.begin(), signs.end()), (std::set<double>{-1, 1}));
  EXPECT_NEAR(std::accumulate(signs.begin(), signs.end(), 0.0) / count, 0, 0.03);
  for (ab::Dtype dtype : {ab::u8, ab::i16, ab::u32, ab::i64}) {
    SCOPED_TRACE(name(dtype));
    const ab::Array x = ab::random::bits(ab::random::key(4), {count}, dtype);
    ASSERT_EQ(x.dtype(), dtype);
    const ab::Array ones = ab::bitwise_count(x).astype(ab::f64);
    const double width = ab::info(dtype).bits;
    EXPECT_NEAR(ab::mean(ones).item<double>(), width / 2, 5 * std::sqrt(width / 4 / count));
  }
  EXPECT_THROW(ab::random::bits(ab::random::key(4), {2}, ab::f32), ab::Error);
}

TEST(Distributions, KeysFoldedInDiffer) {
  const ab::Array key = ab::random::key(9);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(ab::random::fold_in(key, i).item<std::uint64_t>());
  for (const ab::Array& child : ab::random::split(key, 100))
    seen.insert(child.item<std::uint64_t>());
  EXPECT_EQ(seen.size(), 200u);
  EXPECT_EQ(ab::random::fold_in(key, 3).item<std::uint64_t>(),
            ab::random::fold_in(key, ab::scalar(3)).item<std::uint64_t>());
  EXPECT_THROW(ab::random::fold_in(key, 0.5), ab::Error);
  EXPECT_THROW(ab::random::fold_in(key, ab::array({1, 2})), ab::Error);
}

}  // namespace
