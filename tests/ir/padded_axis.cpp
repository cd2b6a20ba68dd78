#include "ir/padded_axis.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace anabranch {
namespace {

using Wide = __int128;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t large = std::int64_t{1} << 62;

struct Kept {
  std::vector<std::int64_t> elements, places;
  bool operator==(const Kept&) const = default;
};

// One element after the other, in 128 bits.
Kept one_by_one(std::int64_t size, std::int64_t padded, std::int64_t low, std::int64_t interior) {
  Kept kept;
  for (std::int64_t i = 0; i < size; ++i) {
    const Wide place = Wide{low} + Wide{i} * (Wide{interior} + 1);
    if (place < 0 || place >= padded) continue;
    kept.elements.push_back(i);
    kept.places.push_back(static_cast<std::int64_t>(place));
  }
  return kept;
}

Kept by_axis(const PaddedAxis& axis) {
  Kept kept;
  for (std::int64_t i = 0; i < axis.count; ++i) {
    kept.elements.push_back(axis.first + i);
    kept.places.push_back(axis.low + i * axis.step);
  }
  return kept;
}

// Whether `infer` takes it: sums in its order leave 64 bits nowhere.
bool is_taken(std::int64_t size, std::int64_t padded, std::int64_t low, std::int64_t interior) {
  const Wide apart = size + Wide{std::max<std::int64_t>(size - 1, 0)} * interior;
  const Wide high = padded - (apart + low);
  return apart <= most && apart + low <= most && apart + low >= least && high <= most &&
         high >= least;
}

TEST(PaddedAxis, KeepsWhatFallsInside) {
  std::vector<std::int64_t> ends = {most,      most - 1, most - 7, large + 1,  large, large - 1,
                                    large / 3, least,    -most,    -large - 1, -large};
  for (std::int64_t i = -9; i <= 9; ++i) ends.push_back(i);
  int tried = 0;
  for (std::int64_t size = 0; size <= 5; ++size) {
    for (std::int64_t padded = 0; padded <= 7; ++padded) {
      for (std::int64_t low : ends) {
        for (std::int64_t interior : ends) {
          // From an end back by the whole length, so that the last element is inside.
          const Wide back = Wide{low} - Wide{size - 1} * (Wide{interior} + 1);
          for (Wide from : {Wide{low}, back}) {
            if (interior < 0 || from < least || from > most) continue;
            const auto first = static_cast<std::int64_t>(from);
            if (!is_taken(size, padded, first, interior)) continue;
            ++tried;
            const PaddedAxis axis = padded_axis(size, padded, first, interior);
            EXPECT_EQ(by_axis(axis), one_by_one(size, padded, first, interior))
                << size << " to " << padded << ", low " << first << ", interior " << interior;
            EXPECT_LE(axis.step, 8);
            EXPECT_LE(axis.low, 8);
          }
        }
      }
    }
  }
  EXPECT_GT(tried, 9'000);
}

}  // namespace
}  // namespace anabranch
