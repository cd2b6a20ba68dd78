#include "passes/fusion/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/plan_fusion.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"

namespace anabranch {
namespace {

Graph compiled(std::string_view text) {
  PassContext context;
  return run_passes(default_pipeline(), parse(text), context);
}

// The kinds of the fusions of a graph, in order.
std::vector<FusionKind> kinds(const Graph& graph) {
  std::vector<FusionKind> found;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::fusion) found.push_back(node.as<FusionAttributes>().kind);
  }
  return found;
}

using Kinds = std::vector<FusionKind>;

TEST(Fuse, DiamondOfTwentyOpsWithBroadcastsAndTwoOutputsIsOneKernel) {
  Graph graph = compiled(R"(graph diamond(%0: f32[512,256], %1: f32[256], %2: f32[512]) {
    %3: f32[512,256] = broadcast_in_dim %1 axes=[1]
    %4: f32[512,256] = broadcast_in_dim %2 axes=[0]
    %5: f32[512,256] = add %0, %3
    %6: f32[512,256] = multiply %5, %4
    %7: f32[512,256] = exponential %6
    %8: f32[512,256] = tanh %6
    %9: f32[512,256] = add %7, %8
    %10: f32[512,256] = sine %7
    %11: f32[512,256] = cosine %8
    %12: f32[512,256] = multiply %10, %11
    %13: f32[512,256] = subtract %12, %9
    %14: f32[512,256] = maximum %13, %4
    %15: f32[512,256] = abs %9
    %16: f32[512,256] = sqrt %15
    %17: f32[512,256] = minimum %16, %14
    %18: f32[512,256] = divide %17, %5
    %19: f32[512,256] = negate %18
    %20: f32[512,256] = add %19, %0
    %21: f32[512,256] = log_plus_one %15
    %22: f32[512,256] = multiply %21, %18
    return %20, %22
  })");
  EXPECT_EQ(kinds(graph), Kinds{FusionKind::elementwise});
  EXPECT_EQ(graph.outputs().size(), 2u);
}

constexpr std::string_view layer_norm =
    R"(graph layer_norm(%0: f32[64,128], %1: f32[128], %2: f32[128]) {
    %3: f32[64] = reduce_sum %0 axes=[1]
    %4: f32[] = constant 0.0078125
    %5: f32[64] = broadcast_in_dim %4
    %6: f32[64] = multiply %3, %5
    %7: f32[64,1] = reshape %6
    %8: f32[64,128] = broadcast_in_dim %7 axes=[0,1]
    %9: f32[64,128] = subtract %0, %8
    %10: f32[64,128] = multiply %9, %9
    %11: f32[64] = reduce_sum %10 axes=[1]
    %12: f32[64] = multiply %11, %5
    %13: f32[] = constant 1e-05
    %14: f32[64] = broadcast_in_dim %13
    %15: f32[64] = add %12, %14
    %16: f32[64] = rsqrt %15
    %17: f32[64,1] = reshape %16
    %18: f32[64,128] = broadcast_in_dim %17 axes=[0,1]
    %19: f32[64,128] = multiply %9, %18
    %20: f32[64,128] = broadcast_in_dim %1 axes=[1]
    %21: f32[64,128] = multiply %19, %20
    %22: f32[64,128] = broadcast_in_dim %2 axes=[1]
    %23: f32[64,128] = add %21, %22
    return %23
  })";

TEST(Fuse, LayerNormWithScaleAndShiftIsOneKernelOfThreeStages) {
  Graph graph = compiled(layer_norm);
  ASSERT_EQ(kinds(graph), Kinds{FusionKind::reduction});
  auto plan = std::get<FusionPlan>(plan_fusion(graph.nodes().back().regions[0]));
  EXPECT_EQ(plan.stages, 3);
}

