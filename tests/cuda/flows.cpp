// Loops and branches as kernels of one block: what they look like, and what NVRTC says of them.
#include <gtest/gtest.h>

#include "codegen/cuda/emit_kernel.h"
#include "codegen/cuda/nvrtc.h"
#include "flow_forms.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "program.h"
#include "resources.h"
#include "tests/support/random_graph.h"

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

void expect_to_compile(const std::vector<std::string>& texts, const char* things) {
  if (const std::string missing = cuda::nvrtc_missing(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  for (int architecture : tested_architectures) {
    Resources resources;
    for (const std::string& text : texts) {
      const std::size_t known_spills = resources.spills.size();
      resources.add(cuda::compile_cubin(cuda::device_text() + text, architecture).log);
      EXPECT_EQ(resources.spills.size(), known_spills) << "spills:\n" << text;
    }
    resources.report(architecture, texts.size(), things);
  }
}

TEST(CudaFlows, NvrtcCompilesTheTable) {
  std::vector<std::string> texts;
  for (const Flow& flow : flows) {
    for (const char* type : {"i32[5,6]", "i32[64,64]", "i8[3,33]"}) {
      const bool has_blocks = has(flow.text, "dynamic");  // whose types are in the text
      if (has_blocks && std::string(type) != "i32[5,6]") continue;
      texts.push_back(cuda_text_of(parse(with_type(flow.text, type))));
    }
  }
  for (const Flow& flow : flow_forms) {
    for (int size : {1, 3, 17, 64, 90}) texts.push_back(cuda_text_of(parse(with_size(flow, size))));
  }
  expect_to_compile(texts, "loops and branches");
}

class CudaRandomFlows : public ::testing::TestWithParam<int> {};

TEST_P(CudaRandomFlows, NvrtcCompiles) {
  constexpr int graphs = 250;
  std::vector<std::string> texts;
  for (int k = 0; k < graphs; ++k) {
    const Graph graph = random_graph(static_cast<std::uint64_t>(GetParam() * graphs + k)).graph;
    std::string text = cuda_text_of(graph);
    if (has(text, " while") || has(text, " case")) texts.push_back(std::move(text));
  }
  EXPECT_FALSE(texts.empty());
  expect_to_compile(texts, "random graphs with loops or branches");
}

INSTANTIATE_TEST_SUITE_P(Shard, CudaRandomFlows, ::testing::Range(0, 4));

}  // namespace
}  // namespace anabranch::testing
