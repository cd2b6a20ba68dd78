#include "ir/plan_fusion.h"

#include <gtest/gtest.h>

#include "ir/graph/builder.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

TEST(FusionPlan, SoftmaxIsOneGroupOfThreeStages) {
  GraphBuilder b("softmax");
  const Type full{f32, Shape{64, 128}};
  Value x = b.parameter(full);
  Value max = b.add(Op::reduce_max, {x}, AxesAttributes{{1}});
  Value rows = b.add(Op::broadcast_in_dim, {max}, AxesAttributes{{0}}, full);
  Value exp = b.add(Op::exponential, {b.add(Op::subtract, {x, rows})});
  Value sum = b.add(Op::reduce_sum, {exp}, AxesAttributes{{1}});
  Value sums = b.add(Op::broadcast_in_dim, {sum}, AxesAttributes{{0}}, full);
  Value result = b.add(Op::divide, {exp, sums});
  auto plan = std::get<FusionPlan>(plan_fusion(b.build({result})));
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.domain, (Shape{64, 128}));
  EXPECT_EQ(plan.reduced_axes, std::vector<int>{1});
  EXPECT_EQ(plan.stage, (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(plan.stages, 3);
  EXPECT_EQ(plan.recompute, 1);
  EXPECT_EQ(plan.operations, 64 * 128 * (1 + 1 + 10 + 1 + 1));
}

struct Refused {
  const char* name;
  const char* region;
  const char* why;
};

class RefusedRegion : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRegion, SaysWhy) {
  auto plan = plan_fusion(parse(GetParam().region));
  ASSERT_TRUE(std::holds_alternative<std::string>(plan));
  EXPECT_EQ(std::get<std::string>(plan), GetParam().why);
}

