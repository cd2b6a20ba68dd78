// Loops taken apart: what each turn's linear part needs is kept in stacks, or computed again.
#include <algorithm>
#include <optional>

#include "passes/dce.h"
#include "passes/transform/counted_loop.h"
#include "passes/transform/linearize.h"
#include "passes/transform/quantity.h"
#include "passes/transform/splitter.h"

namespace anabranch {
namespace {

// Whether a node costs little enough to be computed again rather than stored.
bool is_cheap(const Node& node) {
  return is_elementwise(node.op) || is_index(node.op) || node.op == Op::constant ||
         node.op == Op::iota;
}

}  // namespace

void Splitter::loop(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear;
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  const Linearized body = linearize_turn(node.regions[1], linear);
  const Flags carries = body.is_linear;
  auto counted_by = counted_loop(node);
  if (counted_by && counted_by->bound) {
    counted_by->constant_bound = integer_of(graph_, node.inputs[*counted_by->bound]);
  }
  if (counted_by && !carries[counted_by->counter]) {
    const auto first = integer_of(graph_, node.inputs[counted_by->counter]);
    const auto trips = first ? trip_count(*counted_by, *first) : std::nullopt;
    if (trips && *trips > 0) {
      return counted(index, carries, body, counted_by->counter, *trips, *first);
    }
  }
  uncounted(index, carries, body);
}

namespace {

// The values of a turn of a loop that depend on nothing that changes, or on the counter alone, by
// ops that cost little.
struct Varying {
  std::vector<bool> varies;    // per node: depends on a carry
  std::vector<bool> by_count;  // per node: on the counter alone, and is cheap
};

Varying varying(const Graph& body, std::size_t carried, std::uint32_t counter) {
  Varying found;
  for (std::uint32_t i = 0; i < body.nodes().size(); ++i) {
    const Node& node = body.node(i);
    bool varies = i < carried, by_count = i == counter;
    if (node.op != Op::parameter) {
      varies = by_count = false;
      by_count = is_cheap(node);
      for (Value input : node.inputs) {
        varies = varies || found.varies[input.node];
        by_count = by_count && (!found.varies[input.node] || found.by_count[input.node]);
      }
    }
    found.varies.push_back(varies);
    found.by_count.push_back(varies && by_count);
  }
  return found;
}

}  // namespace

// The known loop keeps what the linear one needs of each turn in stacks, but for what does not
// change from turn to turn, which is computed once, and for what the number of the turn and cheap
// ops give.
//
// Known loop: known carries, stacks; known captures.
// Linear loop: the number of the turn, linear carries; linear captures, then residuals.
void Splitter::counted(std::uint32_t index, const Flags& carries, const Linearized& body,
                       std::uint32_t counter, std::int64_t trips, std::int64_t first) {
  const Node& node = graph_.node(index);
  const std::size_t carried = carries.size();
  const Graph& turn = body.known;
  std::vector<std::uint32_t> known_carries, linear_carries, known_captures, linear_captures;
  for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
    const bool goes = i < carried ? carries[i] : is_linear(node.inputs[i]);
    (i < carried ? (goes ? linear_carries : known_carries)
                 : (goes ? linear_captures : known_captures))
        .push_back(i);
  }
  const std::size_t kept = known_carries.size();
  const auto own_counter = index_of(static_cast<std::size_t>(
      std::find(known_carries.begin(), known_carries.end(), counter) - known_carries.begin()));
  const Varying how = varying(turn, kept, own_counter);
  std::vector<Value> residuals(turn.outputs().begin() + static_cast<std::ptrdiff_t>(kept),
                               turn.outputs().end());
  std::vector<Value> stacked;
  for (Value value : residuals) {
    if (how.varies[value.node] && !how.by_count[value.node] &&
        std::find(stacked.begin(), stacked.end(), value) == stacked.end()) {
      stacked.push_back(value);
    }
  }

