// Loops and branches: their derivatives are those of the unrolled graph, and those of differences.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>

#include "ir/graph/verify.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "loops.h"
#include "marked.h"
#include "passes/transform/batch.h"
#include "passes/transform/checkpoints.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using namespace testing;

const Type number_type{i64, {}};
const Type row_type{f64, {3}};

// Carries x, y, z and captures w, m and `inner`, a number of turns. What is carried stays bounded.

// z stays as it is.
Values dense(GraphBuilder& graph, Value number, const Values& c, const Values& captures) {
  const Value product = graph.add(Op::multiply, {c[0], captures[0]});
  const Value moved = graph.add(Op::add, {product, row_of(graph, captures[1], number)});
  const Value x = graph.add(Op::sine, {moved});
  const Value y = graph.add(Op::add, {c[1], graph.add(Op::multiply, {x, c[2]})});
  return {x, y, c[2]};
}

// Carries change places; one begins anew.
Values shifting(GraphBuilder& graph, Value number, const Values& c, const Values& captures) {
  const Value x = graph.add(Op::multiply, {c[1], captures[0]});
  const Value new_y = graph.add(Op::add, {c[2], row_of(graph, captures[1], number)});
  return {x, graph.add(Op::tanh, {new_y}), graph.add(Op::cosine, {c[0]})};
}

// Where the number of the turn is even, or odd.
Values branching(GraphBuilder& graph, Value number, const Values& c, const Values& captures) {
  const Value odd = graph.add(Op::and_, {number, scalar(graph, 1)});
  const Value which = graph.add(Op::convert, {odd}, NoAttributes{}, Type{i32, {}});
  std::vector<Graph> branches;
  for (const Turn& turn : {Turn(dense), Turn([](GraphBuilder&g, Value, const Values&own, auto&) {
                             return Values{own[0], g.add(Op::sine, {own[2]}), own[1]};
                           })}) {
    GraphBuilder branch("branch");
    Values own, own_captures;
    for (int i = 0; i < 3; ++i) own.push_back(branch.parameter(row_type));
    for (Value capture : captures) own_captures.push_back(branch.parameter(graph.type(capture)));
    const Value own_number = branch.parameter(number_type);
    const Values outputs = turn(branch, own_number, own, own_captures);
    branches.push_back(branch.build(outputs));
  }
  Values operands = {which, c[0], c[1], c[2]};
  operands.insert(operands.end(), captures.begin(), captures.end());
  operands.push_back(number);
  const Value made =
      graph.add(Op::case_, operands, NoAttributes{}, std::nullopt, std::move(branches));
  return {{made.node, 0}, {made.node, 1}, {made.node, 2}};
}

Turn nested(Repeated inner, Turn turn) {
  return [=](GraphBuilder& graph, Value, const Values& carries, const Values& captures) {
    return looped(graph, inner, captures[2], carries, captures, turn);
  };
}

// A loop in the second of two branches, the first of which gives what it takes.
Turn in_branch(Repeated inner, Turn turn) {
  return [=](GraphBuilder& graph, Value number, const Values& c, const Values& captures) {
    const Value odd = graph.add(Op::and_, {number, scalar(graph, 1)});
    const Value which = graph.add(Op::convert, {odd}, NoAttributes{}, Type{i32, {}});
    GraphBuilder branches[2];
    std::vector<Graph> built;
    for (int b = 0; b < 2; ++b) {
      Values own, own_captures;
      for (int i = 0; i < 3; ++i) own.push_back(branches[b].parameter(row_type));
      for (Value capture : captures) {
        own_captures.push_back(branches[b].parameter(graph.type(capture)));
      }
      const Values outputs =
          b == 0 ? own : looped(branches[b], inner, own_captures[2], own, own_captures, turn);
      built.push_back(branches[b].build(outputs));
    }
    Values operands = {which, c[0], c[1], c[2]};
    operands.insert(operands.end(), captures.begin(), captures.end());
    const Value made = graph.add(Op::case_, operands, NoAttributes{}, std::nullopt, built);
    return Values{{made.node, 0}, {made.node, 1}, {made.node, 2}};
  };
}

