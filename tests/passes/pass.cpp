#include "passes/pass.h"

#include <gtest/gtest.h>

#include "ir/graph/builder.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"

namespace anabranch {
namespace {

Graph sum_graph() {
  return parse("graph sum(%0: f32[2]) { %1: f32[2] = exponential %0 return %0 }");
}

template <class Failure>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing thrown";
}

TEST(Passes, AreFoundByName) {
  EXPECT_EQ(find_pass("fuse").name, "fuse");
  EXPECT_EQ(message_of<Error>([] { find_pass("fuze"); }),
            "there is no pass fuze; there are inline, checks, expand, canonicalize, fold, sink, "
            "simplify, simplify_control_flow, cse, dce, batch_loops, split_carries, row_blocks, "
            "fuse, outline, placement");
}

TEST(Passes, RunInOrderAndReport) {
  PassContext context;
  std::vector<std::string> names;
  PassRun options;
  options.after = [&](const PassResult& made) {
    names.emplace_back(made.pass);
    EXPECT_EQ(parse(made.text()).parameter_count(), 1u);
  };
  const Pass two[] = {find_pass("dce"), find_pass("fuse")};
  Graph after = run_passes(two, sum_graph(), context, options);
  EXPECT_EQ(names, (std::vector<std::string>{"dce", "fuse"}));
  EXPECT_EQ(after.nodes().size(), 1u);
}

TEST(Passes, AreLeftOutByName) {
  PassContext context;
  const std::vector<std::string> disabled = {"dce", "canonicalize"};
  PassRun options;
  options.disabled = disabled;
  const Pass dce[] = {find_pass("dce")};
  EXPECT_EQ(run_passes(dce, sum_graph(), context, options), sum_graph());
}

// Loops one inside the other, `depth` of them; each has a carry that nothing needs.
Graph nest(int depth) {
  GraphBuilder builder("nest");
  const Value x = builder.parameter({f32, Shape{2}}), unused = builder.parameter({f32, Shape{2}});
  if (depth == 0) return builder.build({builder.add(Op::negate, {x}), unused});
  Graph goes_on = parse(R"(graph goes_on(%0: f32[2], %1: f32[2]) {
    %2: f32[] = reduce_sum %0 axes=[0]
    %3: f32[] = constant 0
    %4: bool[] = compare %2, %3 direction=gt
    return %4
  })");
  const Value loop = builder.add(Op::while_, {x, unused}, WhileAttributes{}, {},
                                 {std::move(goes_on), nest(depth - 1)});
  return builder.build({loop, {loop.node, 1}});
}

TEST(Passes, TakeTheTimeOfANestAndNotOfTwoToItsDepth) {
  PassContext context;
  const Graph after = run_passes(default_pipeline(), nest(40), context, {});
  EXPECT_EQ(after.parameter_count(), 2u);
}

// Gives %1 the type of another shape.
Graph break_types(const Graph& graph, PassContext&) {
  GraphBuilder builder(graph.name());
  Value x = builder.parameter(graph.parameter_type(0));
  Node wrong = graph.node(1);
  wrong.types[0] = Type{f32, Shape{3}};
  wrong.inputs = {x};
  return builder.build({builder.append(std::move(wrong))});
}

Graph give_up(const Graph&, PassContext&) { throw std::runtime_error("out of ideas"); }

TEST(Passes, ThatBreakTheGraphAreNamedWithTheDump) {
  const Pass broken[] = {{"break_types", "", break_types}};
  PassContext context;
  PassRun options;
  options.verify = true;
  try {
    run_passes(broken, sum_graph(), context, options);
    FAIL() << "a broken graph went unnoticed";
  } catch (const InternalError& error) {
    EXPECT_EQ(error.stage(), "pass break_types");
    EXPECT_EQ(error.dump(), to_string(sum_graph()));
    EXPECT_NE(std::string(error.what()).find("broke the graph"), std::string::npos);
  }
}

TEST(Passes, ThatThrowAreNamedWithTheDump) {
  const Pass failing[] = {{"give_up", "", give_up}};
  PassContext context;
  try {
    run_passes(failing, sum_graph(), context);
    FAIL() << "the exception was lost";
  } catch (const InternalError& error) {
    EXPECT_EQ(error.stage(), "pass give_up");
    EXPECT_EQ(error.dump(), to_string(sum_graph()));
  }
}

}  // namespace
}  // namespace anabranch
