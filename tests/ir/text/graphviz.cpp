#include "ir/text/graphviz.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"

namespace anabranch {
namespace {

TEST(Dot, DrawsFusionsAsClusters) {
  const Graph graph = parse(R"(graph "a \"b\""(%0: f32[4,3]) {
    %1: f32[] = constant 2
    %2: f32[4], %3: f32[4,3] = fusion %0, %1 kind=reduction graph rows(%0: f32[4,3], %1: f32[]) {
      %2: f32[4,3] = tanh %0
      %3: f32[4] = reduce_sum %2 axes=[1]
      return %3, %2
    }
    %4: f32[4] = negate %2
    return %4, %3
  })");
  EXPECT_EQ(to_dot(graph), R"(digraph "a \"b\"" {
  rankdir=TB;
  node [shape=box, style="rounded,filled", fillcolor="#f4f6f8", fontname="monospace"];
  graph [fontname="monospace"];
  n0 [label="%0 parameter\nf32[4,3]", fillcolor="#d8e4f4"];
  n1 [label="%1 constant 2\nf32[]"];
  subgraph cluster_n2 {
    label="%2 fusion, reduction: rows"; style="rounded,filled"; fillcolor="#fdf3dc";
    n2_2 [label="%2 tanh\nf32[4,3]"];
    n2_3 [label="%3 reduce_sum\nf32[4]"];
  }
  n3 [label="%4 negate\nf32[4]"];
  output0 [label="output 0", shape=oval, fillcolor="#d8e8d8"];
  output1 [label="output 1", shape=oval, fillcolor="#d8e8d8"];
  n0 -> n2_2;
  n2_2 -> n2_3;
  n2_3 -> n3;
  n3 -> output0;
  n2_2 -> output1;
}
)");
}

TEST(Dot, DrawsRegionsOfALoopBesideItsBox) {
  const Graph graph = parse(R"(graph(%0: bool[]) {
    %1: bool[] = while %0 graph condition(%0: bool[]) {
      return %0
    } graph body(%0: bool[]) {
      %1: bool[] = not %0
      return %1
    }
    return %1
  })");
  const std::string text = to_dot(graph);
  const std::string cluster = R"(  subgraph cluster_n1 {
    style="rounded,filled"; fillcolor="#e9eef9";
    n1 [label="%1 while\nbool[]"];
    subgraph cluster_n1_0_ {
      label="condition"; style="rounded,filled"; fillcolor="#f8faff";
      n1_0_0 [label="%0 parameter\nbool[]", fillcolor="#d8e4f4"];
      n1_0_output0 [label="output 0", shape=oval, fillcolor="#d8e8d8"];
    }
    subgraph cluster_n1_1_ {
      label="body"; style="rounded,filled"; fillcolor="#f8faff";
      n1_1_0 [label="%0 parameter\nbool[]", fillcolor="#d8e4f4"];
      n1_1_1 [label="%1 not\nbool[]"];
      n1_1_output0 [label="output 0", shape=oval, fillcolor="#d8e8d8"];
    }
  }
)";
  EXPECT_NE(text.find(cluster), std::string::npos) << text;
  EXPECT_NE(text.find("  n1_1_0 -> n1_1_1;\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  n0 -> n1;\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace anabranch
