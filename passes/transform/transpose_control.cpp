// Loops and branches: a loop is transposed as a loop that runs backwards.
#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "ir/counted_loop.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/checkpoints.h"
#include "passes/transform/transpose.h"
#include "passes/transform/transpose_rules.h"

namespace anabranch {
namespace {

using S = const TransposeStep&;
using Flags = std::vector<bool>;

Flags linear_operands(S s) {
  Flags linear;
  for (std::size_t i = 0; i < s.node.inputs.size(); ++i) linear.push_back(s.is_linear(i));
  return linear;
}

}  // namespace

// The number of the turn counts up, and the turns are taken from the last to the first.
//
// Operands: the number, cotangents of the linear carries, sums of the linear captures; known ones.
void transpose_loop(S s) {
  const auto counted = counted_loop(s.node);
  if (!counted) throw InternalError("transpose", "a linear loop whose turns are not counted");
  const LinearLoop loop = linear_loop(s.node, *counted, linear_operands(s));
  if (!loop.known_carries.empty()) return transpose_with_checkpoints(s, loop);

  std::vector<Value> operands = {Quantity::zeros(s.graph, count_type()).value};
  GraphBuilder next(s.node.regions[1].name()), condition(s.node.regions[0].name());
  const Quantity number = {&next, next.parameter(count_type())};
  const Quantity asked = {&condition, condition.parameter(count_type())};
  std::vector<Value> cotangents, sums, known(s.node.inputs.size());
  for (std::uint32_t i : loop.linear_carries) {
    operands.push_back(s.cotangent(i).value);
    cotangents.push_back(next.parameter(s.node.types[i]));
    condition.parameter(s.node.types[i]);
  }
  for (std::uint32_t i : loop.linear_captures) {
    operands.push_back(loop.begun_sum(s, i).value);
    sums.push_back(next.parameter(s.type_of_operand(i)));
    condition.parameter(s.type_of_operand(i));
  }
  std::vector<Value> asked_known(s.node.inputs.size());
  for (std::uint32_t i : loop.known_captures) {
    operands.push_back(s.in(i).value);
    known[i] = next.parameter(s.type_of_operand(i));
    asked_known[i] = condition.parameter(s.type_of_operand(i));
  }
  const auto bound = [&](GraphBuilder& graph, const std::vector<Value>& values) {
    if (!counted->bound) {
      return Quantity::splat(graph, count_type(), static_cast<double>(*counted->constant_bound));
    }
    return Quantity{&graph, values[*counted->bound]};
  };
  // Turn bound - 1 - number, where the counter begins at 0.
  known[counted->counter] = (bound(next, known) - 1 - number).value;
  std::vector<Value> outputs = loop.transposed_turn(next, known, cotangents, sums);
  outputs.insert(outputs.begin(), (number + 1).value);
  const Quantity is_left = asked < bound(condition, asked_known);
  const Value made = s.graph.add(
      Op::while_, std::move(operands), s.node.attributes, std::nullopt,
      {condition.build({is_left.value}), without_dead_nodes(next.build(outputs))}, s.node.location);
  loop.take_results(s, {made.node, 1});
}

LinearLoop linear_loop(const Node& node, const CountedLoop& counted, Flags linear) {
  Linearized turn = linearize_turn(node.regions[1], linear);
  LinearLoop loop{node, counted, {}, {}, {}, {}, linear, std::move(turn), {}};
  Transposition what;
  for (std::uint32_t i = 0; i < linear.size(); ++i) {
    const bool is_carry = i < node.types.size();
    if (linear[i]) {
      what.linear.push_back(true);
      what.begun.push_back(!is_carry);
    }
    if (is_carry && i == counted.counter) continue;
    (is_carry ? (linear[i] ? loop.linear_carries : loop.known_carries)
              : (linear[i] ? loop.linear_captures : loop.known_captures))
        .push_back(i);
  }
  what.linear.resize(loop.turn.linear.parameter_count());
  what.begun.resize(what.linear.size());
  what.outputs.assign(loop.turn.linear.outputs().size(), true);
  loop.transposed = transpose(loop.turn.linear, what);
  return loop;
}

std::vector<Value> LinearLoop::transposed_turn(GraphBuilder& graph, const std::vector<Value>& known,
                                               const std::vector<Value>& cotangents,
                                               const std::vector<Value>& sums) const {
  std::vector<Value> operands;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) operands.push_back(known[i]);
  }
  const std::vector<Value> outputs = inlined(turn.known, graph, operands);
  const std::size_t own = node.types.size() - linear_carries.size();
  operands.assign(outputs.begin() + static_cast<std::ptrdiff_t>(own), outputs.end());
  operands.insert(operands.end(), cotangents.begin(), cotangents.end());
  operands.insert(operands.end(), sums.begin(), sums.end());
  return inlined(transposed, graph, operands);
}