constexpr Refused refused[] = {
    {"UpdateOfWhatIsReadElsewhere", R"(graph(%0: f32[8], %1: i64[]) {
       %2: f32[4] = slice %0 start=[0] limit=[4] stride=[1]
       %3: f32[4] = negate %2
       %4: f32[8] = dynamic_update_slice %0, %3, %1
       return %4 })",
     "it updates an array that it reads elsewhere"},
    {"UpdateOfTheRowsThatAreReduced", R"(graph(%0: f32[4,8], %1: f32[8]) {
       %2: i64[] = constant 4
       %3: f32[4] = reduce_sum %0 axes=[1]
       %4: f32[8] = dynamic_update_slice %1, %3, %2
       %5: f32[4] = slice %1 start=[4] limit=[8] stride=[1]
       %6: f32[4] = add %3, %5
       return %4, %6 })",
     "it updates an array that it reads elsewhere"},
    {"TwoUpdatesOfOneArray", R"(graph(%0: f32[8], %1: f32[4]) {
       %2: i64[] = constant 0
       %3: f32[4] = negate %1
       %4: f32[8] = dynamic_update_slice %0, %1, %2
       %5: f32[8] = dynamic_update_slice %0, %3, %2
       return %4, %5 })",
     "dynamic_update_slice updates what another one does"},
    {"UpdateByADot", R"(graph(%0: f32[4,8], %1: f32[8], %2: f32[16]) {
       %3: i64[] = constant 0
       %4: f32[4] = dot %0, %1 lhs_batch=[] rhs_batch=[] lhs_contracting=[1] rhs_contracting=[0]
       %5: f32[16] = dynamic_update_slice %2, %4, %3
       return %5 })",
     "a dot stores the whole of its result"},
    {"UpdateByLongRows", R"(graph(%0: f32[4,65536], %1: f32[16]) {
       %2: i64[] = constant 0
       %3: f32[4] = reduce_sum %0 axes=[1]
       %4: f32[16] = dynamic_update_slice %1, %3, %2
       return %4 })",
     "several threads share each of its long rows"},
    {"BlocksOfOtherShapes", R"(graph(%0: f32[8], %1: f32[4], %2: f32[9], %3: f32[5]) {
       %4: i64[] = constant 0
       %5: f32[4] = negate %1
       %6: f32[5] = negate %3
       %7: f32[8] = dynamic_update_slice %0, %5, %4
       %8: f32[9] = dynamic_update_slice %2, %6, %4
       return %7, %8 })",
     "dynamic_update_slice has shape [5], the group runs over [4]"},
    {"OtherAxes", R"(graph(%0: f32[40,80]) {
       %1: f32[40] = reduce_sum %0 axes=[1]
       %2: f32[80] = reduce_sum %0 axes=[0]
       return %1, %2 })",
     "reduces over axes [1] and [0]"},
    {"OtherShapes", R"(graph(%0: f32[4,80], %1: f32[4,60]) {
       %2: f32[4] = reduce_sum %0 axes=[1]
       %3: f32[4] = reduce_sum %1 axes=[1]
       return %2, %3 })",
     "reduces shapes [4,80] and [4,60]"},
    {"ReversedReduction", R"(graph(%0: f32[4,8]) {
       %1: f32[4] = reduce_sum %0 axes=[1]
       %2: f32[4] = reverse %1 axes=[0]
       return %2 })",
     "reduce_sum is used away from the row it reduces"},
    {"SlicedReduction", R"(graph(%0: f32[4,8]) {
       %1: f32[4] = reduce_sum %0 axes=[1]
       %2: f32[2] = slice %1 start=[0] limit=[2] stride=[1]
       %3: f32[4] = concatenate %2, %2 axis=0
       return %3 })",
     "reduce_sum is used away from the row it reduces"},
    {"OutputShapes", R"(graph(%0: f32[4], %1: f32[5]) {
       %2: f32[4] = negate %0
       %3: f32[5] = negate %1
       return %2, %3 })",
     "negate has shape [5], the group runs over [4]"},
    {"OutputBesideReduction", R"(graph(%0: f32[4,8], %1: f32[5]) {
       %2: f32[4] = reduce_sum %0 axes=[1]
       %3: f32[5] = negate %1
       return %2, %3 })",
     "negate has shape [5], the group runs over [4,8]"},
    {"TwoDots", R"(graph(%0: f32[4,4]) {
       %1: f32[4,4] = dot %0, %0 lhs_contracting=[1] rhs_contracting=[0]
       %2: f32[4,4] = dot %0, %0 lhs_contracting=[0] rhs_contracting=[0]
       %3: f32[4,4] = add %1, %2
       return %3 })",
     "two dots are two kernels"},
    {"DotProducer", R"(graph(%0: f32[4,4]) {
       %1: f32[4,4] = negate %0
       %2: f32[4,4] = dot %1, %0 lhs_contracting=[1] rhs_contracting=[0]
       return %2 })",
     "negate is computed before a dot"},
    {"DotTurned", R"(graph(%0: f32[4,4]) {
       %1: f32[4,4] = dot %0, %0 lhs_contracting=[1] rhs_contracting=[0]
       %2: f32[4,4] = transpose %1 axes=[1,0]
       return %2 })",
     "dot is used away from the place it computes"},
    {"DotReduced", R"(graph(%0: f32[4,4]) {
       %1: f32[4,4] = dot %0, %0 lhs_contracting=[1] rhs_contracting=[0]
       %2: f32[4] = reduce_sum %1 axes=[1]
       return %2 })",
     "a dot and a reduction are two kernels"},
    {"ConstantArray", R"(graph(%0: f32[2]) {
       %1: f32[2] = constant [1, 2]
       %2: f32[2] = add %0, %1
       return %2 })",
     "constant is an array, which only an operand can be"},
    {"Operand", "graph(%0: f32[2]) { return %0 }", "it hands on an operand"},
    {"Nothing", "graph(%0: f32[2]) { return }", "it has no outputs"},
};

INSTANTIATE_TEST_SUITE_P(FusionPlan, RefusedRegion, testing::ValuesIn(refused),
                         [](const auto& info) { return std::string(info.param.name); });

FusionPlan planned(std::string_view region) {
  return std::get<FusionPlan>(plan_fusion(parse(region)));
}

/// `text` with a size in place of each N.
std::string sized(std::string text, const std::string& size) {
  for (std::size_t at; (at = text.find('N')) != std::string::npos;) text.replace(at, 1, size);
  return text;
}

TEST(FusionPlan, CountsThePlacesAtWhichAProducerIsComputed) {
  FusionPlan plan = planned(R"(graph(%0: f32[6,6]) {
    %1: f32[6,6] = exponential %0
    %2: f32[6,6] = transpose %1 axes=[1,0]
    %3: f32[6,6] = reverse %1 axes=[0]
    %4: f32[6,6] = add %1, %2
    %5: f32[6,6] = add %4, %3
    return %5 })");
  EXPECT_EQ(plan.recompute, 3);
  EXPECT_EQ(plan.operations, 36 * (3 * 10 + 2));
}

