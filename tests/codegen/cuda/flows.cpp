// Loops and branches as kernels of one block: what they look like.
#include <gtest/gtest.h>

#include "flow_forms.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "program.h"

namespace anabranch::testing {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The kernel of a loop or a branch and the functions that only that kernel calls.
TEST(CudaFlows, AreOneKernelWithWhatRunsInside) {
  const std::string text = cuda_text_of(parse(with_size(flow_forms[1], 64)));
  EXPECT_TRUE(has(text, "__launch_bounds__(256, 1) while4(")) << text;
  EXPECT_TRUE(has(text, "AB_INLINE void while4_body_kernel")) << text;
  EXPECT_FALSE(has(text, "__global__ void __launch_bounds__(256) while4_body")) << text;
}

// What one step writes the next one reads: nothing may come through the read-only cache.
TEST(CudaFlows, AssumeNoMemoryToBeReadOnly) {
  for (const Flow& flow : flows) {
    const std::string text = cuda_text_of(parse(with_type(flow.text, "i32[5,6]")));
    for (std::size_t at = text.find("AB_INLINE"); at != std::string::npos;
         at = text.find("AB_INLINE", at + 1)) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      EXPECT_FALSE(has(line, "__restrict__")) << line;
    }
  }
}

TEST(CudaFlows, KeepNumbersInTheRegistersOfOneThread) {
  const std::string text = cuda_text_of(parse(with_size(flow_forms[3], 64)));
  EXPECT_TRUE(has(text, "__launch_bounds__(1, 1) while3(")) << text;
  EXPECT_FALSE(has(text, "__shared__")) << text;
}

TEST(CudaFlows, GoStepByStepWhereAStepIsLarge) {
  const std::string text = cuda_text_of(parse(with_type(flows[0].text, "i32[5000,301]")));
  EXPECT_FALSE(has(text, "__syncthreads")) << text;
}

}  // namespace
}  // namespace anabranch::testing
