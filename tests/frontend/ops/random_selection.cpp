// Random orders and samples: of the right elements, each as often as it should be.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/values.h"

namespace {

std::vector<double> drawn(const ab::Array& array) { return doubles(array.astype(ab::f64)); }

TEST(RandomSelection, PermutationsHoldEachNumberOnce) {
  std::vector<double> x = drawn(ab::random::permutation(ab::random::key(1), 100)), sorted = x;
  std::ranges::sort(sorted);
  std::vector<double> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(x, all);
  EXPECT_EQ(ab::random::permutation(ab::random::key(1), 0).type(), (ab::Type{ab::i64, {0}}));
  const ab::Array rows = ab::reshape(ab::arange(12), {4, 3});
  const std::vector<double> moved = drawn(ab::random::permutation(ab::random::key(2), rows));
  std::set<double> firsts;
  for (std::size_t row = 0; row < 4; ++row) {
    firsts.insert(moved[3 * row]);
    EXPECT_EQ(moved[3 * row + 2], moved[3 * row] + 2);
  }
  EXPECT_EQ(firsts, (std::set<double>{0, 3, 6, 9}));
  EXPECT_EQ(ab::random::permutation(ab::random::key(2), rows, 1).type(), rows.type());
}

TEST(RandomSelection, EachOrderIsAsLikely) {
  std::map<std::vector<double>, int> seen;
  const auto draw = ab::jit([](ab::Array key) { return ab::random::permutation(key, 3); });
  for (const ab::Array& key : ab::random::split(ab::random::key(3), 600)) ++seen[drawn(draw(key))];
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 100, 45);
}

TEST(RandomSelection, ChoicesWithAndWithoutReplacement) {
  const ab::Array x = ab::array({10, 20, 30, 40, 50});
  const ab::Array with = ab::random::choice(ab::random::key(4), x, {40, 50});
  EXPECT_EQ(with.type(), (ab::Type{ab::i32, {40, 50}}));
  const std::vector<double> values = drawn(with);
  for (int value = 10; value <= 50; value += 10)
    EXPECT_NEAR(std::ranges::count(values, value), 400, 90);
  const std::vector<double> few = drawn(ab::random::choice(ab::random::key(5), x, {5}, false));
  EXPECT_EQ(std::set<double>(few.begin(), few.end()).size(), 5u);
  EXPECT_EQ(ab::random::choice(ab::random::key(5), ab::zeros({4, 7}), {2, 3}).shape(),
            (ab::Shape{2, 3, 7}));
  EXPECT_THROW(ab::random::choice(ab::random::key(5), x, {6}, false), ab::Error);
  EXPECT_THROW(ab::random::choice(ab::random::key(5), ab::zeros({0}), {1}), ab::Error);
}

TEST(RandomSelection, WeightedChoices) {
  const ab::Array x = ab::array({10, 20, 30, 40}), weights = ab::array({1.0f, 0.0f, 2.0f, 5.0f});
  const std::vector<double> values =
      drawn(ab::random::choice(ab::random::key(6), x, {4000}, weights));
  EXPECT_NEAR(std::ranges::count(values, 10), 500, 110);
  EXPECT_EQ(std::ranges::count(values, 20), 0);
  EXPECT_NEAR(std::ranges::count(values, 30), 1000, 140);
  EXPECT_NEAR(std::ranges::count(values, 40), 2500, 160);
  const std::vector<double> three =
      drawn(ab::random::choice(ab::random::key(7), x, {3}, weights, false));
  EXPECT_EQ(std::set<double>(three.begin(), three.end()), (std::set<double>{10, 30, 40}));
  EXPECT_THROW(ab::random::choice(ab::random::key(7), x, {3}, ab::array({1.0f})), ab::Error);
}

}  // namespace
