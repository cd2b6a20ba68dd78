// Which threads take what, and how it looks as CUDA C++.
#include <gtest/gtest.h>

#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/map_threads.h"
#include "codegen/cuda/whole_flows.h"
#include "forms.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

using cuda::block_count;
using cuda::emit_kernel;

std::vector<Kernel> mapped(std::string_view name, std::int64_t n, std::int64_t m) {
  std::vector<Kernel> kernels;
  for (KernelCall& call : lower_region(parse(with_sizes(form(name).text, n, m))).calls) {
    kernels.push_back(run_passes(cuda::mapping_passes(), std::move(call.kernel), {}));
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
  const Kernel chain = mapped("chain", 4096, 4096)[0];
  EXPECT_EQ(block_count(chain), 4096 * 4096 / 4 / 256);
  const std::string text = emit_kernel(chain);
  EXPECT_EQ(count(text, "load<4>"), 2) << text;
  EXPECT_EQ(count(text, "store(&"), 2) << text;
  EXPECT_EQ(count(emit_kernel(mapped("halves", 4096, 4096)[0]), "load<8>"), 2);
  EXPECT_EQ(count(emit_kernel(mapped("chain", 3, 33)[0]), "load<"), 0);
}

TEST(MapThreads, ReadsARowOnceAndKeepsItInRegisters) {
  for (std::int64_t length : {1024, 8192}) {
    const Kernel softmax = mapped("softmax", 1 << 16, length)[0];
    EXPECT_EQ(softmax.threads->members, length == 1024 ? 32 : 512);
    const std::string text = emit_kernel(softmax);
    EXPECT_EQ(count(text, "&in0["), 1) << text;
    EXPECT_EQ(count(text, "__shared__"), 0) << text;
  }
}

TEST(MapThreads, TransposesThroughSharedMemory) {
  const Kernel transpose = mapped("transpose", 1000, 3000)[0];
  EXPECT_EQ(block_count(transpose), 32 * 94);
  const std::string text = emit_kernel(transpose);
  EXPECT_EQ(count(text, "__shared__ f32 tile0[32][33];"), 1) << text;
  EXPECT_EQ(mapped("transpose", 3, 3000)[0].threads->in_tiles(), false);
}

TEST(MapThreads, GivesNeighbouringColumnsToNeighbouringThreads) {
  const Kernel few = mapped("column_sums", 512, 64)[0];
  EXPECT_TRUE(few.threads->in_columns);
  EXPECT_EQ(few.threads->members, 32);
  const Kernel many = mapped("column_sums", 16, 1 << 20)[0];
  EXPECT_EQ(many.threads->members, 1);
  EXPECT_EQ(block_count(many), (1 << 20) / 256);
}

TEST(MapThreads, HasNoBlocksWhereThereIsNothingToDo) {
  EXPECT_EQ(block_count(mapped("chain", 0, 8)[0]), 0);
  EXPECT_EQ(block_count(mapped("transpose", 64, 0)[0]), 0);
}

TEST(EmitKernel, IndexesWith64BitsWhereItHasTo) {
  const std::string small = emit_kernel(mapped("chain", 1 << 14, 1 << 15)[0]);
  EXPECT_EQ(count(small, "using index = i32;"), 1) << small;
  const std::string large = emit_kernel(mapped("chain", 1 << 16, 1 << 16)[0]);
  EXPECT_EQ(count(large, "using index = i64;"), 1) << large;
}

}  // namespace
}  // namespace anabranch::testing
