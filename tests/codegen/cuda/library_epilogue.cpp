#include "codegen/cuda/dot/library_epilogue.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/parse.h"

namespace anabranch::cuda {
namespace {

// Of a dot f32[4,8], with a bias f32[8] and a matrix f32[4,8] at hand.
std::optional<LibraryEpilogue> found(const std::string& lines, bool fast_math = true) {
  return library_epilogue(
      parse("graph epilogue(%0: f32[4,8], %1: f32[8], %2: f32[4,8]) {\n" + lines + "}\n"), 8,
      fast_math);
}

const std::string bias =
    "  %3: f32[4,8] = broadcast_in_dim %1 axes=[1]\n"
    "  %4: f32[4,8] = add %0, %3\n";
const std::string zero =
    "  %5: f32[] = constant 0\n"
    "  %6: f32[4,8] = broadcast_in_dim %5\n";

TEST(LibraryEpilogue, Bias) {
  const auto epilogue = found(bias + "  return %4\n", false);
  ASSERT_TRUE(epilogue);
  EXPECT_EQ(epilogue->bias, 1u);
  EXPECT_EQ(epilogue->activation, Activation::none);
}

TEST(LibraryEpilogue, Relu) {
  const std::string text = bias + zero + "  %7: f32[4,8] = maximum %4, %6\n  return %7\n";
  ASSERT_TRUE(found(text));
  EXPECT_EQ(found(text)->bias, 1u);
  EXPECT_EQ(found(text)->activation, Activation::relu);
  EXPECT_FALSE(found(text, false)) << "a NaN would become 0";

  const auto alone = found(
      "  %3: f32[] = constant 0\n  %4: f32[4,8] = broadcast_in_dim %3\n"
      "  %5: f32[4,8] = maximum %4, %0\n  return %5\n");
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->bias);
}

// x * 0.5 + tanh(x * 0.7978846 + x^3 * 0.0356774) * 0.5 * x: as no one writes it.
std::string gelu(const std::string& cubic) {
  return "  %3: f32[] = constant 0.7978846\n"
         "  %4: f32[4,8] = broadcast_in_dim %3\n"
         "  %5: f32[4,8] = multiply %0, %4\n"
         "  %6: f32[] = constant " +
         cubic +
         "\n"
         "  %7: f32[4,8] = broadcast_in_dim %6\n"
         "  %8: f32[4,8] = multiply %0, %0\n"
         "  %9: f32[4,8] = multiply %7, %8\n"
         "  %10: f32[4,8] = multiply %9, %0\n"
         "  %11: f32[4,8] = add %5, %10\n"
         "  %12: f32[4,8] = tanh %11\n"
         "  %13: f32[] = constant 0.5\n"
         "  %14: f32[4,8] = broadcast_in_dim %13\n"
         "  %15: f32[4,8] = multiply %0, %14\n"
         "  %16: f32[4,8] = multiply %12, %15\n"
         "  %17: f32[4,8] = add %15, %16\n"
         "  return %17\n";
}

TEST(LibraryEpilogue, GeluHoweverItIsWritten) {
  const auto epilogue = found(gelu("0.035677407"));
  ASSERT_TRUE(epilogue);
  EXPECT_FALSE(epilogue->bias);
  EXPECT_EQ(epilogue->activation, Activation::gelu);
  EXPECT_FALSE(found(gelu("0.0357"))) << "a little off";
  EXPECT_FALSE(found(gelu("0.035677407"), false));
}

TEST(LibraryEpilogue, IsNothingElse) {
  EXPECT_FALSE(found("  %3: f32[4,8] = tanh %0\n  return %3\n"));
  EXPECT_FALSE(found("  %3: f32[4,8] = add %0, %2\n  return %3\n")) << "not one row";
  EXPECT_FALSE(found(bias + "  return %4, %0\n")) << "two results";
  EXPECT_FALSE(found(bias + "  %5: f32[4,8] = maximum %4, %2\n  return %5\n")) << "not 0";
  EXPECT_FALSE(found(bias + zero +
                     "  %7: f32[4,8] = maximum %4, %6\n"
                     "  %8: f32[4,8] = add %7, %0\n  return %8\n"))
      << "the dot's result again";
}

// What is repeated along columns is no bias.
TEST(LibraryEpilogue, BiasLiesAlongRows) {
  const Graph graph = parse(R"(graph epilogue(%0: f32[8,8], %1: f32[8]) {
  %2: f32[8,8] = broadcast_in_dim %1 axes=[0]
  %3: f32[8,8] = add %0, %2
  return %3
}
)");
  EXPECT_FALSE(library_epilogue(graph, 8, true));
}

}  // namespace
}  // namespace anabranch::cuda
