// Loops in pieces: a parallel loop of which each piece runs what it has of the caller's range,
// inner loops that begin above 0, and the addresses of loads none of whose lanes is read.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/codegen/cpu/kernel_sketch.h"

namespace anabranch::cpu {
namespace {

Loop from(std::int64_t first, Loop loop) {
  loop.first = first;
  return loop;
}

// out[i] = i < 40 ? in[i] : in[i] + 100, in two pieces.
TEST(Pieces, RunWhatTheyHaveOfARange) {
  constexpr std::int64_t size = 133, seam = 48;
  for (auto [width, unroll] : {std::pair{1, 1}, {16, 1}, {16, 4}}) {
    KernelSketch sketch("pieces");
    auto in = sketch.buffer(Access::read, i32, size), out = sketch.buffer(Access::write, i32, size);
    Ref hundred = sketch.constant(i32, 100);
    Index i = sketch.open(range(seam, width, unroll));
    sketch.store(out, i, sketch.load(in, i));
    sketch.close();
    Index j = sketch.open(from(seam, range(size - seam, width, unroll)));
    sketch.store(out, j, sketch.add(sketch.load(in, j), hundred));
    sketch.close();
    verify(sketch.kernel());
    EXPECT_EQ(sketch.kernel().extent(), size);
    const Code code = compile_legalised(std::span(&sketch.kernel(), 1));
    std::vector<std::int32_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 7);
    for (std::int64_t begin : {0, 5, 40, 48, 49, 100}) {
      for (std::int64_t end : {begin, std::int64_t{48}, std::int64_t{50}, size}) {
        if (end < begin) continue;
        std::vector<std::int32_t> got(size, -1);
        void* pointers[] = {numbers.data(), got.data()};
        code.functions[0](nullptr, pointers, begin, end);
        for (std::int64_t k = 0; k < size; ++k) {
          const auto at = static_cast<std::size_t>(k);
          const std::int32_t wanted = numbers[at] + (k < seam ? 0 : 100);
          ASSERT_EQ(got[at], k >= begin && k < end ? wanted : -1)
              << k << " of [" << begin << ", " << end << ") width " << width;
        }
      }
    }
  }
}

// Rows of 100, of which the elements from `first` on are stored.
TEST(Pieces, InnerLoopsMayBeginAnywhere) {
  constexpr std::int64_t size = 100;
  for (std::int64_t first : {16, 64, 96}) {
    for (auto [width, unroll] : {std::pair{1, 1}, {16, 1}, {16, 2}}) {
      KernelSketch sketch("inner");
      auto out = sketch.buffer(Access::write, i64, 3 * size);
      Index i = sketch.open(range(3));
      Index base = sketch.multiply(i, size);
      Index j = sketch.open(from(first, rows(size - first, width, unroll)));
      Index at = sketch.add(base, j);
      sketch.store(out, at, sketch.scalar(at));
      sketch.close();
      sketch.close();
      const Code code = compile_legalised(std::span(&sketch.kernel(), 1));
      std::vector<std::int64_t> got(3 * size, -1);
      void* pointers[] = {got.data()};
      code.functions[0](nullptr, pointers, 0, 3);
      for (std::int64_t k = 0; k < 3 * size; ++k) {
        ASSERT_EQ(got[static_cast<std::size_t>(k)], k % size < first ? -1 : k)
            << k << " from " << first << " width " << width;
      }
    }
  }
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

// A masked load from memory that is not mapped makes the CPU take a fault that it hides.
TEST(Pieces, LoadsOfNoLaneAreAddressedIntoTheOperand) {
  for (std::int64_t step : {1, -1}) {
    KernelSketch sketch("masked");
    auto in = sketch.buffer(Access::read, f32, 1000), out = sketch.buffer(Access::write, f32, 4096);
    Index i = sketch.open(range(4096, 16, 1));
    Ref is_inside = sketch.compute(
        bool_, Op::compare, {sketch.scalar(i), sketch.number(std::int64_t{1000})}, Comparison::lt);
    Index at = step == 1 ? i : sketch.add(sketch.multiply(i, -1), 999);
    sketch.store(out, i, sketch.load(in, at, is_inside));
    sketch.close();
    const std::string text = llvm_text(sketch.kernel());
    const std::size_t loads = count(text, "call <16 x float> @llvm.masked.load");
    EXPECT_EQ(loads, 2u) << text;
    EXPECT_EQ(count(text, "@llvm.vector.reduce.or.v16i1(<16 x i1>"), loads + 1) << text;
  }
}

}  // namespace
}  // namespace anabranch::cpu
