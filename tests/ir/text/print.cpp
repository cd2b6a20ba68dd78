#include "ir/text/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/graph/builder.h"

namespace anabranch {
namespace {

TEST(Print, WritesTheFormOfTheDesign) {
  GraphBuilder builder("layer");
  Value x = builder.parameter({f32, {64, 128}});
  Value w = builder.parameter({f32, {128, 32}});
  Value y = builder.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}}, {}, {},
                        {"/somewhere/model.cpp", 12});
  Value z = builder.add(Op::tanh, {y});
  const Graph graph = builder.build({z});
  const std::string_view line =
      "  %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]";
  EXPECT_EQ(to_string(graph), "graph layer(%0: f32[64,128], %1: f32[128,32]) {\n" +
                                  std::string(line) +
                                  "  # model.cpp:12\n"
                                  "  %3: f32[64,32] = tanh %2\n"
                                  "  return %3\n"
                                  "}\n");
  EXPECT_EQ(to_string(graph, false).find('#'), std::string::npos);
}

TEST(Print, NumbersEachResultAndIndentsRegions) {
  GraphBuilder body("");
  Value a = body.parameter({f32, {}});
  Value b = body.parameter({i32, {}});
  Value c = body.parameter({f32, {}});
  Value d = body.parameter({i32, {}});
  Value keep = body.add(Op::compare, {a, c}, CompareAttributes{Comparison::ge});
  Value value = body.add(Op::select, {keep, a, c});
  Value index = body.add(Op::select, {keep, b, d});
  Graph region = body.build({value, index});

  GraphBuilder builder("best of \"all\"");
  Value x = builder.parameter({f32, {4, 3}});
  Value i = builder.add(Op::iota, {}, AxisAttributes{1}, Type{i32, {4, 3}});
  Value low = builder.constant(Literal::scalar(-std::numeric_limits<float>::infinity()));
  Value zero = builder.constant(Literal::scalar(std::int32_t{0}));
  Value best = builder.add(Op::reduce, {x, i, low, zero}, AxesAttributes{{1}}, {}, {region},
                           {"model.cpp", 7});
  EXPECT_EQ(to_string(builder.build({best, Value{best.node, 1}})),
            R"(graph "best of \"all\""(%0: f32[4,3]) {
  %1: i32[4,3] = iota axis=1
  %2: f32[] = constant -inf
  %3: i32[] = constant 0
  %4: f32[4], %5: i32[4] = reduce %0, %1, %2, %3 axes=[1] graph(%0: f32[], %1: i32[], %2: f32[], %3: i32[]) {  # model.cpp:7
    %4: bool[] = compare %0, %2 direction=ge
    %5: f32[] = select %4, %0, %2
    %6: i32[] = select %4, %1, %3
    return %5, %6
  }
  return %4, %5
}
)");
}

TEST(Print, WritesLiterals) {
  const std::int32_t counted[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(to_string(Literal::of<std::int32_t>(counted, {2, 3})), "[[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(to_string(Literal::of<std::int32_t>(counted, {6, 1})),
            "[[1], [2], [3], [4], [5], [6]]");
  EXPECT_EQ(to_string(Literal::of<std::int32_t>({}, {1000000000, 0})), "[]");
  const bool same[] = {true, true};
  EXPECT_EQ(to_string(Literal::of<bool>(same, {2})), "true");
  EXPECT_EQ(to_string(Literal::of<bool>(std::span(same, 1), {1})), "[true]");
}

TEST(Print, WritesTheShortestNumber) {
  EXPECT_EQ(to_string(Literal::scalar(0.1f)), "0.1");
  EXPECT_EQ(to_string(Literal::scalar(0.1)), "0.1");
  EXPECT_EQ(to_string(Literal::scalar(-0.0f)), "-0");
  EXPECT_EQ(to_string(Literal::scalar(1e30)), "1e+30");
  EXPECT_EQ(to_string(Literal::scalar(Float16(0.1f))), "0.1");
  EXPECT_EQ(to_string(Literal::scalar(Float16(65504.0f))), "65500");
  EXPECT_EQ(to_string(Literal::scalar(BFloat16(0.1f))), "0.1");
  EXPECT_EQ(to_string(Literal::scalar(BFloat16(3.140625f))), "3.14");
  EXPECT_EQ(to_string(Literal::scalar(std::numeric_limits<std::int64_t>::min())),
            "-9223372036854775808");
  EXPECT_EQ(to_string(Literal::scalar(std::int8_t{-128})), "-128");
}

TEST(Print, KeepsTheBitsOfNaN) {
  EXPECT_EQ(to_string(Literal::scalar(std::bit_cast<float>(0x7fc00000u))), "nan");
  EXPECT_EQ(to_string(Literal::scalar(std::bit_cast<float>(0xffc00000u))), "nan(0xffc00000)");
  EXPECT_EQ(to_string(Literal::scalar(Float16::from_bits(0x7e01))), "nan(0x7e01)");
  EXPECT_EQ(to_string(Literal::scalar(BFloat16::from_bits(0x7fc0))), "nan");
  EXPECT_EQ(to_string(Literal::scalar(std::bit_cast<double>(0x7ff8000000000001u))),
            "nan(0x7ff8000000000001)");
}

}  // namespace
}  // namespace anabranch
