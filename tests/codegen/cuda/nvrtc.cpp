// Kernels compiled for real GPUs: all that NVRTC says of them, registers and spills among it.
#include "codegen/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include "codegen/cuda/emit/conditional.h"
#include "cpu_graph.h"
#include "forms.h"
#include "op_graphs.h"
#include "resources.h"
#include "tests/support/check_lowering.h"
#include "tests/support/random_graph.h"

namespace anabranch::testing {
namespace {

constexpr std::size_t kernels_at_once = 64;

// The kernels of `count` things.
void compile_all(const CpuKernels& kernels, std::size_t count, const char* things) {
  for (int architecture : tested_architectures) {
    Resources resources;
    for (std::size_t begin = 0; begin < kernels.size(); begin += kernels_at_once) {
      const std::size_t end = std::min(kernels.size(), begin + kernels_at_once);
      std::string source = cuda::device_text();
      for (std::size_t i = begin; i < end; ++i) source += kernels.text(i);
      resources.add(cuda::compile_cubin(source, architecture).log);
    }
    EXPECT_EQ(static_cast<std::size_t>(resources.kernels), kernels.size()) << things;
    for (const std::string& kernel : resources.spills) {
      const std::size_t number = std::stoul(kernel.substr(6));
      ADD_FAILURE() << "spills on sm_" << architecture << ":\n" << kernels.text(number);
    }
    EXPECT_LE(resources.most_stack_bytes, allowed_stack_bytes) << "on sm_" << architecture;
    resources.report(architecture, count, things);
  }
}

TEST(Nvrtc, CompilesEveryForm) {
  CpuKernels kernels;
  for (const Form& form : forms) {
    for (auto [n, m] : {std::pair{3, 33}, {128, 512}, {5, 5000}, {40000, 128}}) {
      CpuGraph(kernels, parse(with_sizes(form.text, n, m)));
    }
  }
  compile_all(kernels, std::size(forms), "forms");
}

TEST(Nvrtc, CompilesEveryOpAndDtype) {
  CpuKernels kernels;
  const std::vector<Graph> graphs = op_graphs();
  for (const Graph& graph : graphs) CpuGraph(kernels, graph);
  compile_all(kernels, graphs.size(), "ops and dtypes");
}

class NvrtcRandomGraphs : public ::testing::TestWithParam<int> {};

TEST_P(NvrtcRandomGraphs, Compile) {
  constexpr std::size_t graphs = 125;
  CpuKernels kernels;
  for (std::size_t k = 0; k < graphs; ++k) {
    const GraphCase tested = random_graph(static_cast<std::size_t>(GetParam()) * graphs + k);
    CpuGraph(kernels, tested.graph, k % 4 != 3);
  }
  compile_all(kernels, graphs, "random graphs");
}

INSTANTIATE_TEST_SUITE_P(Shard, NvrtcRandomGraphs, ::testing::Range(0, 8));

// A block has 48 KB of it, for whichever parts and tiles there are.
TEST(Nvrtc, SharedMemorySuffices) {
  const char* const texts[] = {R"(
graph columns(%0: f64[4096,64]) {
  %1: f64[64] = reduce_max %0 axes=[0]
  %2: f64[64] = reduce_min %0 axes=[0]
  %3: f64[64] = reduce_sum %0 axes=[0]
  %4: i32[64] = argmax %0 axis=0
  %5: i32[64] = argmin %0 axis=0
  return %1, %2, %3, %4, %5
})",
                               R"(
graph tiles(%0: c128[64,64], %1: c128[64,64], %2: c128[64,64], %3: c128[64,64]) {
  %4: c128[64,64] = transpose %1 axes=[1,0]
  %5: c128[64,64] = transpose %2 axes=[1,0]
  %6: c128[64,64] = transpose %3 axes=[1,0]
  %7: c128[64,64] = add %0, %4
  %8: c128[64,64] = add %7, %5
  %9: c128[64,64] = add %8, %6
  return %9
})"};
  CpuKernels kernels;
  for (const char* text : texts) CpuGraph(kernels, parse(text));
  compile_all(kernels, std::size(texts), "graphs of much shared memory");
}

// The oldest that the toolkit compiles for has no instruction for some of what the others have.
TEST(Nvrtc, CompilesForTheOldestGpu) {
  CpuKernels kernels;
  for (const Form& form : forms) CpuGraph(kernels, parse(with_sizes(form.text, 3, 33)));
  std::string source = cuda::device_text();
  for (std::size_t i = 0; i < kernels.size(); ++i) source += kernels.text(i);
  EXPECT_NO_THROW(cuda::compile_cubin(source, 75));
}

// They call what the driver defines, without its library.
TEST(Nvrtc, CompilesWhatSetsConditionsOfGraphs) {
  const cuda::ConditionalText loop = cuda::emit_loop_conditional(),
                              branch = cuda::emit_branch_conditional(3);
  for (int architecture : tested_architectures) {
    const cuda::Cubin made =
        cuda::compile_cubin(cuda::device_text() + loop.text + branch.text, architecture);
    for (const std::string& name : {loop.name, branch.name}) {
      EXPECT_NE(made.code.find(name), std::string::npos) << name;
    }
    EXPECT_NE(made.code.find("cudaGraphSetConditional"), std::string::npos);
  }
}

TEST(Nvrtc, SaysWhatItRefuses) {
  try {
    cuda::compile_cubin("extern \"C\" __global__ void broken() { nothing(); }", 80);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace anabranch::testing
