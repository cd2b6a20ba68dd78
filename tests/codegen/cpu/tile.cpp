#include "codegen/cpu/tile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/costs.h"
#include "codegen/memory/in_place.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

Kernel tiled(const std::string& text, const Target& target = {}, bool row_major = false) {
  return tile(lower_region(parse(text)).calls.at(0).kernel, target, row_major);
}

/// The loops in the order of the text: "64 parallel, 128 vector(16) unroll(4)".
std::string loops_of(const Kernel& kernel) {
  std::string text;
  std::vector<const Block*> open = {&kernel.body};
  while (!open.empty()) {
    const Block& block = *open.back();
    open.pop_back();
    for (Ref ref : block) {
      auto* loop = std::get_if<Loop>(&kernel[ref].operation);
      if (!loop) continue;
      text += (text.empty() ? "" : ", ") + std::to_string(loop->extent);
      if (loop->parallel) text += " parallel";
      if (loop->vector_width > 1) text += " vector(" + std::to_string(loop->vector_width) + ")";
      if (loop->unroll > 1) text += " unroll(" + std::to_string(loop->unroll) + ")";
      open.push_back(&loop->body);
    }
  }
  return text;
}

TEST(Tile, ElementwiseRunsAlongMemory) {
  EXPECT_EQ(loops_of(tiled(R"(
graph square(%0: f32[64,128]) {
  %1: f32[64,128] = multiply %0, %0
  return %1
})")),
            "8192 parallel vector(16) unroll(4)");
}

TEST(Tile, LanesFollowTheWidestElement) {
  EXPECT_EQ(loops_of(tiled("graph a(%0: f64[4096]) {\n %1: f64[4096] = negate %0\n return %1\n}")),
            "4096 parallel vector(8) unroll(4)");
  EXPECT_EQ(loops_of(tiled("graph a(%0: i8[4096]) {\n %1: i8[4096] = negate %0\n return %1\n}")),
            "4096 parallel vector(64) unroll(4)");
  EXPECT_EQ(loops_of(tiled("graph a(%0: f16[4096]) {\n %1: f16[4096] = negate %0\n return %1\n}")),
            "4096 parallel vector(16) unroll(4)");
  EXPECT_EQ(loops_of(tiled("graph a(%0: f32[5]) {\n %1: f32[5] = negate %0\n return %1\n}")),
            "5 parallel vector(8)");
}

TEST(Tile, FewLongRowsAreCutAlongTheRows) {
  EXPECT_EQ(loops_of(tiled(R"(
graph few(%0: f32[2,100000], %1: f32[100000]) {
  %2: f32[2,100000] = broadcast_in_dim %1 axes=[1]
  %3: f32[2,100000] = multiply %0, %2
  return %3
})")),
            "100000 parallel vector(16) unroll(4), 2");
}

TEST(Tile, ShortRowsShareVectors) {
  const std::string text = R"(
graph pixels(%0: f32[N,3], %1: f32[3]) {
  %2: f32[N,3] = broadcast_in_dim %1 axes=[1]
  %3: f32[N,3] = multiply %0, %2
  return %3
})";
  EXPECT_EQ(loops_of(tiled(with_sizes(text, 1600))), "100 parallel, 48 vector(16) unroll(3)");
  EXPECT_EQ(loops_of(tiled(with_sizes(text, 1601))), "4803 parallel vector(16) unroll(4)");
  for (std::int64_t n : {1, 16, 128, 1600, 1601}) expect_lowers(with_sizes(text, n));
}

TEST(Tile, TransposedReadsGoByTiles) {
  const std::string text = R"(
graph turned(%0: f32[N,M]) {
  %1: f32[M,N] = transpose %0 axes=[1,0]
  return %1
})";
  EXPECT_EQ(loops_of(tiled(with_sizes(text, 1024, 2048))),
            "2048 parallel, 32, 32 vector(16) unroll(2)");
  for (std::int64_t n : {32, 96, 127, 130}) expect_lowers(with_sizes(text, n, 160));
}

TEST(Tile, EpiloguesStayInRowMajorOrder) {
  const std::string text = R"(
graph few(%0: f32[2,100000], %1: f32[100000]) {
  %2: f32[2,100000] = broadcast_in_dim %1 axes=[1]
  %3: f32[2,100000] = multiply %0, %2
  return %3
})";
  EXPECT_EQ(loops_of(tiled(text, {}, true)), "2 parallel, 100000 vector(16) unroll(4)");
}

