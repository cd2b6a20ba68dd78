// Random numbers: the same from the same key, different from different ones, and of the right
// distribution.
#include <algorithm>
#include <numeric>
#include <set>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

double mean_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Random, TheSameKeyGivesTheSameNumbersHoweverTheyAreRun) {
  auto draw = [] { return ab::random::uniform(ab::random::key(42), {3, 5}); };
  auto values = draw().to_vector<float>();
  EXPECT_EQ(ab::jit(draw)().to_vector<float>(), values);
  EXPECT_EQ(draw().to_vector<float>(), values);
  EXPECT_NE(ab::random::uniform(ab::random::key(43), {3, 5}).to_vector<float>(), values);
}

TEST(Random, SplitGivesDifferentKeys) {
  std::set<std::uint64_t> seen;
  for (const ab::Array& key : ab::random::split(ab::random::key(0), 20)) {
    EXPECT_EQ(key.type(), (ab::Type{ab::u64, {}}));
    seen.insert(key.item<std::uint64_t>());
  }
  EXPECT_EQ(seen.size(), 20u);
}

TEST(Random, UniformNumbersLieInTheirRange) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
    auto x =
        ab::random::uniform(ab::random::key(1), {20000}, dtype).astype(ab::f32).to_vector<float>();
    EXPECT_GE(*std::min_element(x.begin(), x.end()), 0) << name(dtype);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 1) << name(dtype);
    EXPECT_NEAR(mean_of(x), 0.5, 0.01) << name(dtype);
  }
  auto y = ab::random::uniform(ab::random::key(1), {20000}, ab::f32, -3, 5).to_vector<float>();
  EXPECT_GE(*std::min_element(y.begin(), y.end()), -3);
  EXPECT_LE(*std::max_element(y.begin(), y.end()), 5);
  EXPECT_NEAR(mean_of(y), 1, 0.08);
}

TEST(Random, NormalNumbersHaveMeanZeroAndVarianceOne) {
  for (ab::Dtype dtype : {ab::f32, ab::f64}) {
    ab::Array x = ab::random::normal(ab::random::key(2), {50000}, dtype).astype(ab::f32);
    EXPECT_NEAR(ab::mean(x).item<float>(), 0, 0.02);
    EXPECT_NEAR(ab::var(x).item<float>(), 1, 0.03);
    EXPECT_NEAR(ab::mean((ab::abs(x) < 1).astype(ab::f32)).item<float>(), 0.6827, 0.01);
    EXPECT_TRUE(ab::all(ab::isfinite(x)).item<bool>());
  }
}

TEST(Random, IntegersCoverTheirRange) {
  auto x = ab::random::randint(ab::random::key(3), {5000}, -2, 3).to_vector<std::int32_t>();
  std::set<std::int32_t> seen(x.begin(), x.end());
  EXPECT_EQ(seen, (std::set<std::int32_t>{-2, -1, 0, 1, 2}));
  auto bytes = ab::random::randint(ab::random::key(3), {100}, 0, 256, ab::u8);
  EXPECT_EQ(bytes.dtype(), ab::u8);
}

TEST(Random, BernoulliFollowsItsProbability) {
  auto rate = [](const ab::Operand& p) {
    ab::Array x = ab::random::bernoulli(ab::random::key(4), {20000}, p);
    return ab::mean(x.astype(ab::f32)).item<float>();
  };
  EXPECT_NEAR(rate(0.3), 0.3, 0.015);
  EXPECT_EQ(rate(0), 0);
  EXPECT_EQ(rate(1), 1);
  EXPECT_NEAR(rate(ab::scalar(0.8f)), 0.8, 0.015);
}

TEST(Random, RandintRefusesWhatTheDtypeDoesNotHold) {
  const ab::Array key = ab::random::key(0);
  EXPECT_THROW(ab::random::randint(key, {3}, 0, 300, ab::i8), ab::Error);
  EXPECT_THROW(ab::random::randint(key, {3}, -5, 5, ab::u8), ab::Error);
  for (const int x :
       ab::random::randint(key, {1000}, -128, 128, ab::i8).astype(ab::i32).to_vector<int>()) {
    EXPECT_TRUE(x >= -128 && x < 128);
  }
  EXPECT_EQ(ab::random::randint(key, {3}, 255, 256, ab::u8).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{255, 255, 255}));
}

TEST(Random, ParametersBroadcastToTheSizes) {
  const ab::Array key = ab::random::key(6), three = ab::array({0.0f, 1.0f, 0.5f});
  const ab::Array drawn = ab::random::bernoulli(key, {100, 3}, three);
  EXPECT_EQ(drawn.shape(), ab::Shape({100, 3}));
  EXPECT_FALSE(ab::any(drawn(ab::all, 0)).item<bool>());
  EXPECT_TRUE(ab::all(drawn(ab::all, 1)).item<bool>());
  expect_error([&] { ab::random::bernoulli(key, {}, three); },
               "random::bernoulli: f32[3] does not broadcast to ");
  const ab::Array even = ab::random::uniform(key, {100, 3}, ab::f32, three, three + 1);
  EXPECT_TRUE(ab::all((even >= three) & (even <= three + 1)).item<bool>());
  expect_error([&] { ab::random::uniform(key, {1}, ab::f32, three, 2); },
               "random::uniform: f32[3] does not broadcast to ");
  expect_error([&] { ab::random::uniform(key, {3}, ab::f32, 0, ab::zeros(ab::c64, {3})); },
               "random::uniform: c64[3] given to what takes real numbers");
}

}  // namespace
