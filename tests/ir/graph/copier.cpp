#include "ir/graph/copier.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

const Graph from = parse(R"(
graph from(%0: f32[3], %1: f32[3]) {
  %2: f32[3] = add %0, %1
  %3: i32[], %4: f32[3] = custom_call %2 name=two results=[i32[],f32[3]]
  %5: f32[3] = multiply %4, %2
  return %5, %3
})");

TEST(GraphCopier, CopiesAGraphToAnEqualOne) {
  GraphBuilder builder("from");
  GraphCopier copier(from, builder);
  for (std::uint32_t i = 0; i < from.nodes().size(); ++i) copier.copy(i);
  EXPECT_EQ(builder.build(copier(from.outputs())), from);
}

// What is read goes by its new name, one result of several too.
TEST(GraphCopier, RenamesWhatIsRead) {
  GraphBuilder builder("to");
  const Value x = builder.parameter({f32, {3}});
  const Value other = builder.add(Op::negate, {x});
  GraphCopier copier(from, builder);
  copier.rename(0, x);
  copier.rename(1, x);
  copier.copy(2);
  copier.copy(3);
  copier.rename({3, 1}, other);
  copier.copy(4);
  EXPECT_EQ(to_string(builder.build(copier(from.outputs())), false),
            "graph to(%0: f32[3]) {\n"
            "  %1: f32[3] = negate %0\n"
            "  %2: f32[3] = add %0, %0\n"
            "  %3: i32[], %4: f32[3] = custom_call %2 name=two results=[i32[],f32[3]]\n"
            "  %5: f32[3] = multiply %1, %2\n"
            "  return %5, %3\n"
            "}\n");
}

TEST(GraphCopier, KnowsWhatWasNotCopied) {
  GraphBuilder builder("to");
  GraphCopier copier(from, builder);
  copier.copy(0);
  EXPECT_THROW(copier.copy(2), InternalError);
  EXPECT_THROW(copier({1, 0}), InternalError);
}

}  // namespace
}  // namespace anabranch