TEST(FusionPlan, EqualPlacesReachedByDifferentWaysAreOne) {
  FusionPlan plan = planned(R"(graph(%0: f32[6,6], %1: f32[6,6]) {
    %2: f32[6,6] = exponential %0
    %3: f32[6,6] = tanh %2
    %4: f32[6,6] = reverse %2 axes=[0]
    %5: f32[6,6] = reverse %3 axes=[0]
    %6: f32[6,6] = add %4, %5
    return %6 })");
  EXPECT_EQ(plan.recompute, 1);
}

TEST(FusionPlan, KeptUnitsAreRowOutputs) {
  FusionPlan plan = planned(R"(graph(%0: f32[4,8]) {
    %1: f32[4] = reduce_sum %0 axes=[1]
    %2: f32[4,1] = reshape %1
    %3: f32[4,1] = negate %2
    return %1, %3 })");
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.stage, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(plan.stages, 1);
}

TEST(FusionPlan, WhatDependsOnTheRowAloneCountsOncePerRow) {
  FusionPlan plan = planned(R"(graph(%0: f32[4,8], %1: f32[4]) {
    %2: f32[4] = exponential %1
    %3: f32[4,8] = broadcast_in_dim %2 axes=[0]
    %4: f32[4,8] = add %0, %3
    return %4 })");
  EXPECT_EQ(plan.operations, 4 * 10 + 32);
}

// exp of a short row is kept for the second stage, of a long one it is computed again.
TEST(FusionPlan, CountsWhatIsComputedAgainForALaterStage) {
  const char* text = R"(graph(%0: f32[2,N]) {
    %1: f32[2,N] = exponential %0
    %2: f32[2] = reduce_sum %1 axes=[1]
    %3: f32[2,N] = broadcast_in_dim %2 axes=[0]
    %4: f32[2,N] = divide %1, %3
    return %4 })";
  FusionPlan plan = planned(sized(text, "1000"));
  EXPECT_EQ(plan.recompute, 1);
  EXPECT_EQ(plan.operations, 2 * 1000 * (10 + 1 + 1));
  plan = planned(sized(text, "30000"));
  EXPECT_EQ(plan.recompute, 2);
  EXPECT_EQ(plan.operations, 2 * 30000 * (2 * 10 + 1 + 1));
}

// Of one row, or one thread has it all; with many rows, threads share them.
TEST(FusionPlan, CountsWhatASecondThreadCouldDo) {
  const char* text = R"(graph(%0: f32[N,1000]) {
    %1: f32[N,1000] = exponential %0
    %2: f32[N] = reduce_sum %1 axes=[1]
    %3: f32[N,1000] = sine %0
    %4: f32[N] = reduce_sum %3 axes=[1]
    return %2, %4 })";
  EXPECT_EQ(planned(sized(text, "1")).side_by_side, 1000 * 11);
  EXPECT_EQ(planned(sized(text, "8")).side_by_side, 0);
  const char* chain = R"(graph(%0: f32[1,1000]) {
    %1: f32[1,1000] = exponential %0
    %2: f32[1] = reduce_sum %1 axes=[1]
    return %2 })";
  EXPECT_EQ(planned(chain).side_by_side, 0);
}

// The least of 16 distances, each a sum of three squares.
TEST(FusionPlan, WritesOutASumOfFewElementsThatAnotherReductionReads) {
  FusionPlan plan = planned(R"(graph(%0: f32[50,3], %1: f32[16,3]) {
    %2: f32[50,16,3] = broadcast_in_dim %0 axes=[0,2]
    %3: f32[50,16,3] = broadcast_in_dim %1 axes=[1,2]
    %4: f32[50,16,3] = subtract %2, %3
    %5: f32[50,16,3] = multiply %4, %4
    %6: f32[50,16] = reduce_sum %5 axes=[2]
    %7: f32[50] = reduce_min %6 axes=[1]
    return %7, %6 })");
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.domain, (Shape{50, 16}));
  EXPECT_EQ(plan.reduced_axes, std::vector<int>{1});
  EXPECT_EQ(plan.stage, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(plan.is_row, (std::vector<char>{1, 0}));
  EXPECT_EQ(plan.operations, 50 * 16 * (3 * (1 + 1) + 3 + 1));
}

