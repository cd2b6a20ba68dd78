// Distributions by Kolmogorov and Smirnov's test, moments and frequencies, of fixed keys.
#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "tests/support/special_reference.h"
#include "tests/support/values.h"

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
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }

std::pair<double, double> moments(const std::vector<double>& x) {
  const auto size = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / size;
  double variance = 0;
  for (double value : x) variance += (value - mean) * (value - mean) / size;
  return {mean, variance};
}

TEST(Distributions, FollowTheirFunctions) {
  struct Row {
    const char* name;
    std::function<ab::Array(ab::Array, ab::Dtype)> draw;
    double (*cumulative)(double);
    double mean, variance;  // NaN where there are none
  };
  const double pi = std::acos(-1.0), none = NAN;
  const double bump[] = {density(-1), density(2.5)}, share = normal(2.5) - normal(-1);
  const double cut_mean = (bump[0] - bump[1]) / share;
  const double cut_variance = 1 - (bump[0] + 2.5 * bump[1]) / share - cut_mean * cut_mean;
  const Row rows[] = {
      {"exponential",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::exponential(key, {count}, dtype); },
       [](double x) { return -std::expm1(-x); }, 1, 1},
      {"gumbel",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gumbel(key, {count}, dtype); },
       [](double x) { return std::exp(-std::exp(-x)); }, 0.57721566, pi * pi / 6},
      {"laplace",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::laplace(key, {count}, dtype); },
       [](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }, 0, 2},
      {"logistic",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::logistic(key, {count}, dtype); },
       [](double x) { return 1 / (1 + std::exp(-x)); }, 0, pi * pi / 3},
      {"cauchy",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::cauchy(key, {count}, dtype); },
       [](double x) { return 0.5 + std::atan(x) / std::acos(-1.0); }, none, none},
      {"truncated_normal",
       [](ab::Array key, ab::Dtype dtype) {
         return ab::random::truncated_normal(key, {count}, -1, 2.5, dtype);
       },
       [](double x) { return (normal(x) - normal(-1)) / (normal(2.5) - normal(-1)); }, cut_mean,
       cut_variance},
      {"gamma(3.5)",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gamma(key, 3.5, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_gamma_quad(3.5, x).lower); }, 3.5, 3.5},
      {"gamma(0.4)",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::gamma(key, 0.4, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_gamma_quad(0.4, x).lower); }, 0.4, 0.4},
      {"beta",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::beta(key, 2, 3.5, {count}, dtype); },
       [](double x) { return double(ab::test::incomplete_beta_quad(2, 3.5, x)); }, 2 / 5.5,
       7 / (5.5 * 5.5 * 6.5)},
      {"uniform",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::uniform(key, {count}, dtype); },
       [](double x) { return std::clamp(x, 0.0, 1.0); }, 0.5, 1.0 / 12},
      {"normal",
       [](ab::Array key, ab::Dtype dtype) { return ab::random::normal(key, {count}, dtype); },
       normal, 0, 1},
  };
  std::uint64_t seed = 100;
  for (const Row& row : rows) {
    for (ab::Dtype dtype : {ab::f32, ab::f64}) {
      SCOPED_TRACE(std::string(row.name) + " " + std::string(name(dtype)));
      const ab::Array key = ab::random::key(seed++);
      EXPECT_EQ(row.draw(key, dtype).dtype(), dtype);
      const std::vector<double> x = drawn([&] { return row.draw(key, dtype); });
      EXPECT_LT(distance(x, row.cumulative), 0.0138);
      if (std::isnan(row.mean)) continue;
      const auto [mean, variance] = moments(x);
      EXPECT_NEAR(mean, row.mean, 4 * std::sqrt(row.variance / count));
      EXPECT_NEAR(variance, row.variance, 0.08 * row.variance);
    }
    EXPECT_EQ(row.draw(ab::random::key(1), ab::bf16).dtype(), ab::bf16);
  }
}

TEST(Distributions, TruncatedNormalStaysInside) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    for (const auto& [low, high] : {std::pair{5.0, 5.5}, {-2.0, 2.0}}) {
      const auto x = drawn([&] {
        return ab::random::truncated_normal(ab::random::key(3), {20000}, low, high, dtype);
      });
      EXPECT_GT(*std::ranges::min_element(x), low) << name(dtype);
      EXPECT_LT(*std::ranges::max_element(x), high) << name(dtype);
    }
  }
  for (double x : drawn([] { return ab::random::truncated_normal(ab::random::key(3), {9}, 2, 1); }))
    EXPECT_TRUE(std::isnan(x));
}

