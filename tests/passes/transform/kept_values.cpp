// What checkpoints keep and what they compute again: counted in the backward pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "marked.h"
#include "passes/dce.h"
#include "passes/transform/batch.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using namespace testing;

KeepPolicy ops(std::set<Op> kept) {
  return
      [kept = std::move(kept)](const KeepCandidate& value) { return kept.contains(value.node.op); };
}
KeepPolicy names(std::set<std::string, std::less<>> kept) {
  return [kept = std::move(kept)](const KeepCandidate& value) { return kept.contains(value.name); };
}
const KeepPolicy nothing = ops({});
const KeepPolicy everything = [](const KeepCandidate&) { return true; };

int count(const Graph& graph, Op op) {
  int found = 0;
  for (const Node& node : graph.nodes()) {
    found += node.op == op;
    for (const Graph& region : node.regions) found += count(region, op);
  }
  return found;
}

// The backward pass by parameter 0, of which only what is needed is left.
ForwardAndLinear taken_apart(const Graph& graph) {
  std::vector<bool> active(graph.parameter_count());
  active[0] = true;
  ForwardAndLinear parts = vjp(graph, active);
  verify(parts.forward);
  verify(parts.linear);
  PassContext context;
  parts.linear = dce(parts.linear, context);
  return parts;
}

// The types of what goes from the forward pass to the backward one, and is read there.
std::multiset<std::string> residuals(const Graph& graph) {
  const Graph linear = taken_apart(graph).linear;
  std::multiset<std::string> types;
  for (std::uint32_t i = 0; i + 1 < linear.parameter_count(); ++i) {
    const bool is_read = std::ranges::any_of(linear.nodes(), [&](const Node& node) {
      return std::ranges::find(node.inputs, Value{i, 0}) != node.inputs.end();
    });
    if (is_read) types.insert(to_string(linear.parameter_type(i)));
  }
  return types;
}

void expect_right(const Graph& graph, int order = 2) {
  std::mt19937 random(11);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    const Type& type = graph.parameter_type(i);
    inputs.push_back(is_integer(type.dtype) ? Literal::scalar(type.dtype, 1.0)
                                            : spread_numbers(type, random, 0.2, 0.9));
  }
  check_derivatives(graph, inputs, random, to_string(graph), {.order = order});
}

std::string checkpointed(const std::string& parameters, const std::string& body) {
  return "graph f(%0: f64[3], " + parameters +
         ") {\n %9: f64[3] = composite %0, %1 rule=checkpoint" +
         " arguments=2 graph g(%0: f64[3], " + parameters + ") {\n" + body + "}\n return %9\n}";
}

// tanh(w sin(exp(x))), each op once.
const std::string chain = checkpointed("%1: f64[3]", R"(
  %2: f64[3] = exponential %0
  %3: f64[3] = composite %2 rule=named arguments=1 name=big graph i(%0: f64[3]) { return %0 }
  %4: f64[3] = sine %3
  %5: f64[3] = multiply %4, %1
  %6: f64[3] = composite %5 rule=named arguments=1 name=inner graph i(%0: f64[3]) { return %0 }
  %7: f64[3] = composite %6 rule=named arguments=1 name=again graph i(%0: f64[3]) { return %0 }
  %8: f64[3] = tanh %7
  return %8
)");

TEST(MarkKept, AsksAboutEachValueOnceOrWithEachName) {
  std::vector<std::string> asked;
  const Graph region = parse(chain).node(Value{2, 0}).regions[0];
  const MarkedFunction marked = mark_kept(region, [&](const KeepCandidate& value) {
    asked.push_back(std::string(name(value.node.op)) + " " + std::string(value.name));
    return value.name == "again";
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"exponential big", "sine ", "multiply inner",
                                             "multiply again", "tanh "}));
  EXPECT_EQ(marked.names, (std::vector<std::string>{"big", "inner", "again"}));
  EXPECT_EQ(to_string(marked.graph), R"(graph g(%0: f64[3], %1: f64[3]) {
  %2: f64[3] = exponential %0
  %3: f64[3] = sine %2
  %4: f64[3] = multiply %3, %1
  %5: f64[3] = composite %4 rule=kept arguments=1 graph identity(%0: f64[3]) {
    return %0
  }
  %6: f64[3] = tanh %5
  return %6
}
)");
  // Marks that are there say nothing of this policy.
  EXPECT_EQ(count(mark_kept(marked.graph, nothing).graph, Op::composite), 0);
}