// Parameters: x, y, z, w, m, and the numbers of turns of the outer and the inner loop.
Graph program(Repeated outer, const Turn& turn) {
  GraphBuilder graph;
  Values carries;
  for (int i = 0; i < 3; ++i) carries.push_back(graph.parameter(row_type));
  const Value w = graph.parameter(row_type), m = graph.parameter({f64, {4, 3}});
  const Value bound = graph.parameter(number_type), inner = graph.parameter(number_type);
  Graph made = graph.build(looped(graph, outer, bound, carries, {w, m, inner}, turn));
  verify(made);
  return made;
}

struct NamedTurn {
  const char* name;
  Turn turn;
};
const NamedTurn turns_of_one_loop[] = {
    {"dense", dense}, {"shifting", shifting}, {"branching", branching}};
constexpr Turns kinds[] = {Turns::counted, Turns::bound, Turns::until};

TEST(DerivativesOfLoops, AreThoseOfTheUnrolledGraph) {
  for (const auto& [name, turn] : turns_of_one_loop) {
    for (std::int64_t count : {0, 1, 2, 31, 32, 33, 100, 600}) {
      const Graph unrolled = program({Turns::unrolled, count}, turn);
      for (Turns kind : kinds) {
        const Graph graph = program({kind, count}, turn);
        expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, count, 0),
                           std::string(name) + ", kind " + std::to_string(int(kind)) + ", " +
                               std::to_string(count) + " turns");
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(default_kept_states, 32);
}

TEST(DerivativesOfLoops, AreThoseOfTheUnrolledGraphHoweverFewStatesAreKept) {
  for (std::int64_t count : {0, 1, 2, 7, 40}) {
    const Graph unrolled = program({Turns::unrolled, count}, dense);
    for (std::int64_t states : {1, 2, 3, 8, 39, 2000}) {
      for (Turns kind : {Turns::bound, Turns::until}) {
        const Graph graph = program({kind, count, states}, dense);
        expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, count, 0),
                           std::to_string(states) + " states, " + std::to_string(count) + " turns");
        if (HasFatalFailure()) return;
      }
    }
  }
}

// In another loop, whose backward turns run it forward and backward.
TEST(DerivativesOfLoops, KeepTheirNumberOfStatesThroughTransforms) {
  const Graph graph = program({Turns::until, 3, 2}, nested({Turns::bound, 2, 5}, dense));
  const Graph twice = vjp(vjp(graph, {true, true, true, true, true, false, false}).forward,
                          {true, true, true, true, true, false, false})
                          .linear;
  std::set<std::optional<std::int64_t>> found;
  const std::function<void(const Graph&)> look = [&](const Graph& inside) {
    for (const Node& node : inside.nodes()) {
      if (node.op == Op::while_) found.insert(node.as<WhileAttributes>().kept_states);
      for (const Graph& region : node.regions) look(region);
    }
  };
  look(twice);
  look(batch(twice, 2, std::vector<bool>(twice.parameter_count(), true)).graph);
  EXPECT_EQ(found, (std::set<std::optional<std::int64_t>>{2, 5}));
}