TEST(Distributions, PoissonHasItsMeanAndVariance) {
  for (double rate : {0.0, 0.3, 4.0, 9.9, 10.0, 37.5, 1000.0}) {
    SCOPED_TRACE(rate);
    const auto x = drawn([&] { return ab::random::poisson(ab::random::key(7), rate, {count}); });
    const auto [mean, variance] = moments(x);
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

// The sum over the classes of (seen - expected)^2 / expected: of 9 degrees of freedom it is above
// 27.9 once in a thousand keys.
TEST(Distributions, IntegersAreAsLikely) {
  for (ab::Dtype dtype : {ab::u8, ab::i32, ab::i64}) {
    SCOPED_TRACE(name(dtype));
    const auto x =
        drawn([&] { return ab::random::randint(ab::random::key(6), {count}, 3, 13, dtype); });
    double distance = 0;
    for (int k = 3; k < 13; ++k) {
      const double away = static_cast<double>(std::ranges::count(x, k)) - count / 10.0;
      distance += away * away / (count / 10.0);
    }
    EXPECT_LT(distance, 27.9);
    const auto [mean, variance] = moments(x);
    EXPECT_NEAR(mean, 7.5, 4 * std::sqrt(8.25 / count));
    EXPECT_NEAR(variance, 8.25, 0.25);
  }
}

TEST(Distributions, BernoulliDrawsDoNotDependOnTheirNeighbours) {
  for (const double p : {0.1, 0.5, 0.7}) {
    SCOPED_TRACE(p);
    const auto x = drawn([&] { return ab::random::bernoulli(ab::random::key(11), {count}, p); });
    const auto [mean, variance] = moments(x);
    EXPECT_NEAR(mean, p, 4 * std::sqrt(p * (1 - p) / count));
    double together = 0;
    for (std::size_t i = 1; i < x.size(); ++i) together += (x[i] - mean) * (x[i - 1] - mean);
    EXPECT_NEAR(together / count / variance, 0, 4 / std::sqrt(double(count)));
  }
}

// What is drawn from the children of a key, by split and by fold_in, is not correlated.
TEST(Distributions, KeysOfOneParentAreIndependent) {
  const ab::Array parent = ab::random::key(12);
  std::vector<ab::Array> keys = ab::random::split(parent, 3);
  for (int i = 0; i < 3; ++i) keys.push_back(ab::random::fold_in(parent, i));
  keys.push_back(parent);
  std::vector<std::vector<double>> draws;
  for (const ab::Array& key : keys) {
    draws.push_back(drawn([&] { return ab::random::normal(key, {count}, ab::f64); }));
  }
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double sum =
          std::inner_product(draws[i].begin(), draws[i].end(), draws[j].begin(), 0.0);
      EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(double(count))) << i << " and " << j;
    }
  }
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
  for (ab::Dtype dtype : {ab::u8, ab::bool_}) {
    EXPECT_THROW(ab::random::rademacher(ab::random::key(4), {2}, dtype), ab::Error);
  }
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

TEST(Distributions, OfInfiniteParametersEnd) {
  const double inf = INFINITY;
  const ab::Array key = ab::random::key(5);
  const auto gammas = doubles(ab::random::gamma(key, ab::array<float>({INFINITY, 2, NAN}), {3}));
  EXPECT_EQ(gammas[0], inf);
  EXPECT_TRUE(std::isfinite(gammas[1]));
  EXPECT_TRUE(std::isnan(gammas[2]));
  EXPECT_EQ(ab::random::gamma(key, inf, {}, ab::f64).item<double>(), inf);
  EXPECT_EQ(ab::random::beta(key, 2, inf, {}).item<float>(), 0);
  EXPECT_EQ(ab::random::beta(key, inf, 2, {}).item<float>(), 1);
  EXPECT_TRUE(std::isnan(ab::random::beta(key, inf, inf, {}).item<float>()));
  const ab::Array rates = ab::array<float>({INFINITY, INFINITY, -1, -INFINITY, NAN});
  EXPECT_EQ(ab::random::poisson(key, rates, {5}).to_vector<int>(),
            (std::vector<int>{INT_MAX, INT_MAX, 0, 0, 0}));
}

// Draws of the gamma distribution are below any float here, and their quotient is not: at one of
// the ends, as the distribution is.
TEST(Distributions, BetaOfSmallParametersIsAtTheEnds) {
  for (const ab::Dtype dtype : {ab::f16, ab::f32, ab::f64}) {
    for (const double a : {0.01, 1e-4}) {
      SCOPED_TRACE(a);
      const ab::Array key = ab::random::key(8);
      const auto x = drawn([&] { return ab::random::beta(key, a, 3 * a, {count}, dtype); });
      EXPECT_TRUE(std::ranges::all_of(x, [](double value) { return value >= 0 && value <= 1; }));
      const auto [mean, variance] = moments(x);
      EXPECT_NEAR(mean, 0.25, 0.015);
      EXPECT_NEAR(variance, 3. / 16 / (4 * a + 1), 0.01);
    }
  }
}

}  // namespace