TEST(Fuse, MeanAndVarianceTogetherAreOneKernel) {
  Graph graph = compiled(R"(graph moments(%0: f32[64,128]) {
    %1: f32[64] = reduce_sum %0 axes=[1]
    %2: f32[] = constant 128
    %3: f32[64] = broadcast_in_dim %2
    %4: f32[64] = divide %1, %3
    %5: f32[64,128] = broadcast_in_dim %4 axes=[0]
    %6: f32[64,128] = subtract %0, %5
    %7: f32[64,128] = multiply %6, %6
    %8: f32[64] = reduce_sum %7 axes=[1]
    %9: f32[64] = divide %8, %3
    return %4, %9
  })");
  EXPECT_EQ(kinds(graph), Kinds{FusionKind::reduction});
}

TEST(Fuse, DotWithBiasAndGeluIsOneLibraryCallWithItsEpilogue) {
  Graph graph = compiled(R"(graph layer(%0: f32[64,128], %1: f32[128,32], %2: f32[32]) {
    %3: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
    %4: f32[64,32] = broadcast_in_dim %2 axes=[1]
    %5: f32[64,32] = add %3, %4
    %6: f32[] = constant 0.70710678
    %7: f32[64,32] = broadcast_in_dim %6
    %8: f32[64,32] = multiply %5, %7
    %9: f32[64,32] = erf %8
    %10: f32[64,32] = multiply %5, %9
    return %10
  })");
  EXPECT_EQ(kinds(graph), Kinds{FusionKind::dot});
}

TEST(Fuse, MlpStepReadsEachDotOnce) {
  // Forward and backward of one layer: two dots with epilogues, two reductions to gradients.
  Graph graph = compiled(R"(graph step(%0: f32[64,128], %1: f32[128,10], %2: f32[64,10]) {
    %3: f32[64,10] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
    %4: f32[64,10] = subtract %3, %2
    %5: f32[64,10] = multiply %4, %4
    %6: f32[] = reduce_sum %5 axes=[0,1]
    %7: f32[128,64] = transpose %0 axes=[1,0]
    %8: f32[128,10] = dot %7, %4 lhs_contracting=[1] rhs_contracting=[0]
    %9: f32[] = constant 0.01
    %10: f32[128,10] = broadcast_in_dim %9
    %11: f32[128,10] = multiply %8, %10
    %12: f32[128,10] = subtract %1, %11
    return %6, %12
  })");
  EXPECT_EQ(kinds(graph), (Kinds{FusionKind::dot, FusionKind::reduction, FusionKind::dot}));
}

TEST(Fuse, LeavesOnlyFusionsAliasesAndConstants) {
  Graph graph = compiled(R"(graph mixed(%0: f32[6,4], %1: f32[4,4]) {
    %2: f32[4,6] = transpose %0 axes=[1,0]
    %3: f32[24] = reshape %2
    %4: f32[4] = constant [1, 2, 3, 4]
    %5: f32[4,4] = broadcast_in_dim %4 axes=[0]
    %6: f32[4,4] = add %1, %5
    %7: f32[6,4] = dot %0, %6 lhs_contracting=[1] rhs_contracting=[0]
    %8: f32[2,12] = reshape %7
    return %3, %8, %4, %0
  })");
  for (const Node& node : graph.nodes()) {
    EXPECT_TRUE(node.op == Op::parameter || node.op == Op::constant || node.op == Op::fusion ||
                node.op == Op::reshape)
        << name(node.op);
  }
}

// Op `op` applied `count` times, to a value and an operand in turn.
Graph chain(int count) {
  GraphBuilder builder("chain");
  Value x = builder.parameter(Type{f32, Shape{1024}});
  Value y = builder.parameter(Type{f32, Shape{1024}});
  for (int i = 0; i < count; ++i) x = builder.add(i % 2 ? Op::add : Op::multiply, {x, y});
  return builder.build({x});
}

// Each of these kernels would be worth its while, and a GPU takes so many parameters.
TEST(Fuse, AKernelHasAtMost64Buffers) {
  GraphBuilder builder("sum");
  const Type type{f32, Shape{4096}};
  std::vector<Value> terms;
  for (int i = 0; i < 100; ++i) terms.push_back(builder.parameter(type));
  Value sum = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) sum = builder.add(Op::add, {sum, terms[i]});
  PassContext context;
  const Graph graph = run_passes(default_pipeline(), builder.build({sum}), context);
  std::size_t most = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::fusion) most = std::max(most, node.inputs.size() + node.types.size());
  }
  EXPECT_EQ(most, 64u) << to_string(graph);
}

