// Which axes of a chain are row axes, op by op, and that a block of an op is that block of its
// result.
#include "passes/row_blocks/row_axes.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/row_blocks/blocked.h"
#include "tests/passes/inputs.h"
#include "tests/support/compare.h"

namespace anabranch {
namespace {

struct OpCase {
  const char* name;
  const char* text;             // its last node is the result
  std::set<std::int64_t> axes;  // of the result, by which it can be cut
  bool is_sum = false;          // whether there is a row axis that is summed over
};

// clang-format off
const OpCase cases[] = {
    {"elementwise", "%0: i32[4,6]) { %1: i32[4,6] = add %0, %0 return %1 }", {0, 1}},
    {"select", "%0: bool[4,6], %1: i32[4,6]) { %2: i32[4,6] = select %0, %1, %1 return %2 }", {0, 1}},
    {"convert", "%0: i32[4,6]) { %1: f32[4,6] = convert %0 return %1 }", {0, 1}},
    {"iota", "%0: f32[]) { %1: i32[4,6] = iota axis=1 return %1 }", {0, 1}},
    {"iota_that_wraps", "%0: f32[]) { %1: i8[300,2] = iota axis=0 return %1 }", {0, 1}},
    {"iota_of_floats", "%0: f32[]) { %1: f16[4,6] = iota axis=0 return %1 }", {0, 1}},
    {"broadcast", "%0: i32[4,1]) { %1: i32[4,5,6] = broadcast_in_dim %0 axes=[0,2] return %1 }", {0, 1, 2}},
    {"transpose", "%0: i32[4,6,5]) { %1: i32[5,4,6] = transpose %0 axes=[2,0,1] return %1 }", {0, 1, 2}},
    {"reshape_joins", "%0: i32[4,2,3]) { %1: i32[4,6] = reshape %0 return %1 }", {0}},
    {"reshape_splits", "%0: i32[6,4]) { %1: i32[2,3,4] = reshape %0 return %1 }", {2}},
    {"reshape_between", "%0: i32[2,3,4,5]) { %1: i32[6,4,5] = reshape %0 return %1 }", {1, 2}},
    {"reshape_across", "%0: i32[4,6]) { %1: i32[6,4] = reshape %0 return %1 }", {}},
    {"slice", "%0: i32[4,6]) { %1: i32[4,2] = slice %0 start=[0,1] limit=[4,5] stride=[1,2] return %1 }", {0}},
    {"reverse", "%0: i32[4,6]) { %1: i32[4,6] = reverse %0 axes=[1] return %1 }", {0}},
    {"pad", "%0: i32[4,6], %1: i32[]) { %2: i32[4,8] = pad %0, %1 low=[0,1] high=[0,1] interior=[0,0] return %2 }", {0}},
    {"concatenate", "%0: i32[4,6], %1: i32[4,2]) { %2: i32[4,8] = concatenate %0, %1 axis=1 return %2 }", {0}},
    {"dynamic_slice", "%0: i32[4,6], %1: i32[]) { %2: i32[4,2] = dynamic_slice %0, %1, %1 sizes=[4,2] return %2 }", {0}},
    {"reduce_max", "%0: i32[4,6]) { %1: i32[4] = reduce_max %0 axes=[1] return %1 }", {0}},
    {"reduce_min_first", "%0: i32[4,6]) { %1: i32[6] = reduce_min %0 axes=[0] return %1 }", {0}},
    {"reduce_sum", "%0: i32[4,6]) { %1: i32[4] = reduce_sum %0 axes=[1] return %1 }", {0}, true},
    {"argmin", "%0: i32[4,6]) { %1: i32[6] = argmin %0 axis=0 return %1 }", {0}},
    {"dot", "%0: i32[3,4,2], %1: i32[5,3,2]) { %2: i32[3,4,5] = dot %0, %1 lhs_batch=[0] rhs_batch=[1] "
            "lhs_contracting=[2] rhs_contracting=[2] return %2 }", {0, 1, 2}, true},
    {"sum_of_halves", "%0: f16[4,6]) { %1: f16[4] = reduce_sum %0 axes=[1] return %1 }", {0}, false},
    {"one_operand", "%0: i32[4,6]) { %1: i32[4,6] = negate %0 return %1 }", {0, 1}},
};
// clang-format on

class AxesOf : public ::testing::TestWithParam<OpCase> {
 protected:
  const Graph graph_ = parse("graph f(" + std::string(GetParam().text));
  const std::uint32_t result_ = graph_.outputs()[0].node;
};

TEST_P(AxesOf, AreCutWhereABlockNeedsABlock) {
  std::set<std::int64_t> axes;
  bool is_sum = false;
  for (const RowAxis& row : row_axes(graph_)) {
    if (row.result[result_]) axes.insert(*row.result[result_]);
    is_sum = is_sum || row.is_summed[result_];
  }
  EXPECT_EQ(axes, GetParam().axes);
  EXPECT_EQ(is_sum, GetParam().is_sum);
}

// In blocks of every size, those that do not divide the axis included.
TEST_P(AxesOf, GiveTheSameInBlocks) {
  const std::vector<Literal> inputs = inputs_for(graph_, 3);
  const std::vector<Literal> expected = interpret(graph_, inputs);
  for (const std::int64_t axis : GetParam().axes) {
    const std::int64_t size = graph_.node(result_).types[0].shape[static_cast<int>(axis)];
    for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(size, 5); ++rows) {
      GraphBuilder builder("blocked");
      std::vector<Value> parameters;
      for (std::size_t i = 0; i < graph_.parameter_count(); ++i) {
        parameters.push_back(builder.parameter(graph_.parameter_type(i)));
      }
      const BlockLevel level{{result_, axis}, rows};
      const Graph blocked = builder.build(add_blocked(builder, graph_, parameters, {&level, 1}));
      EXPECT_TRUE(agree(interpret(blocked, inputs), expected))
          << "axis " << axis << ", " << rows << " rows\n"
          << to_string(blocked);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, AxesOf, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

std::vector<std::int64_t> sizes_of_rows(const char* text) {
  std::vector<std::int64_t> sizes;
  for (const RowAxis& row : row_axes(parse(text))) sizes.push_back(row.size);
  return sizes;
}

TEST(RowAxes, EndWhereASumIsReadBeforeAllRowsAreThere) {
  EXPECT_EQ(sizes_of_rows(R"(graph f(%0: f32[8,2], %1: f32[6,2]) {
    %2: f32[8,6] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[1]
    %3: f32[6] = reduce_sum %2 axes=[0]
    %4: f32[8,6] = broadcast_in_dim %3 axes=[1]
    %5: f32[8,6] = subtract %2, %4
    return %5
  })"),
            std::vector<std::int64_t>{6});
}

TEST(RowAxes, AreNoneThatAValueHasTwice) {
  // Rows of %1 are rows and columns of %2; what is left is what the dot sums over.
  EXPECT_EQ(sizes_of_rows(R"(graph f(%0: f32[8,2]) {
    %1: f32[8,2] = tanh %0
    %2: f32[8,8] = dot %1, %1 lhs_contracting=[1] rhs_contracting=[1]
    return %2
  })"),
            std::vector<std::int64_t>{2});
}

TEST(RowAxes, OfAParameterAreThoseOfEachReader) {
  EXPECT_EQ(sizes_of_rows(R"(graph f(%0: f32[8,2]) {
    %1: f32[8,8] = dot %0, %0 lhs_contracting=[1] rhs_contracting=[1]
    %2: f32[8] = reduce_max %1 axes=[1]
    return %2
  })"),
            std::vector<std::int64_t>{8});
}

}  // namespace
}  // namespace anabranch
