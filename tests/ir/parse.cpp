#include "ir/parse.h"

#include <gtest/gtest.h>

#include "ir/error.h"
#include "ir/print.h"

namespace anabranch {
namespace {

TEST(Parse, ReadsTheFormOfTheDesign) {
  const std::string text =
      "graph layer(%0: f32[64,128], %1: f32[128,32]) {\n"
      "  %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]\n"
      "  %3: f32[64,32] = tanh %2\n"
      "  return %3\n"
      "}\n";
  const Graph graph = parse(text);
  EXPECT_EQ(to_string(graph), text);
  EXPECT_EQ(parse(to_string(graph)), graph);
}

TEST(Parse, TakesAnyNamesCommentsAndSpaces) {
  const Graph graph = parse(R"(# a comment
    graph f (%in: f32 [2]) { %half:f32[2]=constant 0.5 # half
      %out : f32[2] = multiply %in , %half return %out, %in })");
  EXPECT_EQ(to_string(graph),
            "graph f(%0: f32[2]) {\n"
            "  %1: f32[2] = constant 0.5\n"
            "  %2: f32[2] = multiply %0, %1\n"
            "  return %2, %0\n"
            "}\n");
}

}  // namespace
}  // namespace anabranch