TEST(Tile, RowReductionsRunAlongTheRow) {
  EXPECT_EQ(loops_of(tiled(R"(
graph rows(%0: f32[64,1024]) {
  %1: f32[64] = reduce_sum %0 axes=[1]
  return %1
})")),
            "64 parallel, 1024 vector(16) unroll(4)");
}

TEST(Tile, ColumnReductionsRunAcrossTheColumns) {
  EXPECT_EQ(loops_of(tiled(R"(
graph columns(%0: f32[64,1024]) {
  %1: f32[1024] = reduce_sum %0 axes=[0]
  return %1
})")),
            "1024 parallel vector(16) unroll(4), 64");
}

TEST(Tile, ShortRowsReduceAcrossRows) {
  EXPECT_EQ(loops_of(tiled(R"(
graph short(%0: f32[4096,2]) {
  %1: f32[4096] = reduce_sum %0 axes=[1]
  return %1
})")),
            "4096 parallel vector(16) unroll(4), 2");
}

TEST(Tile, LargeResultsBypassTheCaches) {
  const Target target{.vector_bytes = 64, .cache_bytes = 1 << 20, .non_temporal_bytes = 1000};
  for (auto [n, expected] : {std::pair{200, false}, {300, true}}) {
    const Kernel kernel = tiled(
        with_sizes("graph a(%0: f32[N]) {\n %1: f32[N] = negate %0\n return %1\n}", n), target);
    bool bypasses = false;
    for (const Instruction& instruction : kernel.instructions) {
      auto* store = std::get_if<Store>(&instruction.operation);
      bypasses |= store && store->non_temporal;
    }
    EXPECT_EQ(bypasses, expected);
  }
}

/// Of each load, in order.
std::vector<std::int64_t> prefetch_distances(const Kernel& kernel) {
  std::vector<std::int64_t> distances;
  for (const Instruction& instruction : kernel.instructions) {
    if (auto* load = std::get_if<Load>(&instruction.operation)) distances.push_back(load->prefetch);
  }
  return distances;
}

TEST(Tile, TheLastPassOverARowFetchesTheNext) {
  const Kernel kernel = tiled(R"(
graph centred(%0: f32[8192,256]) {
  %1: f32[8192] = reduce_max %0 axes=[1]
  %2: f32[8192,256] = broadcast_in_dim %1 axes=[0]
  %3: f32[8192,256] = subtract %0, %2
  return %3
})");
  const std::vector<std::int64_t> distances = prefetch_distances(kernel);
  EXPECT_EQ(distances, (std::vector<std::int64_t>{0, 256}));
}

TEST(Tile, StaggeredRowsFetchTheRowAfterThoseInWork) {
  const Kernel kernel = tiled(R"(
graph softmax(%0: f32[16384,1024]) {
  %1: f32[16384] = reduce_max %0 axes=[1]
  %2: f32[16384,1024] = broadcast_in_dim %1 axes=[0]
  %3: f32[16384,1024] = subtract %0, %2
  %4: f32[16384,1024] = exponential %3
  return %4
})");
  const std::vector<std::int64_t> distances = prefetch_distances(kernel);
  // The input's rows t and t - 1, of which the second tells of row t + 1, between what is carried.
  EXPECT_EQ(std::ranges::count(distances, 2048), 1);
  EXPECT_EQ(std::ranges::count(distances, 0), std::ssize(distances) - 1);
}

TEST(Grain, SmallKernelsAreNeverCut) {
  const std::string text = "graph a(%0: f32[N]) {\n %1: f32[N] = negate %0\n return %1\n}";
  EXPECT_EQ(grain(tiled(with_sizes(text, 1000))), 1000);
  const Kernel large = tiled(with_sizes(text, 1 << 24));
  EXPECT_LT(grain(large), 1 << 20);
  EXPECT_EQ(grain(large) % 64, 0);
  EXPECT_GE(core_ns(large.cost) * static_cast<double>(grain(large)) / (1 << 24), 19'000);
}

TEST(InPlace, ResultsTakeOperandsReadAtTheSamePlace) {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  auto pairs_of = [](const std::string& text) {
    return in_place_buffers(lower_region(parse(text)).calls.at(0).kernel);
  };
  EXPECT_EQ(pairs_of(R"(
graph same(%0: f32[8], %1: f64[8]) {
  %2: f32[8] = convert %1
  %3: f32[8] = add %0, %2
  %4: f32[8] = negate %0
  return %3, %4
})"),
            (Pairs{{0, 2}, {0, 3}}));
  EXPECT_EQ(pairs_of(R"(
graph turned(%0: f32[8]) {
  %1: f32[8] = reverse %0 axes=[0]
  %2: f32[8] = add %0, %1
  return %2
})"),
            Pairs{});
  EXPECT_EQ(pairs_of(R"(
graph rows(%0: f32[8,4], %1: f32[8]) {
  %2: f32[8] = reduce_sum %0 axes=[1]
  %3: f32[8] = add %2, %1
  return %3
})"),
            (Pairs{{1, 2}}));
}

// out = x, then more = x once more: the second load would find what the store has written.
TEST(InPlace, WhatIsStillReadIsNotWrittenOver) {
  for (bool again : {false, true}) {
    Kernel kernel;
    kernel.name = "again";
    for (Access access : {Access::read, Access::write, Access::write}) {
      kernel.buffers.push_back({"b" + std::to_string(kernel.buffers.size()), f32, 8, access});
    }
    auto define = [&](Dtype dtype, Operation operation) {
      kernel.instructions.push_back({std::move(operation), dtype, {}});
      return Ref{static_cast<std::uint32_t>(kernel.instructions.size() - 1)};
    };
    Loop whole;
    whole.extent = 8;
    const Ref loop = define(i64, whole);
    const Index i = kernel.index_of(loop);
    const Ref first = define(f32, Load{0, i, {}});
    const Ref stored = define(i64, Store{1, i, first});
    const Ref second = again ? define(f32, Load{0, i, {}}) : first;
    const Ref last = define(i64, Store{2, i, second});
    std::get<Loop>(kernel[loop].operation).body =
        again ? Block{first, stored, second, last} : Block{first, stored, last};
    kernel.body = {loop};
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    EXPECT_EQ(in_place_buffers(kernel), again ? (Pairs{{0, 2}}) : (Pairs{{0, 1}, {0, 2}}));
  }
}

}  // namespace
}  // namespace anabranch::testing