// Reading it once would be worth it on one device.
// Kernels write a few columns one by one, those of stacks of stacks as well.
TEST(Fuse, StacksInTheOrderOfTheResultAreOneKernel) {
  EXPECT_EQ(kinds(compiled(R"(graph turns(%0: f32[4096]) {
    %1: f32[4096] = sine %0
    %2: f32[4096] = cosine %0
    %3: f32[4096,1,1] = reshape %1
    %4: f32[4096,1,1] = reshape %2
    %5: f32[4096,1,2] = concatenate %3, %4 axis=2
    %6: f32[4096,1,2] = concatenate %4, %3 axis=2
    %7: f32[4096,2,2] = concatenate %5, %6 axis=1
    return %7
  })")),
            Kinds{FusionKind::elementwise});
}

// Else each element would be computed for all of the stack.
TEST(Fuse, AStackIsNotJoinedToRowsThatAreReducedAfterwards) {
  std::string text = "graph rows(%x: f32[4096]) {\n";
  std::string before = "%x", parts;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "%t" + n + ": f32[4096] = tanh " + before + "\n";
    text += "%p" + n + ": f32[4096,1] = reshape %t" + n + "\n";
    parts += (i ? ", %p" : "%p") + n;
    before = "%t" + n;
  }
  text += "%s: f32[4096,8] = concatenate " + parts + R"( axis=1
    %e: f32[4096,8] = exponential %s
    %m: f32[4096] = reduce_sum %e axes=[1]
    %b: f32[4096,8] = broadcast_in_dim %m axes=[0]
    %r: f32[4096,8] = divide %e, %b
    return %r
  })";
  EXPECT_EQ(kinds(compiled(text)), (Kinds{FusionKind::elementwise, FusionKind::reduction}));
}

TEST(Fuse, AConstantThatTwoDevicesReadDoesNotJoinThem) {
  constexpr std::int64_t size = 65536;
  const Type type{f32, Shape{size}};
  std::vector<float> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const auto bytes = std::as_bytes(std::span(numbers));
  for (bool transfers : {false, true}) {
    GraphBuilder builder("both");
    const Value here = builder.parameter(type), given = builder.parameter(type);
    const Value constant =
        builder.constant(Literal(type, std::vector<std::byte>(bytes.begin(), bytes.end())));
    const Value there =
        transfers ? builder.add(Op::transfer, {given}, DeviceAttributes{Device::cpu(1)}) : given;
    const Value first = builder.add(Op::multiply, {here, constant});
    const Value second = builder.add(Op::multiply, {there, constant});
    PassContext context;
    const Graph graph = run_passes(default_pipeline(), builder.build({first, second}), context);
    EXPECT_EQ(kinds(graph).size(), transfers ? 2u : 1u) << to_string(graph);
  }
}

TEST(Fuse, ChainOf32OpsIsOneKernel) {
  PassContext context;
  EXPECT_EQ(kinds(run_passes(default_pipeline(), chain(32), context)),
            Kinds{FusionKind::elementwise});
}

TEST(Fuse, ChainOf2000OpsIsOneKernel) {
  PassContext context;
  EXPECT_EQ(kinds(run_passes(default_pipeline(), chain(2000), context)),
            Kinds{FusionKind::elementwise});
}

// Where a chain is cut, one value crosses, wherever that is.
TEST(Fuse, ChainOf5000OpsIsCutWhereOneArrayCrosses) {
  PassContext context;
  const Graph graph = run_passes(default_pipeline(), chain(5000), context);
  const auto fusions = kinds(graph).size();
  EXPECT_GE(fusions, 3u);
  EXPECT_LE(fusions, 5u);
  for (const Node& node : graph.nodes()) EXPECT_LE(node.types.size(), 1u);
}

