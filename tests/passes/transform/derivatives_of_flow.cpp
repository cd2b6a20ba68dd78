// Derivatives through loops and branches: those of the same computation unrolled, and those of
// differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flow_graphs.h"
#include "ir/interpret/interpret.h"
#include "passes/transform/jvp.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::choose;
using testing::Count;
using testing::repeat;
using testing::spread_numbers;
using testing::Turn;
using testing::Turns;
using Values = std::vector<Value>;
using List = std::span<const Value>;

const Type vector{f64, {3}};

Quantity of(GraphBuilder& graph, Value value) { return {&graph, value}; }

Quantity number(GraphBuilder& graph, Count count) { return of(graph, count.value).as(f64); }

Quantity tanh(Quantity x) { return x.op(Op::tanh); }
Quantity sine(Quantity x) { return x.op(Op::sine); }

// x[i mod 3] as a vector.
Quantity element(GraphBuilder& graph, Value x, Count i) {
  const Quantity size = of(graph, i.value).number(3);
  const Value at = of(graph, i.value).op(Op::remainder, size).value;
  return of(graph, graph.add(Op::dynamic_slice, {x, at}, SizesAttributes{{1}}))
      .reshape(Shape({}))
      .all_over(Shape({3}));
}

// --- what the loops compute ----------------------------------------------------------------------

// A computation of two vectors and a number of turns, in one of the forms.
struct Flow {
  const char* name;
  std::function<Values(GraphBuilder&, Turns, Count, Value x, Value w)> make;
  std::int64_t most_turns = 600;
};

void PrintTo(const Flow& flow, std::ostream* out) { *out << flow.name; }

Values map(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  return repeat(g, how, n, {x}, {w}, [](GraphBuilder& b, Count i, List c, List w) -> Values {
    return {sine(of(b, c[0]) * of(b, w[0]) + number(b, i).all_over(Shape({3})) * 0.1).value};
  });
}

// Linear in what is carried, not in both operands.
Values recurrence(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  return repeat(g, how, n, {x}, {w}, [](GraphBuilder& b, Count i, List c, List w) -> Values {
    return {(of(b, c[0]) * tanh(of(b, w[0])) * 0.9 + element(b, w[0], i) * 0.1).value};
  });
}

// The second carry has no tangent in the first turn; the third never has one.
Values late_tangent(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const Value y = Quantity::splat(g, vector, 0.5).value, z = Quantity::splat(g, vector, 0.1).value;
  return repeat(g, how, n, {x, y, z}, {w}, [](GraphBuilder& b, Count, List c, List w) -> Values {
    const Quantity x = of(b, c[0]), y = of(b, c[1]), z = of(b, c[2]);
    return {(y + z).value, (tanh(x * of(b, w[0])) + y * 0.5).value, sine(z + 0.3).value};
  });
}

// A carry of integers says which elements of a captured array are read.
Values table(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const Value seed = g.constant(Literal::scalar(std::int64_t{7}));
  Values all =
      repeat(g, how, n, {x, seed}, {w}, [](GraphBuilder& b, Count, List c, List w) -> Values {
        const Quantity x = of(b, c[0]), seed = of(b, c[1]);
        const Quantity next = (seed * 5 + 3).op(Op::remainder, seed.number(16));
        return {(tanh(x + element(b, w[0], {next.value})) * 0.8).value, next.value};
      });
  return {all[0]};
}

// What each of ten turns gives is kept, and read before.
Values stacked(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const Value rows = Quantity::zeros(g, {f64, {10, 3}}).value;
  return repeat(g, how, n, {x, rows}, {w}, [](GraphBuilder& b, Count i, List c, List w) -> Values {
    const Quantity at = of(b, i.value).op(Op::remainder, of(b, i.value).number(10));
    const Value zero = at.number(0).value;
    const Quantity next = tanh(of(b, c[0]) * of(b, w[0]) + 0.2);
    const Value row = (next * next).reshape(Shape({1, 3})).value;
    const Value rows = b.add(Op::dynamic_update_slice, {c[1], row, at.value, zero});
    const Quantity first = of(b, rows).slice({0, 0}, {1, 3}).reshape(Shape({3}));
    return {(next * 0.5 + first * 0.3).value, rows};
  });
}