void LinearLoop::take_results(const TransposeStep& step, Value first) const {
  // Sums first: a carry may begin as a value that is captured too.
  Value sum = first;
  sum.result += static_cast<std::uint32_t>(linear_carries.size());
  for (std::uint32_t i : linear_captures) {
    if (is_begun(i)) {
      step.set_sum(i, {&step.graph, sum});
    } else {
      step.add(i, {&step.graph, sum});
    }
    ++sum.result;
  }
  // A carry's cotangent before the first turn is its operand's.
  for (std::uint32_t i : linear_carries) {
    step.add(i, {&step.graph, first});
    ++first.result;
  }
}

bool LinearLoop::is_begun(std::uint32_t capture) const {
  return std::none_of(linear_captures.begin(), linear_captures.end(), [&](std::uint32_t i) {
    return i < capture && node.inputs[i] == node.inputs[capture];
  });
}

Quantity LinearLoop::begun_sum(const TransposeStep& step, std::uint32_t capture) const {
  if (is_begun(capture)) return step.sum(capture);
  return Quantity::zeros(step.graph, step.type_of_operand(capture));
}

void transpose_branch(S s) {
  Flags linear;
  for (std::size_t i = 1; i < s.node.inputs.size(); ++i) linear.push_back(s.is_linear(i));
  Flags gives;
  std::vector<Value> operands = {s.in(0).value};
  for (std::size_t i = 1; i < s.node.inputs.size(); ++i) {
    if (!s.is_linear(i)) operands.push_back(s.in(i).value);
  }
  for (std::size_t i = 0; i < s.node.types.size(); ++i) {
    gives.push_back(s.cotangents[i].has_value());
    if (gives[i]) operands.push_back(*s.cotangents[i]);
  }
  std::vector<Graph> regions;
  for (const Graph& region : s.node.regions) regions.push_back(transpose(region, {linear, gives}));
  Value made = s.graph.add(Op::case_, std::move(operands), s.node.attributes, std::nullopt,
                           std::move(regions), s.node.location);
  for (std::size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    s.add(i + 1, {&s.graph, made});
    ++made.result;
  }
}

namespace {

// The transpose that the user gave.
void transpose_pullback(S s) {
  const auto arguments = static_cast<std::size_t>(s.node.as<CompositeAttributes>().arguments);
  std::vector<Value> operands;
  for (std::size_t i = arguments; i < s.node.inputs.size(); ++i) operands.push_back(s.in(i).value);
  for (std::size_t i = 0; i < s.node.types.size(); ++i) operands.push_back(s.cotangent(i).value);
  const std::vector<Value> gradients = inlined(s.node.regions[0], s.graph, operands);
  for (std::size_t i = 0; i < arguments; ++i) s.add(i, {&s.graph, gradients[i]});
}

}  // namespace

// What a checkpoint has not kept is computed again, from operands that no pass takes for the ones
// that it was computed from before.
void transpose_composite(S s) {
  if (s.node.as<CompositeAttributes>().rule == CompositeRule::pullback) {
    return transpose_pullback(s);
  }
  Transposition what;
  Flags linear;
  for (std::size_t i = 0; i < s.node.inputs.size(); ++i) {
    linear.push_back(s.is_linear(i));
    if (linear[i]) what.linear.push_back(true);
  }
  const Flags required(s.node.types.size(), true);
  const Linearized parts = linearize(s.node.regions[0], linear, required);
  std::vector<Value> operands;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) operands.push_back(s.in(i).op(Op::optimization_barrier).value);
  }
  operands = inlined(parts.known, s.graph, operands);
  what.linear.resize(parts.linear.parameter_count());
  for (const std::optional<Value>& cotangent : s.cotangents) {
    what.outputs.push_back(cotangent.has_value());
    if (cotangent) operands.push_back(*cotangent);
  }
  const std::vector<Value> gradients = inlined(transpose(parts.linear, what), s.graph, operands);
  std::size_t next = 0;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) s.add(i, {&s.graph, gradients[next++]});
  }
}

}  // namespace anabranch