// An equation of state, as of sea water: quotients of polynomials in three arrays. Each is summed
// from the terms of all at once, so that most places in the order of its nodes cut many values.
Graph equation_of_state(int degree, int quotients, bool summed = false) {
  GraphBuilder builder("state");
  const Type array{f32, Shape{1 << 16}};
  const Value s = builder.parameter(array), t = builder.parameter(array),
              p = builder.parameter(array);
  double coefficient = 0.3;
  auto next = [&] {
    coefficient = coefficient > 3 ? coefficient - 2.71 : coefficient * 1.37 + 0.11;
    const Value number = builder.constant(Literal::scalar(f32, coefficient));
    return builder.add(Op::broadcast_in_dim, {number}, AxesAttributes{}, array);
  };
  auto times_plus = [&](Value a, Value b, Value c) {
    return builder.add(Op::add, {builder.add(Op::multiply, {a, b}), c});
  };
  auto polynomial = [&](Value x) {
    Value by_x = next();
    for (int i = 0; i < degree; ++i) {
      Value by_t = next();
      for (int j = 0; j < degree; ++j) {
        Value by_p = next();
        for (int k = 0; k < degree; ++k) by_p = times_plus(by_p, p, next());
        by_t = times_plus(by_t, t, by_p);
      }
      by_x = times_plus(by_x, x, by_t);
    }
    return by_x;
  };
  const Value root = builder.add(Op::sqrt, {s});
  std::vector<Value> results;
  for (int i = 0; i < quotients; ++i) {
    const Value above = polynomial(root), below = polynomial(root);
    Value quotient = builder.add(Op::divide, {above, below});
    if (summed && i > 0) {
      quotient = builder.add(Op::add, {results.back(), quotient});
      results.pop_back();
    }
    results.push_back(quotient);
  }
  return builder.build(results);
}

// Bytes that fusions hand to each other.
std::size_t crossing_bytes(const Graph& graph) {
  std::set<Value> read;
  for (const Node& node : graph.nodes()) {
    for (Value input : node.inputs) {
      if (graph.node(input).op == Op::fusion) read.insert(input);
    }
  }
  std::size_t bytes = 0;
  for (Value value : read) bytes += graph.type(value).bytes();
  return bytes;
}

TEST(Fuse, AnEquationOfStateIsOneKernel) {
  for (int degree : {3, 4}) {
    PassContext context;
    const Graph state = equation_of_state(degree, 2);
    const Graph graph = run_passes(default_pipeline(), state, context);
    EXPECT_EQ(kinds(graph), Kinds{FusionKind::elementwise}) << state.nodes().size() << " nodes";
  }
}

TEST(Fuse, ALongEquationOfStateIsCutWhereFewArraysCross) {
  PassContext context;
  const Graph graph = run_passes(default_pipeline(), equation_of_state(4, 24, true), context);
  const auto fusions = kinds(graph).size();
  EXPECT_GE(fusions, 4u);
  EXPECT_LE(fusions, 14u);
  // At each cut the sum so far, and a polynomial whose quotient comes later.
  EXPECT_LE(crossing_bytes(graph), 2 * fusions * (std::size_t{4} << 16));
}

TEST(Fuse, WhatIsCheapIsComputedAgainOnBothSidesOfACut) {
  GraphBuilder builder("cheap");
  const Type array{f32, Shape{1 << 16}};
  const Value x = builder.parameter(array), y = builder.parameter(array);
  const Value square = builder.add(Op::multiply, {x, x});
  Value at = y;
  for (int i = 0; i < 3000; ++i) at = builder.add(i % 2 ? Op::add : Op::multiply, {at, square});
  PassContext context;
  const Graph graph = run_passes(default_pipeline(), builder.build({at}), context);
  EXPECT_EQ(kinds(graph).size(), 2u);
  EXPECT_EQ(crossing_bytes(graph), array.bytes());
}

}  // namespace
}  // namespace anabranch
