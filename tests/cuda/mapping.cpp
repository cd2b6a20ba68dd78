// Which threads take what, and how it looks as CUDA C++.
#include <gtest/gtest.h>

#include "codegen/cuda/emit/kernel.h"
#include "forms.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

using cuda::MappedKernel;

std::vector<MappedKernel> mapped(std::string_view name, std::int64_t n, std::int64_t m) {
  std::vector<MappedKernel> kernels;
  for (KernelCall& call : lower_region(parse(with_sizes(form(name).text, n, m))).calls) {
    kernels.push_back(cuda::map_threads(std::move(call.kernel)));
  }
  return kernels;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(MapThreads, TakesElementsInPacksOf16Bytes) {
  const MappedKernel chain = mapped("chain", 4096, 4096)[0];
  EXPECT_EQ(chain.blocks(), 4096 * 4096 / 4 / 256);
  const std::string text = emit_kernel(chain);
  EXPECT_EQ(count(text, "load<4>"), 2) << text;
  EXPECT_EQ(count(text, "store(&"), 2) << text;
  EXPECT_EQ(count(emit_kernel(mapped("halves", 4096, 4096)[0]), "load<8>"), 2);
  EXPECT_EQ(count(emit_kernel(mapped("chain", 3, 33)[0]), "load<"), 0);
}

TEST(MapThreads, ReadsARowOnceAndKeepsItInRegisters) {
  for (std::int64_t length : {1024, 8192}) {
    const MappedKernel softmax = mapped("softmax", 1 << 16, length)[0];
    EXPECT_EQ(softmax.map.members, length == 1024 ? 32 : 512);
    const std::string text = emit_kernel(softmax);
    EXPECT_EQ(count(text, "&in0["), 1) << text;
    EXPECT_EQ(count(text, "__shared__"), 0) << text;
  }
}

TEST(MapThreads, TransposesThroughSharedMemory) {
  const MappedKernel transpose = mapped("transpose", 1000, 3000)[0];
  EXPECT_EQ(transpose.blocks(), 32 * 94);
  const std::string text = emit_kernel(transpose);
  EXPECT_EQ(count(text, "__shared__ f32 tile0[32][33];"), 1) << text;
  EXPECT_EQ(mapped("transpose", 3, 3000)[0].map.in_tiles(), false);
}

TEST(MapThreads, GivesNeighbouringColumnsToNeighbouringThreads) {
  const MappedKernel few = mapped("column_sums", 512, 64)[0];
  EXPECT_TRUE(few.map.in_columns);
  EXPECT_EQ(few.map.members, 32);
  const MappedKernel many = mapped("column_sums", 16, 1 << 20)[0];
  EXPECT_EQ(many.map.members, 1);
  EXPECT_EQ(many.blocks(), (1 << 20) / 256);
}

TEST(MapThreads, HasNoBlocksWhereThereIsNothingToDo) {
  EXPECT_EQ(mapped("chain", 0, 8)[0].blocks(), 0);
  EXPECT_EQ(mapped("transpose", 64, 0)[0].blocks(), 0);
}

TEST(EmitKernel, IndexesWith64BitsWhereItHasTo) {
  const std::string small = emit_kernel(mapped("chain", 1 << 14, 1 << 15)[0]);
  EXPECT_EQ(count(small, "using index = i32;"), 1) << small;
  const std::string large = emit_kernel(mapped("chain", 1 << 16, 1 << 16)[0]);
  EXPECT_EQ(count(large, "using index = i64;"), 1) << large;
}

}  // namespace
}  // namespace anabranch::testing
