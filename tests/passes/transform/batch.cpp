// batch: every op, on every choice of batched operands, against a loop over the single graph.
#include "passes/transform/batch.h"

#include <gtest/gtest.h>

#include <set>

#include "anabranch/error.h"
#include "batch_graphs.h"
#include "ir/text/print.h"
#include "tests/support/batch_check.h"

namespace anabranch {
namespace {

std::vector<Literal> random_inputs(const Graph& graph, Random& random) {
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(random_literal(random, graph.parameter_type(i), Flavour::ordinary));
  }
  return inputs;
}

// All choices of some batched parameters, for batches of several sizes. False where one is wrong.
bool check_all(const Graph& graph, Random& random) {
  const std::size_t count = graph.parameter_count();
  for (unsigned chosen = 1; chosen < 1u << count; ++chosen) {
    for (std::int64_t size : {0, 1, 3}) {
      std::vector<bool> batched;
      for (std::size_t i = 0; i < count; ++i) batched.push_back((chosen >> i & 1) != 0);
      const auto wrong = testing::batch_problem(
          testing::batch_case(graph, size, batched, random_inputs(graph, random), random));
      EXPECT_FALSE(wrong) << "batch of " << size << ", choice " << chosen << ": " << *wrong;
      if (wrong) return false;
    }
  }
  return true;
}

void check_all(const std::vector<Graph>& graphs) {
  Random random(1);
  for (const Graph& graph : graphs) check_all(graph, random);
}

TEST(Batch, OfElementwiseOps) { check_all(testing::graphs_of_elements()); }
TEST(Batch, OfOpsOnArrays) { check_all(testing::graphs_of_arrays()); }
TEST(Batch, OfLoopsAndBranches) { check_all(testing::graphs_of_control()); }

void add_ops(std::set<std::string_view>& ops, const std::vector<Graph>& graphs) {
  for (const Graph& graph : graphs) {
    for (const Node& node : graph.nodes()) ops.insert(name(node.op));
  }
}

TEST(Batch, EveryOpIsTested) {
  std::set<std::string_view> tested;
  add_ops(tested, testing::graphs_of_elements());
  add_ops(tested, testing::graphs_of_arrays());
  add_ops(tested, testing::graphs_of_control());
  for (const OpInfo& op : all_ops()) {
    if (op.kind == OpKind::leaf || op.kind == OpKind::region) continue;
    EXPECT_TRUE(tested.contains(op.name)) << op.name;
  }
}

// Each parameter of the batched graph is batched again, all of them, and the first one alone.
TEST(Batch, OfBatchedGraphs) {
  std::vector<Graph> graphs = testing::graphs_of_arrays();
  for (Graph& more : testing::graphs_of_control()) graphs.push_back(std::move(more));
  Random random(2);
  for (const Graph& graph : graphs) {
    const std::size_t count = graph.parameter_count();
    std::vector<bool> all(count, true), first(count, false), last(count, false);
    first.front() = last.back() = true;
    for (const std::vector<bool>& inner : {all, first, last}) {
      const Graph once = batch(graph, 2, inner).graph;
      for (const std::vector<bool>& outer : {all, first, last}) {
        const auto wrong = testing::batch_problem(
            testing::batch_case(once, 3, outer, random_inputs(once, random), random));
        ASSERT_FALSE(wrong) << *wrong << "\nof " << to_string(graph);
      }
    }
  }
}

Graph parsed(const char* text) { return parse(text); }

TEST(Batch, WhatDependsOnNothingBatchedIsCopied) {
  const Graph graph = parsed(R"(graph main(%0: f32[3], %1: f32[3]) {
    %2: f32[3] = tanh %1
    %3: f32[3] = multiply %0, %2
    return %3, %2
  })");
  const auto [batched, flags] = batch(graph, 8, {true, false});
  EXPECT_EQ(batched, parsed(R"(graph main(%0: f32[8,3], %1: f32[3]) {
    %2: f32[3] = tanh %1
    %3: f32[8,3] = broadcast_in_dim %2 axes=[1]
    %4: f32[8,3] = multiply %0, %3
    return %4, %2
  })"));
  EXPECT_EQ(flags, (std::vector<bool>{true, false}));
}

TEST(Batch, ARequiredOutputIsBroadcast) {
  const Graph graph = parsed("graph main(%0: f32[3], %1: f32[]) {\n return %0, %1, %1\n}");
  const auto [batched, flags] = batch(graph, 2, {true, false}, {false, true, false});
  EXPECT_EQ(flags, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(batched.output_type(1), (Type{f32, {2}}));
  EXPECT_EQ(batched.output_type(2), (Type{f32, {}}));
}

TEST(Batch, AFusionIsRefused) {
  const Graph graph = parsed(R"(graph main(%0: f32[3]) {
    %1: f32[3] = fusion %0 kind=elementwise graph(%0: f32[3]) {
      %1: f32[3] = tanh %0
      return %1
    }
    return %1
  })");
  EXPECT_THROW(batch(graph, 2, {true}), InternalError);
}

}  // namespace
}  // namespace anabranch
