// Loops and branches as kernels of one block, compiled for real GPUs.
#include <gtest/gtest.h>

#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/nvrtc.h"
#include "flow_forms.h"
#include "ir/text/parse.h"
#include "program.h"
#include "resources.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_loop.h"

namespace anabranch::testing {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_to_compile(const std::vector<std::string>& texts, const char* things) {
  for (int architecture : tested_architectures) {
    Resources resources;
    for (const std::string& text : texts) {
      const std::size_t known_spills = resources.spills.size();
      resources.add(cuda::compile_cubin(cuda::device_text() + text, architecture).log);
      EXPECT_EQ(resources.spills.size(), known_spills) << "spills:\n" << text;
    }
    EXPECT_LE(resources.most_stack_bytes, allowed_stack_bytes) << "on sm_" << architecture;
    resources.report(architecture, texts.size(), things);
  }
}

TEST(NvrtcFlows, CompileAsTheTableHasThem) {
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

class NvrtcRandomFlows : public ::testing::TestWithParam<int> {};

TEST_P(NvrtcRandomFlows, Compile) {
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

INSTANTIATE_TEST_SUITE_P(Shard, NvrtcRandomFlows, ::testing::Range(0, 4));

TEST(NvrtcRandomLoops, Compile) {
  std::vector<std::string> texts;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    texts.push_back(cuda_text_of(random_pointwise_loop(2000 + seed).graph));
  }
  expect_to_compile(texts, "random pointwise loops");
}

}  // namespace
}  // namespace anabranch::testing