TEST(KeptValues, AreNotComputedAgain) {
  struct Row {
    KeepPolicy policy;
    std::map<Op, int> again;
    std::size_t residuals;
  };
  const Row rows[] = {
      {nothing, {{Op::exponential, 1}, {Op::sine, 1}, {Op::tanh, 1}}, 2},
      {ops({Op::exponential}), {{Op::exponential, 0}, {Op::sine, 1}, {Op::tanh, 1}}, 2},
      {ops({Op::multiply}), {{Op::exponential, 1}, {Op::sine, 0}, {Op::tanh, 1}}, 3},
      {names({"big", "again"}), {{Op::exponential, 0}, {Op::sine, 0}, {Op::tanh, 1}}, 3},
      // The sine itself is not read by any derivative: exp(x), w and tanh are.
      {everything, {{Op::exponential, 0}, {Op::sine, 0}, {Op::tanh, 0}}, 3},
  };
  for (const Row& row : rows) {
    const Graph graph = with_policy(parse(chain), row.policy);
    const ForwardAndLinear parts = taken_apart(graph);
    for (const auto& [op, wanted] : row.again) {
      EXPECT_EQ(count(parts.linear, op), wanted) << name(op) << "\n" << to_string(parts.linear);
    }
    EXPECT_EQ(residuals(graph).size(), row.residuals) << to_string(parts.linear);
    expect_right(graph);
  }
}

const std::string loop = checkpointed("%1: f64[3]", R"(
  %2: i32[] = constant 2
  %3: i32[], %4: f64[3] = while %2, %0, %1
    graph condition(%0: i32[], %1: f64[3], %2: f64[3]) {
      %3: i32[] = constant 7
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    } graph body(%0: i32[], %1: f64[3], %2: f64[3]) {
      %3: f64[3] = composite %1 rule=named arguments=1 name=state graph i(%0: f64[3]) { return %0 }
      %4: f64[3] = tanh %3
      %5: f64[3] = composite %4 rule=named arguments=1 name=bent graph i(%0: f64[3]) { return %0 }
      %6: f64[3] = composite %2 rule=named arguments=1 name=weight graph i(%0: f64[3]) { return %0 }
      %7: f64[3] = multiply %5, %6
      %8: f64[3] = sine %7
      %9: i32[] = constant 1
      %10: i32[] = add %0, %9
      return %10, %8
    }
  return %4
)");

TEST(KeptValues, OfALoopAreStacks) {
  EXPECT_EQ(residuals(with_policy(parse(loop), nothing)),
            (std::multiset<std::string>{"f64[3]", "f64[3]"}));
  struct Row {
    KeepPolicy policy;
    int tanh, sine;
    std::size_t stacks;
  };
  const Row rows[] = {
      {nothing, 1, 1, 0},
      // What each turn begins with: the sine goes, for the next state is there.
      {names({"state"}), 1, 0, 1},
      {names({"bent"}), 0, 0, 1},
      // Each turn's state is what the sine of the turn before gave.
      {names({"state", "bent"}), 0, 0, 1},
      {ops({Op::sine}), 1, 0, 1},
      // It does not change, and is there: no stack.
      {names({"weight"}), 1, 1, 0},
      {everything, 0, 0, 2},
  };
  for (const Row& row : rows) {
    const Graph graph = with_policy(parse(loop), row.policy);
    const Graph linear = taken_apart(graph).linear;
    EXPECT_EQ(count(linear, Op::tanh), row.tanh) << to_string(linear);
    EXPECT_EQ(count(linear, Op::sine), row.sine) << to_string(linear);
    EXPECT_EQ(residuals(graph).count("f64[5,3]"), row.stacks) << to_string(linear);
    expect_right(graph);
  }
}

// Two turns of three.
TEST(KeptValues, OfALoopInALoopAreStacksOfStacks) {
  const std::string text = checkpointed("%1: f64[3]", R"(
  %2: i64[] = constant 0
  %3: i64[], %4: f64[3] = while %2, %0, %1
    graph condition(%0: i64[], %1: f64[3], %2: f64[3]) {
      %3: i64[] = constant 2
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    } graph body(%0: i64[], %1: f64[3], %2: f64[3]) {
      %3: i64[] = constant 0
      %4: i64[], %5: f64[3] = while %3, %1, %2
        graph condition(%0: i64[], %1: f64[3], %2: f64[3]) {
          %3: i64[] = constant 3
          %4: bool[] = compare %0, %3 direction=lt
          return %4
        } graph body(%0: i64[], %1: f64[3], %2: f64[3]) {
          %3: f64[3] = tanh %1
          %4: f64[3] = multiply %3, %2
          %5: i64[] = constant 1
          %6: i64[] = add %0, %5
          return %6, %4
        }
      %6: i64[] = constant 1
      %7: i64[] = add %0, %6
      return %7, %5
    }
  return %4
)");
  const Graph graph = with_policy(parse(text), ops({Op::tanh}));
  EXPECT_EQ(residuals(graph).count("f64[2,3,3]"), 1u);
  EXPECT_EQ(count(taken_apart(graph).linear, Op::tanh), 0);
  expect_right(graph);
}

