// tests/golden/cuda/*.cuda: a graph, a line "----", and the CUDA C++ that it becomes (golden.h).
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "program.h"
#include "tests/support/places.h"

namespace anabranch::testing {
namespace {

const std::filesystem::path folder = place("tests/golden/cuda", TEST_DATA "/golden/cuda");

class CudaGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaGolden, GivesTheExpectedText) {
  const GoldenText golden(folder / GetParam());
  golden.expect(cuda_text_of(parse(golden.input)));
}

INSTANTIATE_TEST_SUITE_P(Files, CudaGolden, ::testing::ValuesIn(golden_files(folder, ".cuda")),
                         [](const auto& info) { return golden_test_name(info.param); });

}  // namespace
}  // namespace anabranch::testing
