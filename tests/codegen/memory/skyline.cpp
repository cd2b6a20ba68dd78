#include "codegen/memory/skyline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace anabranch {
namespace {

Lifetimes random_lifetimes(std::mt19937& random, std::uint32_t count, std::uint32_t streams,
                           std::uint32_t longest) {
  Lifetimes made{streams, {}, {}, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    made.bytes.push_back(1 + random() % 9);
    made.stream.push_back(static_cast<std::uint32_t>(random()) % streams);
    for (std::uint32_t s = 0; s < streams; ++s) {
      made.over.push_back(i + 1 +
                          static_cast<std::uint32_t>(random()) % std::min(longest, count - i));
    }
  }
  return made;
}

std::vector<std::uint32_t> random_order(std::mt19937& random, std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// Every thing that remains is looked at for each that is placed.
std::vector<std::size_t> placed_one_by_one(const Lifetimes& lifetimes,
                                           std::vector<std::uint32_t> order) {
  std::vector<std::size_t> heights(lifetimes.size()), offsets(lifetimes.size());
  while (!order.empty()) {
    const auto next = std::min_element(order.begin(), order.end(),
                                       [&](auto a, auto b) { return heights[a] < heights[b]; });
    const std::uint32_t thing = *next;
    order.erase(next);
    offsets[thing] = heights[thing];
    for (std::uint32_t other : order) {
      if (lifetimes.before(std::min(thing, other), std::max(thing, other))) continue;
      heights[other] = std::max(heights[other], offsets[thing] + lifetimes.bytes[thing]);
    }
  }
  return offsets;
}

std::size_t top(const Lifetimes& lifetimes, const std::vector<std::size_t>& offsets) {
  std::size_t top = 0;
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
    top = std::max(top, offsets[i] + lifetimes.bytes[i]);
  }
  return top;
}

TEST(Skyline, PlacesWhatCanLieLowestAsIfAllWereLookedAt) {
  std::mt19937 random(4);
  for (std::uint32_t count : {1u, 2u, 3u, 7u, 20u, 64u, 150u}) {
    for (std::uint32_t streams : {1u, 2u, 4u}) {
      for (std::uint32_t longest : {1u, 4u, 40u, 150u}) {
        for (int round = 0; round < 5; ++round) {
          const Lifetimes lifetimes = random_lifetimes(random, count, streams, longest);
          Skyline skyline(lifetimes);
          for (int again = 0; again < 2; ++again) {
            const auto order = random_order(random, count);
            std::vector<std::size_t> offsets(count);
            ASSERT_TRUE(skyline.pack(order, SIZE_MAX, offsets));
            ASSERT_EQ(offsets, placed_one_by_one(lifetimes, order))
                << count << " things on " << streams << " streams";
          }
        }
      }
    }
  }
}

TEST(Skyline, GivesUpExactlyWhereTheLimitIsReached) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const Lifetimes lifetimes = random_lifetimes(random, 40, 3, 20);
    const auto order = random_order(random, 40);
    std::vector<std::size_t> offsets(40);
    const std::size_t height = top(lifetimes, placed_one_by_one(lifetimes, order));
    Skyline skyline(lifetimes);
    EXPECT_FALSE(skyline.pack(order, height, offsets));
    EXPECT_TRUE(skyline.pack(order, height + 1, offsets));
    EXPECT_EQ(top(lifetimes, offsets), height);
  }
}

}  // namespace
}  // namespace anabranch
