// The interpreter on loops and branches.
#include <gtest/gtest.h>

#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

// 2^n by doubling: carried i and x, captured n.
const char* const doubling = R"(graph main(%0: i32[]) {
  %1: i32[] = constant 0
  %2: f32[] = constant 1
  %3: i32[], %4: f32[] = while %1, %2, %0 graph condition(%0: i32[], %1: f32[], %2: i32[]) {
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph body(%0: i32[], %1: f32[], %2: i32[]) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: f32[] = add %1, %1
    return %4, %5
  }
  return %3, %4
})";

TEST(Interpret, WhileRunsUntilItsConditionFails) {
  const Graph graph = parse(doubling);
  verify(graph);
  for (int n : {-1, 0, 1, 10}) {
    const Literal count = Literal::scalar(n);
    const auto results = interpret(graph, {&count, 1});
    EXPECT_EQ(results[0], Literal::scalar(std::max(n, 0))) << n;
    EXPECT_EQ(results[1], Literal::scalar(n < 0 ? 1.0f : static_cast<float>(1 << n))) << n;
  }
}

// Where there is no such branch, the last one runs (StableHLO, "case").
TEST(Interpret, CaseTakesTheBranchOrTheLastOne) {
  const Graph graph = parse(R"(graph main(%0: i32[], %1: i32[]) {
    %2: i32[] = case %0, %1 graph(%0: i32[]) {
      return %0
    } graph(%0: i32[]) {
      %1: i32[] = negate %0
      return %1
    } graph(%0: i32[]) {
      %1: i32[] = multiply %0, %0
      return %1
    }
    return %2
  })");
  verify(graph);
  const auto taken = [&](int index) {
    const Literal inputs[] = {Literal::scalar(index), Literal::scalar(7)};
    return interpret(graph, inputs)[0].values<int>()[0];
  };
  EXPECT_EQ(taken(0), 7);
  EXPECT_EQ(taken(1), -7);
  EXPECT_EQ(taken(2), 49);
  EXPECT_EQ(taken(3), 49);
  EXPECT_EQ(taken(-1), 49);
}

// Each row's sum by a loop of dynamic slices, in a loop over rows.
TEST(Interpret, LoopsNest) {
  const Graph graph = parse(R"(graph main(%0: i32[3,4]) {
    %1: i32[] = constant 0
    %2: i32[3] = constant 0
    %3: i32[], %4: i32[3] = while %1, %2, %0 graph condition(%0: i32[], %1: i32[3], %2: i32[3,4]) {
      %3: i32[] = constant 3
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    } graph body(%0: i32[], %1: i32[3], %2: i32[3,4]) {
      %3: i32[] = constant 0
      %4: i32[], %5: i32[] = while %3, %3, %2, %0 graph condition(%0: i32[], %1: i32[], %2: i32[3,4], %3: i32[]) {
        %4: i32[] = constant 4
        %5: bool[] = compare %0, %4 direction=lt
        return %5
      } graph body(%0: i32[], %1: i32[], %2: i32[3,4], %3: i32[]) {
        %4: i32[1,1] = dynamic_slice %2, %3, %0 sizes=[1,1]
        %5: i32[] = reshape %4
        %6: i32[] = add %1, %5
        %7: i32[] = constant 1
        %8: i32[] = add %0, %7
        return %8, %6
      }
      %6: i32[1] = reshape %5
      %7: i32[3] = dynamic_update_slice %1, %6, %0
      %8: i32[] = constant 1
      %9: i32[] = add %0, %8
      return %9, %7
    }
    return %4
  })");
  verify(graph);
  const Literal rows = grid<int>({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(interpret(graph, {&rows, 1})[0], row<int>({10, 26, 42}));
}

}  // namespace
}  // namespace anabranch