TEST(KeptValues, OfBranchesAreThoseOfTheOneThatIsTaken) {
  const std::string text = R"(graph f(%0: f64[3], %1: f64[3], %2: i32[]) {
  %3: f64[3] = composite %0, %1, %2 rule=checkpoint arguments=3 graph g(%0: f64[3], %1: f64[3], %2: i32[]) {
    %3: f64[3] = case %2, %0, %1 graph first(%0: f64[3], %1: f64[3]) {
      %2: f64[3] = exponential %0
      %3: f64[3] = multiply %2, %1
      return %3
    } graph second(%0: f64[3], %1: f64[3]) {
      %2: f64[3] = tanh %0
      %3: f64[3] = tanh %2
      return %3
    }
    return %3
  }
  return %3
})";
  for (const bool keeps : {false, true}) {
    const Graph graph =
        with_policy(parse(text), keeps ? ops({Op::tanh, Op::exponential}) : nothing);
    const Graph linear = taken_apart(graph).linear;
    EXPECT_EQ(count(linear, Op::tanh), keeps ? 0 : 2) << to_string(linear);
    EXPECT_EQ(count(linear, Op::exponential), keeps ? 0 : 1) << to_string(linear);
    expect_right(graph);
  }
}

// The inner one computes again what the outer one keeps nothing of.
TEST(KeptValues, OfACheckpointInsideAreItsOwn) {
  const std::string text = checkpointed("%1: f64[3]", R"(
  %2: f64[3] = exponential %0
  %3: f64[3] = composite %2, %1 rule=checkpoint arguments=2 graph g(%0: f64[3], %1: f64[3]) {
    %2: f64[3] = sine %0
    %3: f64[3] = multiply %2, %1
    %4: f64[3] = tanh %3
    return %4
  }
  %4: f64[3] = cosine %3
  return %4
)");
  std::vector<std::string> asked;
  const Graph outer = with_policy(parse(text), [&](const KeepCandidate& value) {
    asked.emplace_back(name(value.node.op));
    return true;
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"exponential", "composite", "cosine"}));
  const Graph linear = taken_apart(outer).linear;
  EXPECT_EQ(count(linear, Op::exponential), 0) << to_string(linear);
  EXPECT_EQ(count(linear, Op::tanh), 1) << to_string(linear);
  expect_right(outer);
}

// A loop until a condition fails keeps none: its turns are computed again one by one.
TEST(KeptValues, OfALoopWhoseTurnsAreNotKnownAreNone) {
  const std::string text = checkpointed("%1: f64[3]", R"(
  %2: f64[] = constant 0
  %3: f64[], %4: f64[3] = while %2, %0, %1
    graph condition(%0: f64[], %1: f64[3], %2: f64[3]) {
      %3: f64[] = constant 3
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    } graph body(%0: f64[], %1: f64[3], %2: f64[3]) {
      %3: f64[3] = tanh %1
      %4: f64[3] = multiply %3, %2
      %5: f64[] = constant 1
      %6: f64[] = add %0, %5
      return %6, %4
    }
  return %4
)");
  const Graph graph = with_policy(parse(text), everything);
  EXPECT_EQ(residuals(graph), residuals(parse(text)));
  expect_right(graph, 1);
}

// Batched by x alone: what depends on w alone is computed once.
TEST(KeptValues, OfABatchHaveItsAxisWhereTheyDependOnIt) {
  const std::string text = checkpointed("%1: f64[3]", R"(
  %2: f64[3] = exponential %1
  %3: f64[3] = multiply %0, %2
  %4: f64[3] = tanh %3
  return %4
)");
  const Graph graph = with_policy(parse(text), ops({Op::exponential, Op::tanh}));
  const BatchedGraph batched = batch(graph, 5, {true, false});
  verify(batched.graph);
  EXPECT_EQ(batched.batched, std::vector<bool>{true});
  const Graph& region = batched.graph.node(batched.graph.outputs()[0]).regions[0];
  for (const Node& node : region.nodes()) {
    const bool is_single = node.op == Op::exponential;
    if (!is_single && node.op != Op::tanh) continue;
    EXPECT_EQ(to_string(node.types[0]), is_single ? "f64[3]" : "f64[5,3]");
  }
  EXPECT_EQ(residuals(batched.graph), (std::multiset<std::string>{"f64[3]", "f64[5,3]"}));
  expect_right(batched.graph);
}

}  // namespace
}  // namespace anabranch
