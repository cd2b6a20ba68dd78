#include "codegen/kernel/split_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "codegen/kernel/index_range.h"
#include "codegen/kernel/loop_pieces.h"
#include "ir/graph/builder.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

Kernel split(const Graph& region) {
  Kernel kernel = split_loops(tile(lower_region(region).calls.at(0).kernel, {}));
  verify(kernel);
  return kernel;
}

Kernel split(const std::string& text) { return split(parse(text)); }

/// What is done per element of a kernel's output, on average over the iterations of its loops.
struct Work {
  double loads = 0, masked = 0, selections = 0;
};

void count(const Kernel& kernel, const Block& block, double times, Work& work) {
  for (Ref ref : block) {
    const Operation& operation = kernel[ref].operation;
    if (const auto* loop = std::get_if<Loop>(&operation)) {
      count(kernel, loop->body, times * static_cast<double>(loop->extent), work);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      (load->mask ? work.masked : work.loads) += times;
    } else if (const auto* compute = std::get_if<Compute>(&operation)) {
      if (compute->op == Op::select) work.selections += times;
    }
  }
}

Work work_of(const Kernel& kernel) {
  std::int64_t size = 0;
  for (const KernelBuffer& buffer : kernel.buffers) {
    if (buffer.access == Access::write) size += buffer.size;
  }
  Work work;
  count(kernel, kernel.body, 1.0 / static_cast<double>(size), work);
  return work;
}

/// The loops of all kernels' blocks, in order: "0+4000 4000+4000".
std::string pieces_of(const Kernel& kernel, const Block& block) {
  std::string text;
  for (Ref ref : block) {
    const auto* loop = std::get_if<Loop>(&kernel[ref].operation);
    if (!loop) continue;
    text += (text.empty() ? "" : " ") + std::to_string(loop->first) + "+" +
            std::to_string(loop->extent);
    const std::string inside = pieces_of(kernel, loop->body);
    if (!inside.empty()) text += "(" + inside + ")";
  }
  return text;
}

std::string pieces_of(const Kernel& kernel) { return pieces_of(kernel, kernel.body); }

const std::string two_halves = R"(
graph two(%0: f32[4000], %1: f32[4000]) {
  %2: f32[8000] = concatenate %0, %1 axis=0
  return %2
})";

TEST(SplitLoops, AConcatenationIsALoopPerOperand) {
  const Kernel kernel = split(two_halves);
  EXPECT_EQ(pieces_of(kernel), "0+4000 4000+4000");
  const Work work = work_of(kernel);
  EXPECT_EQ(work.masked, 0);
  EXPECT_EQ(work.selections, 0);
  EXPECT_EQ(work.loads, 1);
  EXPECT_EQ(kernel.extent(), 8000);
}

TEST(SplitLoops, AVectorAcrossASeamIsAPieceByItself) {
  const Kernel kernel = split(R"(
graph roll(%0: f32[100000]) {
  %1: f32[30001] = slice %0 start=[69999] limit=[100000] stride=[1]
  %2: f32[69999] = slice %0 start=[0] limit=[69999] stride=[1]
  %3: f32[100000] = concatenate %1, %2 axis=0
  return %3
})");
  EXPECT_EQ(pieces_of(kernel), "0+30000 30000+16 30016+69984");
  EXPECT_LT(work_of(kernel).masked, 0.001);
}

TEST(SplitLoops, TheInteriorOfAPadIsUnmasked) {
  const Kernel kernel = split(R"(
graph frame(%0: f32[510,1022]) {
  %1: f32[] = constant 0.0
  %2: f32[512,1024] = pad %0, %1 low=[1,1] high=[1,1] interior=[0,0]
  return %2
})");
  EXPECT_EQ(pieces_of(kernel), "0+1(0+1024) 1+510(0+16 16+992 1008+16) 511+1(0+1024)");
  EXPECT_LT(work_of(kernel).masked, 0.05);
  EXPECT_LT(work_of(kernel).selections, 0.05);
}

// u[i-1] + u[i+1] - 2 u[i] around a ring.
const std::string ring = R"(
graph ring(%0: f32[N]) {
  %1: f32[1] = slice %0 start=[M] limit=[N] stride=[1]
  %2: f32[M] = slice %0 start=[0] limit=[M] stride=[1]
  %3: f32[N] = concatenate %1, %2 axis=0
  %4: f32[M] = slice %0 start=[1] limit=[N] stride=[1]
  %5: f32[1] = slice %0 start=[0] limit=[1] stride=[1]
  %6: f32[N] = concatenate %4, %5 axis=0
  %7: f32[N] = add %3, %6
  %8: f32[N] = add %0, %0
  %9: f32[N] = subtract %7, %8
  return %9
})";

