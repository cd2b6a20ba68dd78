#include "ir/graph/graph.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

TEST(GraphBuilder, ReusesEqualNodes) {
  GraphBuilder builder;
  Value x = builder.parameter({f32, {3}});
  Value first = builder.add(Op::tanh, {x}, NoAttributes{}, {}, {}, {"a.cpp", 1});
  EXPECT_EQ(builder.add(Op::tanh, {x}, NoAttributes{}, {}, {}, {"b.cpp", 2}), first);
  EXPECT_NE(builder.add(Op::sine, {x}), first);
  EXPECT_EQ(builder.constant(Literal::scalar(1.0f)), builder.constant(Literal::scalar(1.0f)));
  EXPECT_NE(builder.constant(Literal::scalar(0.0f)), builder.constant(Literal::scalar(-0.0f)));
  EXPECT_NE(builder.add(Op::reduce_sum, {x}, AxesAttributes{}),
            builder.add(Op::reduce_sum, {x}, AxesAttributes{{0}}));
}

TEST(GraphBuilder, KeepsParametersFirstAndApart) {
  GraphBuilder builder;
  Value x = builder.parameter({f32, {3}});
  EXPECT_NE(builder.parameter({f32, {3}}), x);
  builder.add(Op::tanh, {x});
  EXPECT_THROW(builder.parameter({f32, {3}}), InternalError);
  EXPECT_THROW(builder.add(Op::parameter, {}, NoAttributes{}, Type{f32, {3}}), InternalError);
}

TEST(GraphBuilder, PutsLateParametersBehindTheOthers) {
  GraphBuilder builder("");
  const Value first = builder.late_parameter({f32, {3}});
  const Value x = builder.add(Op::tanh, {first});
  const Value late = builder.late_parameter({f32, {3}});
  EXPECT_NE(builder.late_parameter({f32, {3}}), late);
  const Value sum = builder.add(Op::add, {x, late});
  EXPECT_EQ(to_string(builder.build({sum, late})),
            "graph(%0: f32[3], %1: f32[3], %2: f32[3]) {\n"
            "  %3: f32[3] = tanh %0\n"
            "  %4: f32[3] = add %3, %1\n"
            "  return %4, %1\n"
            "}\n");
}

TEST(GraphBuilder, RefusesUnknownValues) {
  GraphBuilder builder;
  builder.parameter({f32, {3}});
  EXPECT_THROW(builder.add(Op::tanh, {{7, 0}}), InternalError);
  EXPECT_THROW(builder.add(Op::tanh, {{0, 1}}), InternalError);
  EXPECT_THROW(builder.build({{1, 0}}), InternalError);
}

Graph chain(const std::string& name, float last) {
  GraphBuilder builder(name);
  Value x = builder.parameter({f32, {}});
  return builder.build({builder.add(Op::add, {x, builder.constant(Literal::scalar(last))})});
}

TEST(Graph, ComparesByWhatItComputesAndItsName) {
  EXPECT_EQ(chain("f", 1), chain("f", 1));
  EXPECT_NE(chain("f", 1), chain("f", 2));
  EXPECT_NE(chain("f", 1), chain("g", 1));
  EXPECT_EQ(chain("f", 1).hash(), chain("g", 1).hash()) << "the name does not count";
  EXPECT_NE(chain("f", 1).hash(), chain("f", 2).hash());
}

TEST(Graph, LeavesTheBuilderEmpty) {
  GraphBuilder builder("once");
  builder.parameter({f32, {}});
  EXPECT_EQ(builder.build({}).parameter_count(), 1u);
  EXPECT_EQ(builder.size(), 0u);
}

TEST(Op, IsFoundByTheNameItPrints) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    EXPECT_EQ(parse_op(all_ops()[i].name), static_cast<Op>(i));
    EXPECT_FALSE(all_ops()[i].meaning.empty());
  }
  EXPECT_EQ(name(Op::and_), "and");
  EXPECT_EQ(parse_op("and_"), std::nullopt);
}

TEST(SourceLocation, PrintsTheFileWithoutItsFolders) {
  EXPECT_EQ(to_string(SourceLocation("/some/where/model.cpp", 12)), "model.cpp:12");
  EXPECT_EQ(to_string(SourceLocation()), "");
}

}  // namespace
}  // namespace anabranch
