// What loops carry besides what they are differentiated by: integers, stacks, constants at first.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ir/counted_loop.h"
#include "ir/graph/verify.h"
#include "ir/text/print.h"
#include "loops.h"
#include "passes/transform/quantity.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using namespace testing;

constexpr Turns kinds[] = {Turns::counted, Turns::bound, Turns::until};

Quantity of(GraphBuilder& graph, Value value) { return {&graph, value}; }
Quantity tanh(Quantity x) { return x.op(Op::tanh); }
Quantity sine(Quantity x) { return x.op(Op::sine); }

// Carries x, y, z and what `begin` gives besides; captures w, m and `inner`. What is carried stays
// bounded.
struct Case {
  const char* name;
  std::function<Values(GraphBuilder&)> begin;
  Turn turn;
};

// Only z is known in the linear loop: x and y are linear in themselves.
Values recurrence(GraphBuilder& g, Value number, const Values& c, const Values& captures) {
  const Quantity x = of(g, c[0]) * tanh(of(g, captures[0])) * 0.9;
  const Quantity row = of(g, row_of(g, captures[1], number));
  return {(x + row).value, (of(g, c[1]) * 0.5 + x).value, sine(of(g, c[2])).value};
}

// A carry of integers says which row is read.
Values by_integers(GraphBuilder& g, Value, const Values& c, const Values& captures) {
  const Quantity seed = of(g, c[3]), row = of(g, row_of(g, captures[1], c[3]));
  const Quantity x = tanh(of(g, c[0]) + row);
  return {x.value, (of(g, c[1]) * 0.5 + x).value, sine(of(g, c[2]) * of(g, captures[0])).value,
          (seed * 5 + 3).op(Op::and_, seed.number(15)).value};
}

// The fourth carry has no tangent in the first turn, the fifth never has one.
Values late_tangent(GraphBuilder& g, Value, const Values& c, const Values& captures) {
  const Quantity x = of(g, c[0]), u = of(g, c[3]), v = of(g, c[4]);
  return {sine(u + v).value, (of(g, c[1]) * 0.5 + u).value, c[2],
          (tanh(x * of(g, captures[0])) + u * 0.5).value, sine(v + 0.3).value};
}

// What each turn gives is kept, replaced eight turns later, and read.
Values stacked(GraphBuilder& g, Value number, const Values& c, const Values& captures) {
  const Quantity place = of(g, number).op(Op::and_, of(g, number).number(7));
  const Quantity x = tanh(of(g, c[0]) * of(g, captures[0]) + 0.2);
  const Value row = (x * x).reshape(Shape({1, 3})).value;
  const Value rows =
      g.add(Op::dynamic_update_slice, {c[3], row, place.value, place.number(0).value});
  const Quantity first = of(g, rows).slice({0, 0}, {1, 3}).reshape(Shape({3}));
  return {(x * 0.5 + first * 0.3).value, (of(g, c[1]) * 0.5 + x).value, first.value, rows};
}

// A product by a captured matrix.
Values products(GraphBuilder& g, Value, const Values& c, const Values& captures) {
  DotAttributes along;
  along.lhs_contracting = {1};
  along.rhs_contracting = {0};
  const Quantity product = of(g, g.add(Op::dot, {captures[1], c[0]}, along)).slice({0}, {3});
  return {tanh(product + of(g, c[1])).value, (of(g, c[1]) * of(g, captures[0])).value, c[2]};
}

// An inner loop of 0 to 3 turns, after the number of the outer one.
Turn growing(Turns inner) {
  return [=](GraphBuilder& g, Value number, const Values& c, const Values& captures) -> Values {
    const Value bound = of(g, number).op(Op::and_, of(g, number).number(3)).value;
    const std::int64_t count = inner == Turns::unrolled ? *integer_of(g.node(number)) % 4 : 0;
    return looped(g, {inner, count}, bound, c, captures, recurrence);
  };
}

Values nothing(GraphBuilder&) { return {}; }

const Case cases[] = {
    {"recurrence", nothing, recurrence},
    {"by_integers", [](GraphBuilder& g) -> Values { return {scalar(g, 7)}; }, by_integers},
    {"late_tangent",
     [](GraphBuilder& g) -> Values {
       const Type row{f64, {3}};
       return {Quantity::splat(g, row, 0.5).value, Quantity::splat(g, row, 0.1).value};
     },
     late_tangent},
    {"stacked",
     [](GraphBuilder& g) -> Values {
       return {Quantity::zeros(g, {f64, {8, 3}}).value};
     },
     stacked},
    {"products", nothing, products},
};

// Parameters: x, y, z, w, m, and the numbers of turns of the outer and the inner loop. Each output
// has a tangent, also where what is carried has none yet.
Graph program(Repeated loop, const Case& of_case, const Turn& turn) {
  GraphBuilder graph;
  Values carries;
  for (int i = 0; i < 3; ++i) carries.push_back(graph.parameter({f64, {3}}));
  const Value w = graph.parameter({f64, {3}}), m = graph.parameter({f64, {4, 3}});
  const Value bound = graph.parameter({i64, {}}), inner = graph.parameter({i64, {}});
  const Values besides = of_case.begin(graph);
  carries.insert(carries.end(), besides.begin(), besides.end());
  Values outputs = looped(graph, loop, bound, carries, {w, m, inner}, turn);
  outputs.resize(3);
  for (std::size_t i = 0; i < 3; ++i) outputs[i] = graph.add(Op::add, {outputs[i], carries[i]});
  Graph made = graph.build(std::move(outputs));
  verify(made);
  return made;
}

TEST(DerivativesOfCarries, AreThoseOfTheUnrolledGraph) {
  for (const Case& each : cases) {
    for (std::int64_t count : {0, 1, 2, 9, 32, 33, 100}) {
      const Graph unrolled = program({Turns::unrolled, count}, each, each.turn);
      for (Turns kind : kinds) {
        const Graph graph = program({kind, count}, each, each.turn);
        expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, count, 0),
                           std::string(each.name) + ", kind " + std::to_string(int(kind)) + ", " +
                               std::to_string(count) + " turns");
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DerivativesOfCarries, AreThoseOfDifferences) {
  std::mt19937 random(3);
  for (const Case& each : cases) {
    for (Turns kind : kinds) {
      const Graph graph = program({kind, 3}, each, each.turn);
      check_derivatives(graph, inputs_of_loops(graph, 3, 0), random,
                        std::string(each.name) + "\n" + to_string(graph), {.order = 2});
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(DerivativesOfCarries, OfLoopsThatGrowFromTurnToTurn) {
  for (std::int64_t count : {1, 3, 40}) {
    const Graph unrolled = program({Turns::unrolled, count}, cases[0], growing(Turns::unrolled));
    for (Turns outer : kinds) {
      for (Turns inner : {Turns::bound, Turns::until}) {
        const Graph graph = program({outer, count}, cases[0], growing(inner));
        expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, count, 0),
                           "kinds " + std::to_string(int(outer)) + " and " +
                               std::to_string(int(inner)) + ", " + std::to_string(count));
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace anabranch
