#include "ir/checked.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(Checked, SaysWhatLeaves64Bits) {
  EXPECT_EQ(checked_add(most - 1, 1), most);
  EXPECT_EQ(checked_add(most, 1), std::nullopt);
  EXPECT_EQ(checked_add(least, -1), std::nullopt);
  EXPECT_EQ(checked_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(checked_multiply(least, -1), std::nullopt);
}

TEST(Checked, SaturatesOnTheSideThatItLeaves) {
  EXPECT_EQ(saturating_add(most, 1), most);
  EXPECT_EQ(saturating_add(least, -1), least);
  EXPECT_EQ(saturating_add(most, least), -1);
  EXPECT_EQ(saturating_multiply(most, 2), most);
  EXPECT_EQ(saturating_multiply(most, -2), least);
  EXPECT_EQ(saturating_multiply(-2, most), least);
  EXPECT_EQ(saturating_multiply(least, -1), most);
  EXPECT_EQ(saturating_multiply(-3, 4), -12);
}

}  // namespace
}  // namespace anabranch
