// Loops taken apart, and how those are whose turns are not known when they are traced.
#include <algorithm>
#include <optional>

#include "ir/counted_loop.h"
#include "passes/dce.h"
#include "passes/transform/linear_operands.h"
#include "passes/transform/linearize.h"
#include "passes/transform/quantity.h"
#include "passes/transform/splitter.h"

namespace anabranch {

void Splitter::loop(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear;
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  const Linearized body = linearize_turn(node.regions[1], linear);
  const Flags carries = body.is_linear;
  std::copy(carries.begin(), carries.end(), linear.begin());
  check_linear(node, linear);
  const auto turns = known_turns(graph_, node);
  if (turns && !carries[turns->counter]) {
    return counted(index, carries, body, *turns);
  }
  uncounted(index, carries, body);
}

// The known loop counts its turns; the linear one computes the known carries again.
//
// Known loop: known carries, the count; known captures.
// Linear loop: the number of the turn, all carries; the count, all captures.
void Splitter::uncounted(std::uint32_t index, const Flags& carries, const Linearized& split) {
  const Node& node = graph_.node(index);
  const std::size_t carried = carries.size();
  const Graph &condition = node.regions[0], &body = node.regions[1], &turn = split.known;
  std::vector<std::uint32_t> known_carries, known_captures;
  for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
    if (i < carried ? carries[i] : is_linear(node.inputs[i])) continue;
    (i < carried ? known_carries : known_captures).push_back(i);
  }
  const Type counts{Dtype::i64, {}};
  std::vector<Value> operands;
  GraphBuilder next(body.name()), asks(condition.name());
  GraphCopier next_copier(turn, next), asks_copier(condition, asks);
  const auto take = [&](std::uint32_t i) {
    const std::size_t own = operands.size() - (operands.size() > known_carries.size() ? 1 : 0);
    operands.push_back(known_copier_(node.inputs[i]));
    next_copier.rename(index_of(own), next.parameter(body.parameter_type(i)));
    asks_copier.rename(i, asks.parameter(body.parameter_type(i)));
  };
  for (std::uint32_t i : known_carries) take(i);
  operands.push_back(Quantity::zeros(known_, counts).value);
  const Quantity count = {&next, next.parameter(counts)};
  asks.parameter(counts);
  for (std::uint32_t i : known_captures) take(i);
  next_copier.copy_body();
  asks_copier.copy_body();
  std::vector<Value> outputs = next_copier(turn.outputs().first(known_carries.size()));
  outputs.push_back((count + 1).value);
  const Value known = known_.add(Op::while_, operands, node.attributes, std::nullopt,
                                 {asks.build(asks_copier(condition.outputs())),
                                  without_dead_nodes(next.build(std::move(outputs)))},
                                 node.location);
  const Value turns = {known.node, index_of(known_carries.size())};

  const Quantity zero = Quantity::zeros(linear_, counts);
  std::vector<Value> all = {zero.value};
  GraphBuilder step(body.name()), more(condition.name());
  GraphCopier step_copier(body, step);
  const Quantity number = {&step, step.parameter(counts)};
  const Quantity asked = {&more, more.parameter(counts)};
  std::optional<Value> bound;
  for (std::uint32_t i = 0; i <= node.inputs.size(); ++i) {
    if (i == carried) {
      all.push_back(residual(turns));
      step.parameter(counts);
      bound = more.parameter(counts);
    }
    if (i == node.inputs.size()) break;
    all.push_back(in_linear(node.inputs[i]));
    step_copier.rename(i, step.parameter(body.parameter_type(i)));
    more.parameter(body.parameter_type(i));
  }
  step_copier.copy_body();
  outputs = step_copier(body.outputs());
  outputs.insert(outputs.begin(), (number + 1).value);
  const Quantity is_left = asked < Quantity{&more, *bound};
  const Value made =
      linear_.add(Op::while_, std::move(all), node.attributes, std::nullopt,
                  {more.build({is_left.value}), step.build(std::move(outputs))}, node.location);
  for (std::uint32_t i = 0, own = 0; i < carried; ++i) {
    places_[{index, i}] = carries[i] ? Place::linear : Place::known;
    if (carries[i]) {
      linear_copier_.rename({index, i}, {made.node, i + 1});
    } else {
      known_copier_.rename({index, i}, {known.node, own++});
    }
  }
}

}  // namespace anabranch
