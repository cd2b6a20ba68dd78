// tests/golden/{kernel,program}/<pass>/*: kernels or a program, a line "----", and what the pass
// makes of them. Comments of the first part may give facts: "# row major", "# vector_bytes=32",
// "# block_threads=64", "# streams=2". BLESS=1 in the environment writes the second part anew. On
// every kernel, running it before and after says that the pass keeps each bit; one that sums in
// another order (accumulate_rows) has files whose sums are exact.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <charconv>

#include "codegen/backends.h"
#include "codegen/program_passes.h"
#include "ir/text/parse.h"
#include "tests/support/places.h"
#include "tests/support/random_literal.h"
#include "tests/support/run_kernel.h"

namespace anabranch::testing {
namespace {

const std::filesystem::path kernels = place("tests/golden/kernel", TEST_DATA "/golden/kernel");
const std::filesystem::path programs = place("tests/golden/program", TEST_DATA "/golden/program");

// "# name=NUMBER" somewhere in the text.
template <class Number>
void set_fact(const std::string& text, const std::string& name, Number& fact) {
  const std::size_t at = text.find("# " + name + "=");
  if (at == std::string::npos) return;
  const char* const digits = text.data() + at + name.size() + 3;
  std::from_chars(digits, text.data() + text.size(), fact);
}

std::vector<KernelPass> kernel_passes() {
  std::vector<KernelPass> all;
  for (const Backend* backend : backends()) {
    std::ranges::copy(backend->all_kernel_passes(), std::back_inserter(all));
  }
  return all;
}

template <class Pass>
Pass pass_of(const GoldenText& golden, std::span<const Pass> all) {
  const std::string name = golden.path.parent_path().filename().string();
  const auto found = std::ranges::find(all, name, &Pass::name);
  if (found == all.end()) throw Error(golden.path.string() + ": there is no pass " + name);
  return *found;
}

class KernelGolden : public ::testing::TestWithParam<std::string> {
 protected:
  GoldenText golden{kernels / GetParam()};

  Kernel passed(const Kernel& kernel) const {
    KernelContext context;
    context.row_major = golden.input.find("# row major") != std::string::npos;
    set_fact(golden.input, "block_threads", context.block_threads);
    set_fact(golden.input, "vector_bytes", context.target.vector_bytes);
    set_fact(golden.input, "cache_bytes", context.target.cache_bytes);
    set_fact(golden.input, "non_temporal_bytes", context.target.non_temporal_bytes);
    const KernelPass pass = pass_of<KernelPass>(golden, kernel_passes());
    return run_passes({&pass, 1}, kernel, context, {.verify = true});
  }
};

TEST_P(KernelGolden, GivesTheExpectedText) {
  std::string text;
  for (const Kernel& kernel : parse_kernels(golden.input)) text += to_string(passed(kernel));
  ASSERT_FALSE(text.empty()) << "no kernels";
  golden.expect(text);
}

// What the kernel leaves in its buffers.
std::vector<std::vector<std::byte>> results(const Kernel& kernel) {
  Random random(7);
  std::vector<HostMemory> memory;
  for (const KernelBuffer& buffer : kernel.buffers) {
    if (buffer.access == Access::scratch) continue;
    const Type type{buffer.dtype, Shape{buffer.size}};
    memory.emplace_back(random_literal(random, type, Flavour::ordinary));
  }
  std::vector<HostMemory*> arguments;
  for (HostMemory& buffer : memory) arguments.push_back(&buffer);
  KernelRun(kernel, arguments).run();
  std::vector<std::vector<std::byte>> left;
  for (HostMemory& buffer : memory) left.push_back(std::move(buffer.bytes));
  return left;
}

TEST_P(KernelGolden, KeepsEveryBit) {
  for (const Kernel& kernel : parse_kernels(golden.input)) {
    EXPECT_EQ(results(passed(kernel)), results(kernel));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, KernelGolden, ::testing::ValuesIn(golden_files(kernels, ".txt")),
                         [](const auto& info) { return golden_test_name(info.param); });

class ProgramGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramGolden, GivesTheExpectedText) {
  const GoldenText golden(programs / GetParam());
  ProgramContext context;
  set_fact(golden.input, "streams", context.options.streams);
  set_fact(golden.input, "memory_limit", context.options.memory_limit);
  context.options.use_all_streams = golden.input.find("# all streams") != std::string::npos;
  const ProgramPass pass = pass_of(golden, program_passes());
  const Program program = parse_program(golden.input);
  golden.expect(to_string(run_passes({&pass, 1}, program, context, {.verify = true})));
}

INSTANTIATE_TEST_SUITE_P(Golden, ProgramGolden, ::testing::ValuesIn(golden_files(programs, ".txt")),
                         [](const auto& info) { return golden_test_name(info.param); });

}  // namespace
}  // namespace anabranch::testing
