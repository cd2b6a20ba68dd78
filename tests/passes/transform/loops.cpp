#include "loops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/derivative_check.h"

namespace anabranch::testing {

Values looped(GraphBuilder& graph, Repeated loop, Value bound, Values carries,
              const Values& captures, const Turn& turn) {
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
  const Value made = graph.add(Op::while_, operands, WhileAttributes{loop.kept_states},
                               std::nullopt, {condition.build({goes_on}), body.build(next)});
  for (std::uint32_t i = 0; i < carries.size(); ++i) carries[i] = {made.node, i + 1};
  return carries;
}

Value row_of(GraphBuilder& graph, Value table, Value number) {
  const Value row = graph.add(Op::and_, {number, scalar(graph, 3)});
  const Value block =
      graph.add(Op::dynamic_slice, {table, row, scalar(graph, 0)}, SizesAttributes{{1, 3}});
  return graph.add(Op::reshape, {block}, NoAttributes{}, Type{f64, {3}});
}

std::vector<Literal> inputs_of_loops(const Graph& graph, std::int64_t outer, std::int64_t inner) {
  std::mt19937 random(7);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < 5; ++i) {
    inputs.push_back(spread_numbers(graph.parameter_type(i), random, -0.9, 0.9));
  }
  inputs.push_back(Literal::scalar(outer));
  inputs.push_back(Literal::scalar(inner));
  return inputs;
}

namespace {

const std::vector<bool> active_inputs = {true, true, true, true, true, false, false};

// The tangents of the outputs, then the cotangents of the parameters.
std::vector<Literal> derivatives(const Graph& graph, const std::vector<Literal>& inputs) {
  std::mt19937 random(8);
  const Graph pushed = jvp(graph, active_inputs).graph;
  verify(pushed);
  std::vector<Literal> operands = inputs;
  while (operands.size() < pushed.parameter_count()) {
    operands.push_back(spread_numbers(pushed.parameter_type(operands.size()), random));
  }
  std::vector<Literal> all = interpret(pushed, operands);
  const ForwardAndLinear pulled = vjp(graph, active_inputs);
  verify(pulled.forward);
  verify(pulled.linear);
  operands = interpret(pulled.forward, inputs);
  operands.erase(operands.begin(), operands.begin() + 3);
  for (int i = 0; i < 3; ++i) operands.push_back(spread_numbers({f64, {3}}, random));
  for (Literal& gradient : interpret(pulled.linear, operands)) all.push_back(std::move(gradient));
  return all;
}

}  // namespace

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

}  // namespace anabranch::testing
