// Loops and branches: their derivatives are those of the unrolled graph, and those of differences.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "ir/graph/builder.h"
#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/transform/checkpoints.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::spread_numbers;
using Values = std::vector<Value>;

const Type number_type{i64, {}};
const Type row_type{f64, {3}};

/// What says how often a loop runs.
enum class Turns : std::uint8_t {
  counted,  // a constant
  bound,    // an input
  until,    // a carried number that reaches 0
  unrolled  // there is no loop
};

struct Loop {
  Turns turns = Turns::counted;
  std::int64_t count = 0;
};

Value scalar(GraphBuilder& graph, std::int64_t x) { return graph.constant(Literal::scalar(x)); }

// The next carries.
using Turn = std::function<Values(GraphBuilder& graph, Value number, const Values& carries,
                                  const Values& captures)>;

// The carries after the loop. `bound` is its number of turns, as an input.
Values looped(GraphBuilder& graph, Loop loop, Value bound, Values carries, const Values& captures,
              const Turn& turn) {
  if (loop.turns == Turns::unrolled) {
    for (std::int64_t i = 0; i < loop.count; ++i) {
      carries = turn(graph, scalar(graph, i), carries, captures);
    }
    return carries;
  }
  const bool is_until = loop.turns == Turns::until;
  GraphBuilder condition("condition"), body("body");
  Values operands = {is_until ? bound : scalar(graph, 0)}, own_carries, own_captures;
  operands.insert(operands.end(), carries.begin(), carries.end());
  operands.push_back(bound);
  operands.insert(operands.end(), captures.begin(), captures.end());
  Values asked, own;
  for (Value operand : operands) {
    asked.push_back(condition.parameter(graph.type(operand)));
    own.push_back(body.parameter(graph.type(operand)));
  }
  const auto first_capture = static_cast<std::ptrdiff_t>(carries.size()) + 2;
  own_carries.assign(own.begin() + 1, own.begin() + first_capture - 1);
  own_captures.assign(own.begin() + first_capture, own.end());
  const Value own_bound = own[static_cast<std::size_t>(first_capture - 1)];
  const Value limit = is_until                       ? scalar(condition, 0)
                      : loop.turns == Turns::counted ? scalar(condition, loop.count)
                                                     : asked[carries.size() + 1];
  const Value goes_on =
      condition.add(Op::compare, {asked[0], limit},
                    CompareAttributes{is_until ? Comparison::gt : Comparison::lt});
  const Value number = is_until ? body.add(Op::subtract, {own_bound, own[0]}) : own[0];
  Values next = turn(body, number, own_carries, own_captures);
  next.insert(next.begin(), body.add(is_until ? Op::subtract : Op::add, {own[0], scalar(body, 1)}));
  const Value made = graph.add(Op::while_, operands, NoAttributes{}, std::nullopt,
                               {condition.build({goes_on}), body.build(next)});
  for (std::uint32_t i = 0; i < carries.size(); ++i) carries[i] = {made.node, i + 1};
  return carries;
}

// Carries x, y, z and captures w, m and `inner`, a number of turns. What is carried stays bounded.

Value row_of(GraphBuilder& graph, Value table, Value number) {
  const Value row = graph.add(Op::and_, {number, scalar(graph, 3)});
  const Value block =
      graph.add(Op::dynamic_slice, {table, row, scalar(graph, 0)}, SizesAttributes{{1, 3}});
  return graph.add(Op::reshape, {block}, NoAttributes{}, row_type);
}

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

Turn nested(Loop inner, Turn turn) {
  return [=](GraphBuilder& graph, Value, const Values& carries, const Values& captures) {
    return looped(graph, inner, captures[2], carries, captures, turn);
  };
}

// A loop in the second of two branches, the first of which gives what it takes.
Turn in_branch(Loop inner, Turn turn) {
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
Graph program(Loop outer, const Turn& turn) {
  GraphBuilder graph;
  Values carries;
  for (int i = 0; i < 3; ++i) carries.push_back(graph.parameter(row_type));
  const Value w = graph.parameter(row_type), m = graph.parameter({f64, {4, 3}});
  const Value bound = graph.parameter(number_type), inner = graph.parameter(number_type);
  Graph made = graph.build(looped(graph, outer, bound, carries, {w, m, inner}, turn));
  verify(made);
  return made;
}

std::vector<Literal> inputs_of(const Graph& graph, std::int64_t outer, std::int64_t inner) {
  std::mt19937 random(7);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < 5; ++i) {
    inputs.push_back(spread_numbers(graph.parameter_type(i), random, -0.9, 0.9));
  }
  inputs.push_back(Literal::scalar(outer));
  inputs.push_back(Literal::scalar(inner));
  return inputs;
}

const std::vector<bool> active = {true, true, true, true, true, false, false};

// The tangents of the outputs, then the cotangents of the parameters.
std::vector<Literal> derivatives(const Graph& graph, const std::vector<Literal>& inputs) {
  std::mt19937 random(8);
  const Graph pushed = jvp(graph, active).graph;
  verify(pushed);
  std::vector<Literal> operands = inputs;
  while (operands.size() < pushed.parameter_count()) {
    operands.push_back(spread_numbers(pushed.parameter_type(operands.size()), random));
  }
  std::vector<Literal> all = interpret(pushed, operands);
  const ForwardAndLinear pulled = vjp(graph, active);
  verify(pulled.forward);
  verify(pulled.linear);
  operands = interpret(pulled.forward, inputs);
  operands.erase(operands.begin(), operands.begin() + 3);
  for (int i = 0; i < 3; ++i) operands.push_back(spread_numbers(row_type, random));
  for (Literal& gradient : interpret(pulled.linear, operands)) all.push_back(std::move(gradient));
  return all;
}

void expect_as_unrolled(const Graph& graph, const Graph& unrolled,
                        const std::vector<Literal>& inputs, const std::string& what) {
  const auto found = derivatives(graph, inputs), wanted = derivatives(unrolled, inputs);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].type(), wanted[i].type()) << what;
    for (std::size_t k = 0; k < found[i].values<double>().size(); ++k) {
      const double x = found[i].values<double>()[k], y = wanted[i].values<double>()[k];
      ASSERT_LE(std::abs(x - y), 1e-10 * std::max(1.0, std::abs(y)))
          << what << ": result " << i << ", element " << k << ": " << x << " for " << y;
    }
  }
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
        expect_as_unrolled(graph, unrolled, inputs_of(graph, count, 0),
                           std::string(name) + ", kind " + std::to_string(int(kind)) + ", " +
                               std::to_string(count) + " turns");
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(checkpoint_count, 32);
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
            expect_as_unrolled(graph, unrolled, inputs_of(graph, outer, inner),
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
        check_derivatives(graph, inputs_of(graph, count, 0), random,
                          std::string(name) + "\n" + to_string(graph), {.order = 2});
        ASSERT_FALSE(HasFailure());
      }
      const Graph graph = program({Turns::counted, 3}, nested({kind, 2}, turn));
      check_derivatives(graph, inputs_of(graph, 3, 2), random,
                        std::string(name) + "\n" + to_string(graph), {.order = 2});
      ASSERT_FALSE(HasFailure());
    }
  }
}

}  // namespace
}  // namespace anabranch
