#include "codegen/lower/chunks.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

std::optional<std::int64_t> rows_per_chunk(std::int64_t rows, std::int64_t columns) {
  return anabranch::rows_per_chunk(rows, columns, 8, {.least_chunked_bytes = 1 << 20});
}

TEST(RowsPerChunk, AreThirtyTwoOrWorthALoop) {
  EXPECT_EQ(rows_per_chunk(4096, 4096), 32);
  EXPECT_EQ(rows_per_chunk(1 << 20, 512), 32);
  EXPECT_EQ(rows_per_chunk(1 << 20, 64), 256);
  EXPECT_EQ(rows_per_chunk(1 << 20, 8), 2048);
}

TEST(RowsPerChunk, AreMoreWhereColumnsHaveSeveralSums) {
  const ColumnSums sums = {.least_chunked_bytes = 1 << 20, .least_rows_of_several = 48};
  EXPECT_EQ(anabranch::rows_per_chunk(4096, 4096, 8, sums, true), 48);
  EXPECT_EQ(anabranch::rows_per_chunk(8 * 48 - 1, 4096, 8, sums, true), std::nullopt);
}

TEST(RowsPerChunk, AreNoneOfSmallNarrowAndFlatMatrices) {
  EXPECT_EQ(rows_per_chunk(1024, 128), 128);
  EXPECT_EQ(rows_per_chunk(1023, 128), std::nullopt);
  EXPECT_EQ(rows_per_chunk(1 << 24, 7), std::nullopt);
  EXPECT_EQ(rows_per_chunk(256, 1 << 20), 32);
  EXPECT_EQ(rows_per_chunk(255, 1 << 20), std::nullopt);
  EXPECT_EQ(rows_per_chunk(0, 128), std::nullopt);
  EXPECT_EQ(rows_per_chunk(128, 0), std::nullopt);
  EXPECT_EQ(anabranch::rows_per_chunk(1 << 20, 1 << 20, 8, {}), std::nullopt);
}

TEST(CutIntoChunks, CutsTheLongestLoop) {
  const auto cut = [](std::initializer_list<std::int64_t> extents, std::int64_t places) {
    std::vector<AxisGroup> groups;
    for (std::int64_t extent : extents) groups.push_back({{}, {extent}, extent});
    const Chunks chunks = cut_into_chunks(groups, places);
    return std::vector<std::int64_t>{static_cast<std::int64_t>(chunks.group), chunks.size,
                                     chunks.count};
  };
  using Cut = std::vector<std::int64_t>;
  EXPECT_EQ(cut({4096}, 32), (Cut{0, 32, 128}));
  EXPECT_EQ(cut({5500}, 32), (Cut{0, 20, 275}));  // the nearest divisor that is a multiple of 4
  EXPECT_EQ(cut({2050}, 32), (Cut{0, 25, 82}));   // of those that are none
  EXPECT_EQ(cut({1031}, 32), (Cut{0, 32, 33}));   // none is near
  EXPECT_EQ(cut({4, 1024}, 32), (Cut{1, 8, 128}));
  EXPECT_EQ(cut({64, 16}, 8), (Cut{0, 1, 64}));
  EXPECT_EQ(cut({10}, 32), (Cut{0, 10, 1}));
}

}  // namespace
}  // namespace anabranch