// A product by a captured matrix, and the captured carry itself.
Values products(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const Quantity matrix = of(g, w).broadcast(Shape({3, 3}), {1}) * 0.4;
  return repeat(g, how, n, {x}, {matrix.value, x},
                [](GraphBuilder& b, Count, List c, List w) -> Values {
                  DotAttributes along;
                  along.lhs_contracting = along.rhs_contracting = {0};
                  const Quantity y = of(b, b.add(Op::dot, {c[0], w[0]}, along));
                  return {tanh(y + of(b, w[1])).value};
                });
}

// Two carries change places.
Values swapped(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  return repeat(g, how, n, {x, w}, {}, [](GraphBuilder& b, Count, List c, List) -> Values {
    return {c[1], sine(of(b, c[0]) * of(b, c[1])).value};
  });
}

// Which branch is taken depends on the number of the turn; one ignores what is differentiated by.
Values branches(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  return repeat(g, how, n, {x}, {w}, [how](GraphBuilder& b, Count i, List c, List w) -> Values {
    const Value which = of(b, i.value).op(Op::remainder, of(b, i.value).number(4)).value;
    return choose(
        b, how, {which, i.number % 4}, {c[0], w[0]},
        {[](GraphBuilder& r, List o) -> Values { return {sine(of(r, o[0]) * of(r, o[1])).value}; },
         [](GraphBuilder& r, List o) -> Values {
           return {(of(r, o[1]) * of(r, o[1]) * 0.3).value};
         },
         [](GraphBuilder&, List o) -> Values { return {o[0]}; },
         [](GraphBuilder& r, List o) -> Values { return {tanh(of(r, o[0]) + 0.1).value}; }});
  });
}

// A loop in each branch, and the same operand in two places.
Values loops_in_branches(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const Value which = of(g, n.value).op(Op::remainder, of(g, n.value).number(2)).value;
  const testing::Branch branches[] = {[=](GraphBuilder& b, List o) {
                                        return map(b, how, {o[2], n.number}, o[0], o[1]);
                                      },
                                      [=](GraphBuilder& b, List o) {
                                        return products(b, how, {o[2], n.number}, o[1], o[0]);
                                      }};
  return choose(g, how, {which, n.number % 2}, {x, w, n.value}, {branches[0], branches[1]});
}

// The inner loop takes three turns, or one more in each turn of the outer one: 0 to 3.
template <Turns outer, Turns inner>
Values nested(GraphBuilder& g, Turns how, Count n, Value x, Value w) {
  const bool is_unrolled = how == Turns::unrolled;
  const auto step = [](GraphBuilder& b, Count k, List c, List w) -> Values {
    const Quantity y = of(b, c[0]) * of(b, w[0]);
    return {tanh(y + of(b, w[1]) * number(b, k).all_over(Shape({3}))).value};
  };
  const auto turn = [=](GraphBuilder& b, Count i, List c, List w) -> Values {
    const Value turns = of(b, i.value).op(Op::remainder, of(b, i.value).number(4)).value;
    const Count count{turns, inner == Turns::counted ? 3 : i.number % 4};
    return repeat(b, is_unrolled ? how : inner, count, {c[0]}, {w[0], c[0]}, step);
  };
  return repeat(g, is_unrolled ? how : outer, n, {x}, {w}, turn);
}

const Flow flows[] = {
    {"map", map},         {"recurrence", recurrence}, {"late_tangent", late_tangent},
    {"table", table},     {"stacked", stacked, 100},  {"products", products},
    {"swapped", swapped}, {"branches", branches},     {"loops_in_branches", loops_in_branches},
};

// The forms of their loops are their own.
const Flow nested_flows[] = {
    {"counted_in_counted", nested<Turns::counted, Turns::counted>, 40},
    {"uncounted_in_counted", nested<Turns::counted, Turns::uncounted>, 40},
    {"counted_in_uncounted", nested<Turns::uncounted, Turns::counted>, 40},
    {"uncounted_in_uncounted", nested<Turns::uncounted, Turns::uncounted>, 40},
};

// --- against the unrolled graph ------------------------------------------------------------------

// Two vectors, and the number of turns.
Graph graph_of(const Flow& flow, Turns how, std::int64_t turns) {
  GraphBuilder builder;
  const Value x = builder.parameter(vector), w = builder.parameter(vector);
  const Value count = builder.parameter({i64, {}});
  return builder.build(flow.make(builder, how, {count, turns}, x, w));
}