TEST(SplitLoops, AStencilReadsItsNeighboursUnmasked) {
  const Kernel kernel = split(with_sizes(ring, 4096, 4095));
  EXPECT_EQ(pieces_of(kernel), "0+16 16+4064 4080+16");
  EXPECT_LT(work_of(kernel).masked, 0.04);
  EXPECT_LT(work_of(kernel).selections, 0.02);
}

// The comparisons are with the loops' indices themselves: their 64 bits do not narrow the vectors.
TEST(SplitLoops, AStencilOfSlicesOfAPadHasWholeVectors) {
  const Kernel kernel = split(R"(
graph plate(%0: f32[512,512]) {
  %1: f32[] = constant 0.0
  %2: f32[514,514] = pad %0, %1 low=[1,1] high=[1,1] interior=[0,0]
  %3: f32[512,512] = slice %2 start=[1,0] limit=[513,512] stride=[1,1]
  %4: f32[512,512] = slice %2 start=[1,2] limit=[513,514] stride=[1,1]
  %5: f32[512,512] = slice %2 start=[0,1] limit=[512,513] stride=[1,1]
  %6: f32[512,512] = slice %2 start=[2,1] limit=[514,513] stride=[1,1]
  %7: f32[512,512] = add %3, %4
  %8: f32[512,512] = add %5, %6
  %9: f32[512,512] = add %7, %8
  return %9
})");
  EXPECT_EQ(pieces_of(kernel), "0+1(0+512) 1+510(0+16 16+480 496+16) 511+1(0+512)");
  EXPECT_LT(work_of(kernel).masked, 0.08);
}

TEST(SplitLoops, ShortLoopsStayWhole) {
  EXPECT_EQ(pieces_of(split(with_sizes(ring, 64, 63))), "0+64");
  EXPECT_EQ(pieces_of(split(R"(
graph square(%0: f32[64,128]) {
  %1: f32[64,128] = multiply %0, %0
  return %1
})")),
            "0+8192");
}

TEST(SplitLoops, ASumIsThatOfItsPieces) {
  const std::string both = R"(
graph both(%0: f32[1000], %1: f32[1000]) {
  %2: f32[2000] = concatenate %0, %1 axis=0
  %3: f32[] = reduce_sum %2 axes=[0]
  return %3
})";
  EXPECT_EQ(pieces_of(split(both)), "0+992 992+16 1008+992");
  expect_lowers(both);
}

TEST(SplitLoops, ALoopThatFindsAPlaceStaysWhole) {
  EXPECT_EQ(pieces_of(split(R"(
graph place(%0: f32[1000], %1: f32[1000]) {
  %2: f32[2000] = concatenate %0, %1 axis=0
  %3: i32[] = argmax %2 axis=0
  return %3
})")),
            "0+2000");
}

// Rows and columns of a frame, by every op that folds; a row is a sum of pieces, and rows are.
TEST(SplitLoops, ReductionsOfAFrame) {
  const std::pair<std::string, std::string> ops[] = {
      {"f32", "reduce_sum"},     {"f32", "reduce_max"},  {"f32", "reduce_min"},
      {"f32", "reduce_product"}, {"bool", "reduce_any"}, {"bool", "reduce_all"}};
  const std::pair<std::string, std::string> axes[] = {{"0", "105"}, {"1", "105"}, {"0,1", ""}};
  for (const auto& [dtype, op] : ops) {
    for (const auto& [reduced, kept] : axes) {
      expect_lowers("graph frame(%0: " + dtype + "[101,101], %1: " + dtype +
                    "[]) {\n  %2: " + dtype +
                    "[105,105] = pad %0, %1 low=[3,2] high=[1,2] interior=[0,0]\n  %3: " + dtype +
                    "[" + kept + "] = " + op + " %2 axes=[" + reduced + "]\n  return %3\n}");
    }
  }
}

TEST(SplitLoops, GivesWhatTheInterpreterGives) {
  for (std::int64_t n : {3, 65, 100, 129, 1000}) expect_lowers(with_sizes(ring, n, n - 1));
  expect_lowers(two_halves);
  for (std::int64_t n : {1, 17, 80, 400}) {
    expect_lowers(with_sizes(R"(
graph frames(%0: f32[N,N], %1: f32[], %2: i32[N]) {
  %3: f32[M,M] = pad %0, %1 low=[3,2] high=[2,3] interior=[0,0]
  %4: f32[M,M] = negate %3
  %5: f32[M,M] = reverse %4 axes=[1]
  %6: f32[M,M] = multiply %4, %5
  return %6, %4
})",
                             n, n + 5));
    expect_lowers(with_sizes(R"(
graph holes(%0: i32[N], %1: i32[]) {
  %2: i32[M] = pad %0, %1 low=[0] high=[1] interior=[1]
  %3: i32[M] = iota axis=0
  %4: i32[] = constant 70
  %5: i32[M] = broadcast_in_dim %4 axes=[]
  %6: bool[M] = compare %3, %5 direction=lt
  %7: i32[M] = select %6, %2, %3
  return %7
})",
                             n, 2 * n));
  }
}

