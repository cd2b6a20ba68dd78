// Which numbers lie in a range, against the loop that says so.
#include "codegen/host/keep_within.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/support/random_literal.h"

namespace anabranch::host {
namespace {

using Limits = std::numeric_limits<std::int32_t>;

struct Kept {
  std::vector<std::uint32_t> offsets, positions;
};

Kept by_loop(const std::vector<std::int32_t>& numbers, std::int64_t least, std::int64_t some) {
  Kept kept;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t offset = numbers[i] - least;
    if (offset < 0 || offset >= some) continue;
    kept.offsets.push_back(static_cast<std::uint32_t>(offset));
    kept.positions.push_back(static_cast<std::uint32_t>(i));
  }
  return kept;
}

Kept by_vectors(const std::vector<std::int32_t>& numbers, std::int64_t least, std::int64_t some) {
  Kept kept;
  kept.offsets.resize(numbers.size() + keep_within_overhang);
  kept.positions.resize(numbers.size() + keep_within_overhang);
  const std::size_t count =
      keep_within(numbers.data(), numbers.size(), static_cast<std::int32_t>(least),
                  static_cast<std::uint32_t>(some), kept.offsets.data(), kept.positions.data());
  kept.offsets.resize(count);
  kept.positions.resize(count);
  return kept;
}

TEST(KeepWithin, GivesWhatTheLoopGives) {
  Random random(1);
  constexpr std::int64_t lowest = Limits::min(), beyond = std::int64_t{Limits::max()} + 1;
  for (int turn = 0; turn < 3000; ++turn) {
    std::int64_t least = random.below(50) - 25, some = random.below(30);
    if (turn % 3 == 1) least = lowest;
    if (turn % 3 == 2) least = beyond - some;
    if (random.percent(10)) some = beyond - least;
    some = std::min<std::int64_t>(some, std::numeric_limits<std::uint32_t>::max());
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(random.below(70)));
    for (std::int32_t& number : numbers) {
      const std::int64_t near = random.percent(50) ? least + random.below(40) - 5
                                                   : (random.percent(50) ? lowest : beyond - 1);
      number = static_cast<std::int32_t>(std::clamp(near, lowest, beyond - 1));
    }
    const Kept wanted = by_loop(numbers, least, some), got = by_vectors(numbers, least, some);
    ASSERT_EQ(got.offsets, wanted.offsets) << "turn " << turn;
    ASSERT_EQ(got.positions, wanted.positions) << "turn " << turn;
  }
}

}  // namespace
}  // namespace anabranch::host
