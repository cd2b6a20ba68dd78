#include "codegen/skyline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace anabranch {
namespace {

/// Block i is live from i to before `ends[i]`.
struct Blocks {
  std::vector<std::size_t> bytes;
  std::vector<std::uint32_t> ends;

  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes.size()); }
  bool overlap(std::uint32_t a, std::uint32_t b) const {
    return std::max(a, b) < std::min(ends[a], ends[b]);
  }
};

Blocks random_blocks(std::mt19937& random, std::uint32_t count, std::uint32_t longest) {
  Blocks blocks;
  for (std::uint32_t i = 0; i < count; ++i) {
    blocks.bytes.push_back(1 + random() % 9);
    blocks.ends.push_back(i + 1 +
                          static_cast<std::uint32_t>(random()) % std::min(longest, count - i));
  }
  return blocks;
}

std::vector<std::uint32_t> random_order(std::mt19937& random, std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// Every block that remains is looked at for each that is placed.
std::vector<std::size_t> placed_one_by_one(const Blocks& blocks, std::vector<std::uint32_t> order) {
  std::vector<std::size_t> floors(blocks.size()), offsets(blocks.size());
  while (!order.empty()) {
    const auto next = std::min_element(order.begin(), order.end(),
                                       [&](auto a, auto b) { return floors[a] < floors[b]; });
    const std::uint32_t block = *next;
    order.erase(next);
    offsets[block] = floors[block];
    for (std::uint32_t other : order) {
      if (!blocks.overlap(block, other)) continue;
      floors[other] = std::max(floors[other], offsets[block] + blocks.bytes[block]);
    }
  }
  return offsets;
}

std::size_t top(const Blocks& blocks, const std::vector<std::size_t>& offsets) {
  std::size_t top = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    top = std::max(top, offsets[i] + blocks.bytes[i]);
  return top;
}

TEST(Skyline, PlacesWhatCanLieLowestAsIfAllWereLookedAt) {
  std::mt19937 random(4);
  for (std::uint32_t count : {1u, 2u, 3u, 7u, 20u, 64u, 150u}) {
    for (std::uint32_t longest : {1u, 4u, 40u, 150u}) {
      for (int round = 0; round < 10; ++round) {
        const Blocks blocks = random_blocks(random, count, longest);
        Skyline skyline(blocks.bytes, blocks.ends);
        for (int again = 0; again < 2; ++again) {
          const auto order = random_order(random, count);
          std::vector<std::size_t> offsets(count);
          ASSERT_TRUE(skyline.pack(order, SIZE_MAX, offsets));
          ASSERT_EQ(offsets, placed_one_by_one(blocks, order)) << count << " blocks";
        }
      }
    }
  }
}

TEST(Skyline, GivesUpExactlyWhereTheLimitIsReached) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const Blocks blocks = random_blocks(random, 40, 20);
    const auto order = random_order(random, 40);
    std::vector<std::size_t> offsets(40);
    const std::size_t height = top(blocks, placed_one_by_one(blocks, order));
    Skyline skyline(blocks.bytes, blocks.ends);
    EXPECT_FALSE(skyline.pack(order, height, offsets));
    EXPECT_TRUE(skyline.pack(order, height + 1, offsets));
    EXPECT_EQ(top(blocks, offsets), height);
  }
}

}  // namespace
}  // namespace anabranch
