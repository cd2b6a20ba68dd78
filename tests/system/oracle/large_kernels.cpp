// Kernels so large that code is shared, masked throughout or cut, each run in every way (ways.cpp).
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "tests/support/compare.h"
#include "tests/support/graph_families.h"
#include "tests/support/random_graph.h"
#include "ways.h"

namespace anabranch {
namespace {

Literal numbers(const Type& type, std::size_t seed) {
  std::vector<float> values(static_cast<std::size_t>(type.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.001f * static_cast<float>((i * 37 + seed * 11) % 1000);
  }
  return Literal::of(std::span<const float>(values), type.shape);
}

// Sums down a matrix that no cache may hold (codegen/lower/chunks.h). 1031 is prime.
Graph columns() {
  return parse(R"(
graph columns(%0: f32[1031], %1: f32[1031,8168], %2: f32[8168]) {
  %3: f32[8168] = dot %0, %1 lhs_contracting=[0] rhs_contracting=[0]
  %4: f32[8168] = add %3, %2
  %5: f32[8168] = reduce_sum %1 axes=[0]
  return %4, %5
})");
}

// Sums of rows, and sums of columns by them: one kernel (codegen/kernel/fuse_loops.h).
Graph rows_and_columns() {
  return parse(R"(
graph rows_and_columns(%0: f32[1056,8168], %1: f32[8168], %2: f32[1056]) {
  %3: f32[1056] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  %4: f32[8168] = dot %3, %0 lhs_contracting=[0] rhs_contracting=[0]
  %5: f32[8168] = dot %2, %0 lhs_contracting=[0] rhs_contracting=[0]
  return %4, %5, %3
})");
}

class LargeKernels : public testing::TestWithParam<Graph> {};

TEST_P(LargeKernels, GiveWhatTheInterpreterGives) {
  GraphCase tested;
  tested.graph = GetParam();
  for (std::size_t i = 0; i < tested.graph.parameter_count(); ++i) {
    tested.inputs.push_back(numbers(tested.graph.parameter_type(i), i));
  }
  const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
  for (const Way& way : ways()) {
    EXPECT_EQ(difference(expected, way.run(tested)), std::nullopt) << way.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Family, LargeKernels,
    testing::Values(families::unary_chain(Op::sine, 30), families::unary_chain(Op::tanh, 30),
                    families::arithmetic(1200), families::joined_with_itself(8),
                    families::slices_of_one(150), families::parameters_in_one(200),
                    families::dots(70), families::ladder(40), columns(), rows_and_columns()),
    [](const auto& info) { return info.param.name() + std::to_string(info.index); });

}  // namespace
}  // namespace anabranch