TEST(DerivativesOfLoops, InLoopsAndInBranchesAreThoseOfTheUnrolledGraph) {
  for (const auto& [name, turn] : turns_of_one_loop) {
    for (const auto& around : {nested, in_branch}) {
      for (const auto& [outer, inner] :
           {std::pair{1, 1}, {3, 0}, {0, 3}, {3, 4}, {36, 5}, {4, 35}}) {
        const Graph unrolled =
            program({Turns::unrolled, outer}, around({Turns::unrolled, inner}, turn));
        for (Turns outer_kind : kinds) {
          for (Turns inner_kind : kinds) {
            const Graph graph = program({outer_kind, outer}, around({inner_kind, inner}, turn));
            expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, outer, inner),
                               std::string(name) + ", kinds " + std::to_string(int(outer_kind)) +
                                   " and " + std::to_string(int(inner_kind)) + ", turns " +
                                   std::to_string(outer) + " and " + std::to_string(inner));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(DerivativesOfLoops, AreThoseOfDifferences) {
  std::mt19937 random(3);
  for (const auto& [name, turn] : turns_of_one_loop) {
    for (Turns kind : kinds) {
      for (std::int64_t count : {1, 3, 4}) {
        const Graph graph = program({kind, count}, turn);
        check_derivatives(graph, inputs_of_loops(graph, count, 0), random,
                          std::string(name) + "\n" + to_string(graph), {.order = 2});
        ASSERT_FALSE(HasFailure());
      }
      const Graph graph = program({Turns::counted, 3}, nested({kind, 2}, turn));
      check_derivatives(graph, inputs_of_loops(graph, 3, 2), random,
                        std::string(name) + "\n" + to_string(graph), {.order = 2});
      ASSERT_FALSE(HasFailure());
    }
  }
}

void expect_as_differences(const Graph& graph, double low, double high, int order) {
  std::mt19937 random(5);
  for (int k = 0; k < 5; ++k) {
    std::vector<Literal> inputs;
    for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
      inputs.push_back(spread_numbers(graph.parameter_type(i), random, low, high));
    }
    check_derivatives(graph, inputs, random, to_string(graph), {.order = order});
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

void expect_as_differences(const char* text, double low, double high, int order) {
  expect_as_differences(parse(text), low, high, order);
}

TEST(DerivativesOfLoops, UntilWhatIsDifferentiatedIsAboveABound) {
  expect_as_differences(R"(graph f(%0: f64[], %1: f64[]) {
  %2: f64[] = while %0, %1
    graph condition(%0: f64[], %1: f64[]) {
      %2: f64[] = constant 40
      %3: bool[] = compare %0, %2 direction=lt
      return %3
    }
    graph body(%0: f64[], %1: f64[]) {
      %2: f64[] = multiply %0, %1
      %3: f64[] = multiply %0, %0
      %4: f64[] = sqrt %3
      %5: f64[] = add %4, %2
      return %5
    }
  return %2
})",
                        0.1, 0.9, 1);
}

// Functions of what is differentiated by whose results have no tangent.
TEST(DerivativesOfLoops, OfBranchesAndCheckpointsWithoutATangent) {
  expect_as_differences(R"(graph f(%0: f64[3], %1: i32[]) {
  %2: f64[3] = case %1, %0 graph first(%0: f64[3]) {
    %1: f64[3] = floor %0
    return %1
  } graph second(%0: f64[3]) {
    %1: f64[3] = ceil %0
    return %1
  }
  %3: f64[3] = composite %0, %1 rule=checkpoint arguments=2 graph function(%0: f64[3], %1: i32[]) {
    %2: f64[3] = floor %0
    return %2
  }
  %4: f64[3] = add %2, %3
  %5: f64[3] = multiply %4, %0
  return %5
})",
                        0.1, 0.9, 2);
}

// The second result does not depend on x, the loop does.
TEST(DerivativesOfLoops, InACheckpointThatGivesWhatIsKnown) {
  std::string text = R"(graph f(%0: f64[3], %1: f64[3]) {
  %2: f64[3] = stop %1
  %3: f64[3], %4: f64[3] = composite %0, %2 rule=checkpoint arguments=2 graph function(%0: f64[3], %1: f64[3]) {
    %2: i64[] = constant 0
    %3: i64[], %4: f64[3], %5: f64[3] = while %2, %0, %1
      graph condition(%0: i64[], %1: f64[3], %2: f64[3]) {
        %3: i64[] = constant 3
        %4: bool[] = compare %0, %3 direction=lt
        return %4
      }
      graph body(%0: i64[], %1: f64[3], %2: f64[3]) {
        %3: i64[] = constant 1
        %4: i64[] = add %0, %3
        %5: f64[3] = multiply %1, %2
        %6: f64[3] = sine %2
        return %4, %5, %6
      }
    return %4, %5
  }
  %5: f64[3] = multiply %3, %4
  return %5
})";
  text.replace(text.find("stop"), 4, "floor");  // has no tangent
  for (const Graph& graph : with_extreme_policies(parse(text))) {
    expect_as_differences(graph, 1.1, 1.9, 2);
  }
}

}  // namespace
}  // namespace anabranch