  // The known loop.
  std::vector<Value> operands;
  for (std::uint32_t i : known_carries) operands.push_back(known_copier_(node.inputs[i]));
  for (Value value : stacked) {
    operands.push_back(Quantity::zeros(known_, with_first_axis(turn.type(value), trips)).value);
  }
  for (std::uint32_t i : known_captures) operands.push_back(known_copier_(node.inputs[i]));
  GraphBuilder next(node.regions[1].name()), condition(node.regions[0].name());
  GraphCopier next_copier(turn, next), condition_copier(node.regions[0], condition);
  std::vector<Value> stacks;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type type = known_.type(operands[i]);
    const Value own = next.parameter(type), asked = condition.parameter(type);
    const bool is_stack = i >= kept && i < kept + stacked.size();
    if (is_stack) {
      stacks.push_back(own);
      continue;
    }
    const std::size_t at = i < kept ? i : i - stacked.size();
    next_copier.rename(index_of(at), own);
    condition_copier.rename(i < kept ? known_carries[i] : known_captures[at - kept], asked);
  }
  next_copier.copy_body();
  condition_copier.copy_body();
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < kept; ++i) outputs.push_back(next_copier(turn.outputs()[i]));
  const Quantity count = {&next, {own_counter, 0}};
  // Not in the counter's dtype, which may be too narrow for the number of turns.
  const Quantity wide = count.as(Dtype::i64);
  const Quantity place = first == 0 ? wide : wide - static_cast<double>(first);
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    outputs.push_back(
        Quantity{&next, stacks[i]}.with_row(place, {&next, next_copier(stacked[i])}).value);
  }
  const Value known = known_.add(Op::while_, operands, node.attributes, std::nullopt,
                                 {condition.build(condition_copier(node.regions[0].outputs())),
                                  without_dead_nodes(next.build(outputs))},
                                 node.location);

  // What does not change, before the loop.
  GraphCopier once(turn, known_);
  for (std::size_t i = 0; i < known_captures.size(); ++i) {
    once.rename(index_of(kept + i), known_copier_(node.inputs[known_captures[i]]));
  }
  for (std::uint32_t i = index_of(turn.parameter_count()); i < turn.nodes().size(); ++i) {
    if (!how.varies[i]) once.copy(i);
  }

  // The linear loop.
  const Quantity zero = Quantity::zeros(linear_, {Dtype::i64, {}});
  std::vector<Value> starts = {zero.value}, captured;
  for (std::uint32_t i : linear_carries) starts.push_back(in_linear(node.inputs[i]));
  for (std::uint32_t i : linear_captures) captured.push_back(in_linear(node.inputs[i]));
  GraphBuilder step(node.regions[1].name()), more(node.regions[0].name());
  GraphCopier step_copier(body.linear, step);
  const Quantity number = {&step, step.parameter(zero.type())};
  const Quantity asked = {&more, more.parameter(zero.type())};
  std::uint32_t parameter = 0;
  for (const auto* list : {&starts, &captured}) {
    for (std::size_t i = list == &starts ? 1 : 0; i < list->size(); ++i) {
      const Type type = linear_.type((*list)[i]);
      step_copier.rename(parameter++, step.parameter(type));
      more.parameter(type);
    }
  }
  // What a turn of it reads: a stack, a value that does not change, or what the number gives.
  const auto capture = [&](Value of_known) {
    const Value outer = residual(of_known);
    const auto at = std::find(captured.begin(), captured.end(), outer) - captured.begin();
    if (at < static_cast<std::ptrdiff_t>(captured.size())) {
      return Value{index_of(starts.size() + static_cast<std::size_t>(at)), 0};
    }
    captured.push_back(outer);
    const Type type = linear_.type(outer);
    more.late_parameter(type);
    return step.late_parameter(type);
  };
  std::vector<std::pair<Value, Value>> captures_in_step;
  const auto capture_once = [&](Value of_known) {
    for (const auto& [from, to] : captures_in_step) {
      if (from == of_known) return to;
    }
    captures_in_step.emplace_back(of_known, capture(of_known));
    return captures_in_step.back().second;
  };
  GraphCopier again(turn, step);
  const Quantity counter_again = (first == 0 ? number : number + static_cast<double>(first))
                                     .as(turn.parameter_type(own_counter).dtype);
  again.rename(own_counter, counter_again.value);
  std::vector<bool> is_there(turn.nodes().size());
  is_there[own_counter] = true;
  const auto recompute = [&](auto&& self, Value value) -> Value {
    if (!how.varies[value.node]) {
      const Node& fixed = turn.node(value);
      if (fixed.op == Op::constant || fixed.op == Op::iota) {
        if (!is_there[value.node]) again.copy(value.node);
      } else {
        again.rename(value, capture_once(once(value)));
      }
      is_there[value.node] = true;
      return again(value);
    }
    if (is_there[value.node]) return again(value);
    for (Value input : turn.node(value).inputs) self(self, input);
    again.copy(value.node);
    is_there[value.node] = true;
    return again(value);
  };
  for (Value value : residuals) {
    Value in_step;
    const auto at = std::find(stacked.begin(), stacked.end(), value) - stacked.begin();
    if (at < static_cast<std::ptrdiff_t>(stacked.size())) {
      const Value stack = {known.node, index_of(kept + static_cast<std::size_t>(at))};
      in_step = Quantity{&step, capture_once(stack)}.row(number).value;
    } else {
      in_step = recompute(recompute, value);
    }
    step_copier.rename(parameter++, in_step);
  }
  step_copier.copy_body();
  outputs = step_copier(body.linear.outputs());
  outputs.insert(outputs.begin(), (number + 1).value);
  const Quantity is_left = asked < asked.number(static_cast<double>(trips));
  starts.insert(starts.end(), captured.begin(), captured.end());
  Value made =
      linear_.add(Op::while_, std::move(starts), node.attributes, std::nullopt,
                  {more.build({is_left.value}), step.build(std::move(outputs))}, node.location);
  ++made.result;
  place_results(index, carries, known, made);
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
    places_[index][i] = carries[i] ? Place::linear : Place::known;
    if (carries[i]) {
      linear_copier_.rename({index, i}, {made.node, i + 1});
    } else {
      known_copier_.rename({index, i}, {known.node, own++});
    }
  }
}

}  // namespace anabranch