std::vector<Literal> inputs_of(std::int64_t turns, std::mt19937& random) {
  return {spread_numbers(vector, random, 0.2, 1), spread_numbers(vector, random, 0.2, 1),
          Literal::scalar(turns)};
}

struct Derivatives {
  std::vector<Literal> outputs, tangents, gradients;
};

// Tangents are all 0.5, -0.25 and so on; cotangents too. Outputs that are active in neither graph
// have none; those that are in one alone are compared by gradients.
Derivatives derivatives(const Graph& graph, const std::vector<Literal>& inputs) {
  const std::vector<bool> active = {true, true, false};
  std::mt19937 random(7);
  std::vector<Literal> both = inputs;
  for (int i = 0; i < 2; ++i) both.push_back(spread_numbers(vector, random));
  const Jvp pushed = jvp(graph, active, std::vector<bool>(graph.outputs().size(), true));
  const auto count = static_cast<std::ptrdiff_t>(graph.outputs().size());
  Derivatives found;
  found.outputs = interpret(pushed.graph, both);
  found.tangents.assign(found.outputs.begin() + count, found.outputs.end());
  found.outputs.resize(graph.outputs().size(), Literal::scalar(0.0));
  const ForwardAndLinear pulled = vjp(graph, active);
  std::vector<Literal> operands = interpret(pulled.forward, inputs);
  operands.erase(operands.begin(), operands.begin() + count);
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Literal cotangent = spread_numbers(graph.output_type(i), random);
    if (pulled.active[i]) operands.push_back(cotangent);
  }
  found.gradients = interpret(pulled.linear, operands);
  return found;
}

void expect_equal(const std::vector<Literal>& found, const std::vector<Literal>& wanted,
                  const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].type(), wanted[i].type()) << what;
    const auto x = found[i].values<double>(), y = wanted[i].values<double>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_NEAR(x[k], y[k], 1e-10 * std::max(1.0, std::abs(y[k])))
          << what << " " << i << ", element " << k;
    }
  }
}

void expect_those_of_the_unrolled(const Flow& flow, Turns how, std::int64_t turns) {
  std::mt19937 random(static_cast<unsigned>(turns));
  const std::vector<Literal> inputs = inputs_of(turns, random);
  const Graph looped = graph_of(flow, how, turns);
  const Derivatives found = derivatives(looped, inputs);
  const Derivatives wanted = derivatives(graph_of(flow, Turns::unrolled, turns), inputs);
  const std::string what = std::string(flow.name) + ", " + std::to_string(turns) + " turns, " +
                           (how == Turns::counted ? "counted" : "uncounted") + ": ";
  expect_equal(found.outputs, wanted.outputs, what + "output");
  expect_equal(found.tangents, wanted.tangents, what + "tangent");
  expect_equal(found.gradients, wanted.gradients, what + "gradient");
}

class DerivativesOfFlow : public ::testing::TestWithParam<Flow> {};

TEST_P(DerivativesOfFlow, AreThoseOfTheUnrolledOne) {
  for (Turns how : {Turns::counted, Turns::uncounted}) {
    for (std::int64_t turns : {0, 1, 2, 5, 31, 32, 33, 34, 100, 600}) {
      if (turns > GetParam().most_turns) continue;
      expect_those_of_the_unrolled(GetParam(), how, turns);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DerivativesOfFlow, AreThoseOfDifferences) {
  for (Turns how : {Turns::counted, Turns::uncounted}) {
    for (std::int64_t turns : {0, 1, 4}) {
      std::mt19937 random(static_cast<unsigned>(turns));
      const Graph graph = graph_of(GetParam(), how, turns);
      check_derivatives(graph, inputs_of(turns, random), random,
                        std::string(GetParam().name) + ", " + std::to_string(turns) + " turns",
                        {.tolerance = 1e-5, .order = 2});
      ASSERT_FALSE(HasFailure());
    }
  }
}

const auto name_of_flow = [](const auto& each) { return std::string(each.param.name); };
INSTANTIATE_TEST_SUITE_P(Flow, DerivativesOfFlow, ::testing::ValuesIn(flows), name_of_flow);
INSTANTIATE_TEST_SUITE_P(Nested, DerivativesOfFlow, ::testing::ValuesIn(nested_flows),
                         name_of_flow);

}  // namespace
}  // namespace anabranch