/// `count` slices of one array in another order, `size` elements each.
Graph shuffled(std::int64_t count, std::int64_t size) {
  GraphBuilder builder("shuffled");
  const Value from = builder.parameter(Type{f32, Shape{count * size}});
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = i * 7 % count * size;
    parts.push_back(builder.add(Op::slice, {from}, SliceAttributes{{start}, {start + size}, {1}}));
  }
  return builder.build({builder.add(Op::concatenate, parts, AxisAttributes{0})});
}

TEST(SplitLoops, ManySeamsTakeWorkInProportion) {
  for (std::int64_t size : {10, 100, 1000}) {
    std::map<std::int64_t, std::size_t> instructions;
    for (std::int64_t count : {30, 300}) {
      const Kernel kernel = split(shuffled(count, size));
      instructions[count] = kernel.instructions.size();
      // Also where the slices are shorter than a vector, an element is not looked for in all.
      EXPECT_LT(work_of(kernel).masked, 20) << count << " of " << size;
    }
    EXPECT_LT(instructions[300], 60 * 300) << size;
    EXPECT_LT(instructions[300], 12 * instructions[30]) << size;
  }
  expect_lowers(shuffled(30, 100));
  expect_lowers(shuffled(30, 10));
}

TEST(SplitLoops, AKernelGrowsByAConstantFactor) {
  GraphBuilder builder("grid");
  const Type type{f32, Shape{40, 40, 2000}};
  const Value from = builder.parameter(type);
  const Value zero = builder.constant(Literal(Type{f32, {}}, std::vector<std::byte>(4)));
  Value sum = from;
  for (std::int64_t shift = 1; shift <= 20; ++shift) {
    const std::vector<std::int64_t> low = {shift, shift, 90 * shift},
                                    high = {-shift, -shift, -90 * shift};
    sum = builder.add(
        Op::add, {sum, builder.add(Op::pad, {from, zero}, PadAttributes{low, high, {0, 0, 0}})});
  }
  const Graph region = builder.build({sum});
  const Kernel whole = tile(lower_region(region).calls.at(0).kernel, {});
  EXPECT_LT(split_loops(whole).instructions.size(), 12 * whole.instructions.size() + 256);
}

TEST(CutAtSeams, PiecesBeginAtMultiplesOfTheWidth) {
  const auto text = [](std::int64_t extent, std::vector<std::int64_t> seams, int width) {
    std::ostringstream out;
    for (const LoopPiece& piece : cut_at_seams(extent, seams, width)) {
      out << piece.first << "+" << piece.count << " ";
    }
    return out.str();
  };
  EXPECT_EQ(text(100, {1, 99}, 8), "0+8 8+88 96+4 ");
  EXPECT_EQ(text(100, {48}, 8), "0+48 48+52 ");
  EXPECT_EQ(text(100, {50}, 8), "0+48 48+8 56+44 ");
  EXPECT_EQ(text(100, {50, 52, 55}, 8), "0+48 48+8 56+44 ");
  EXPECT_EQ(text(120, {50, 70}, 8), "0+48 48+24 72+48 ");
  EXPECT_EQ(text(30, {15}, 8), "0+30 ");
  EXPECT_EQ(text(5, {1, 4}, 1), "0+1 1+3 4+1 ");
  EXPECT_EQ(text(5, {}, 8), "0+5 ");
}

TEST(CutAtSeams, CoarserPiecesKeepTheLongOnes) {
  const std::vector<LoopPiece> pieces = {{0, 4}, {4, 4}, {8, 100}, {108, 4}, {112, 4}};
  const std::vector<LoopPiece> fewer = {{0, 8}, {8, 100}, {108, 8}};
  EXPECT_EQ(coarser(pieces), fewer);
  const std::vector<LoopPiece> even = {{0, 8}, {8, 100}};
  EXPECT_EQ(coarser(even).size(), 1u);
}

}  // namespace
}  // namespace anabranch::testing