// That of 40 leads, though it is first; of two short ones the last.
TEST(FusionPlan, LongReductionsLead) {
  const FusionPlan first = planned(R"(graph(%0: f32[7,4], %1: f32[7,40]) {
    %2: f32[7] = reduce_sum %1 axes=[1]
    %3: f32[7] = reduce_max %0 axes=[1]
    %4: f32[7] = divide %3, %2
    return %4 })");
  EXPECT_EQ(first.domain, (Shape{7, 40}));
  const FusionPlan last = planned(R"(graph(%0: f32[7,4,3]) {
    %1: f32[7,4] = reduce_sum %0 axes=[2]
    %2: f32[7,4] = sqrt %1
    %3: f32[7] = reduce_sum %2 axes=[1]
    return %3 })");
  EXPECT_EQ(last.domain, (Shape{7, 4}));
}

TEST(FusionPlan, OfAnUpdateRunsOverItsBlock) {
  const FusionPlan plan = planned(R"(graph(%0: f32[8,6], %1: f32[5], %2: i64[], %3: f32[9]) {
    %4: f32[5] = negate %1
    %5: f32[1,5] = reshape %4
    %6: f32[8,6] = dynamic_update_slice %0, %5, %2, %2
    %7: f32[9] = dynamic_update_slice %3, %4, %2
    return %6, %4, %7 })");
  EXPECT_EQ(plan.kind, FusionKind::elementwise);
  EXPECT_EQ(plan.domain, Shape{5});
  EXPECT_EQ(plan.operations, 5);
  ASSERT_EQ(plan.updates.size(), 2u);
  EXPECT_EQ(plan.updates[0].output, 0u);
  EXPECT_EQ(plan.updates[0].array, 0u);
  EXPECT_EQ(plan.updates[1].output, 2u);
  EXPECT_EQ(plan.updates[1].array, 3u);
}

TEST(FusionPlan, OfAnUpdateMayReadWhatItWrites) {
  const FusionPlan plan = planned(R"(graph(%0: f32[8], %1: f32[4]) {
    %2: i64[] = constant 9
    %3: f32[4] = slice %0 start=[4] limit=[8] stride=[1]
    %4: f32[4] = multiply %3, %1
    %5: f32[8] = dynamic_update_slice %0, %4, %2
    return %5 })");
  EXPECT_EQ(plan.domain, Shape{4});
}

TEST(FusionPlan, OfAnUpdateOfWhatItReadsElsewhereRunsOverTheWhole) {
  const FusionPlan plan = planned(R"(graph(%0: f32[10]) {
    %1: i64[] = constant 1
    %2: f32[8] = slice %0 start=[0] limit=[8] stride=[1]
    %3: f32[8] = negate %2
    %4: f32[10] = dynamic_update_slice %0, %3, %1
    return %4 })");
  EXPECT_EQ(plan.domain, Shape{10});
  EXPECT_TRUE(plan.updates.empty());
}

TEST(FusionPlan, OfAnUpdateByRowsAndByElements) {
  const FusionPlan plan = planned(R"(graph(%0: f32[4,8], %1: f32[3,4], %2: f32[3,4,8], %3: i64[]) {
    %4: i64[] = constant 0
    %5: f32[4] = reduce_max %0 axes=[1]
    %6: f32[4,8] = broadcast_in_dim %5 axes=[0]
    %7: f32[4,8] = subtract %0, %6
    %8: f32[1,4] = reshape %5
    %9: f32[1,4,8] = reshape %7
    %10: f32[3,4] = dynamic_update_slice %1, %8, %3, %4
    %11: f32[3,4,8] = dynamic_update_slice %2, %9, %3, %4, %4
    return %10, %11 })");
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.is_row, (std::vector<char>{1, 0}));
  EXPECT_EQ(plan.stages, 2);
}

TEST(FusionPlan, OfMembersIsThatOfTheRegionTheyMake) {
  const Graph graph = parse(R"(graph(%0: f32[4,8]) {
    %1: f32[4,8] = negate %0
    %2: f32[4,8] = exponential %1
    %3: f32[4] = reduce_sum %2 axes=[1]
    %4: f32[4] = log %3
    return %4 })");
  const std::uint32_t members[] = {2, 3};
  const Value outputs[] = {{3, 0}};
  auto plan = std::get<FusionPlan>(plan_fusion(graph, members, outputs));
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.stage, (std::vector<int>{0, 0}));
  EXPECT_EQ(plan.operations, 32 * 11);
}

}  // namespace
}  // namespace anabranch
