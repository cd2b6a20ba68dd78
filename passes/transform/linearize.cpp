#include "passes/transform/linearize.h"

#include <algorithm>
#include <optional>
#include <string>

#include "anabranch/error.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/counted_loop.h"
#include "passes/transform/quantity.h"
#include "passes/transform/transpose.h"

namespace anabranch {
namespace {

using Flags = std::vector<bool>;

std::uint32_t index_of(std::size_t i) { return static_cast<std::uint32_t>(i); }

Type stack_type(std::int64_t length, const Type& type) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.insert(sizes.begin(), length);
  return {type.dtype, Shape(std::move(sizes))};
}

// `stack[index]`, and `stack` with that replaced.
Quantity read_stack(Quantity stack, Quantity index) {
  Type one = stack.type();
  std::vector<std::int64_t> sizes(one.shape.begin(), one.shape.end());
  sizes[0] = 1;
  std::vector<Value> operands = {stack.value, index.value};
  const Quantity zero = index.number(0);
  for (std::size_t i = 1; i < sizes.size(); ++i) operands.push_back(zero.value);
  const Quantity block = {stack.graph, stack.graph->add(Op::dynamic_slice, std::move(operands),
                                                        SizesAttributes{sizes})};
  sizes.erase(sizes.begin());
  return block.reshape(Shape(sizes));
}

Quantity write_stack(Quantity stack, Quantity index, Quantity value) {
  const Quantity block = value.reshape(stack_type(1, value.type()).shape);
  std::vector<Value> operands = {stack.value, block.value, index.value};
  const Quantity zero = index.number(0);
  for (int i = 0; i < value.type().rank(); ++i) operands.push_back(zero.value);
  return {stack.graph, stack.graph->add(Op::dynamic_update_slice, std::move(operands))};
}

// Whether a node costs little enough to be computed again rather than stored.
bool is_cheap(const Node& node) {
  return is_elementwise(node.op) || is_index(node.op) || node.op == Op::constant ||
         node.op == Op::iota;
}

bool is_checkpoint(const Node& node) {
  const CompositeRule rule = node.as<CompositeAttributes>().rule;
  return rule == CompositeRule::checkpoint || rule == CompositeRule::checkpoint_dots;
}

class Splitter {
 public:
  Splitter(const Graph& graph, const Flags& linear)
      : graph_(graph),
        is_linear_(linear),
        known_(graph.name()),
        linear_(graph.name()),
        known_copier_(graph, known_),
        linear_copier_(graph, linear_) {
    for (const Node& node : graph.nodes()) places_.emplace_back(node.types.size());
    is_linear_.resize(graph.nodes().size());
    for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
      if (is_linear_[i]) {
        linear_copier_.copy(i);
      } else {
        known_copier_.copy(i);
      }
    }
  }

  Linearized run(const Flags& required) {
    for (std::uint32_t i = index_of(graph_.parameter_count()); i < graph_.nodes().size(); ++i) {
      take(i);
    }
    Linearized result;
    std::vector<Value> known, linear;
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Value output = graph_.outputs()[i];
      const bool goes = is_linear(output) || (!required.empty() && required[i]);
      result.is_linear.push_back(goes);
      if (goes) {
        linear.push_back(in_linear(output));
      } else {
        known.push_back(known_copier_(output));
      }
    }
    for (Value residual : residuals_) known.push_back(residual);
    result.known = known_.build(std::move(known));
    result.linear = linear_.build(std::move(linear));
    return result;
  }

 private:
  bool is_linear(Value value) const {
    return places_[value.node][value.result] == Place::linear ||
           (is_linear_[value.node] && places_[value.node][value.result] == Place::undecided);
  }
  void take(std::uint32_t index);
  Value in_linear(Value value);
  Value residual(Value known);
  bool is_free(Value value) const;
  void loop(std::uint32_t index);
  void counted(std::uint32_t index, const Flags& carries, const Linearized& body,
               std::uint32_t counter, std::int64_t trips, std::int64_t first);
  void uncounted(std::uint32_t index, const Flags& carries, const Linearized& body);
  void branch(std::uint32_t index);
  void checkpoint(std::uint32_t index);
  void place_results(std::uint32_t index, const Flags& linear, Value known, Value of_linear);

  // Where a result is: loops and branches have some in either graph.
  enum class Place : std::uint8_t { undecided, known, linear };

  const Graph& graph_;
  Flags is_linear_;
  GraphBuilder known_, linear_;
  GraphCopier known_copier_, linear_copier_;
  std::vector<std::vector<Place>> places_;
  std::vector<Value> residuals_;                  // of known_
  std::vector<std::pair<Value, Value>> renamed_;  // residuals, and their parameters of linear_
};

void Splitter::take(std::uint32_t index) {
  const Node& node = graph_.node(index);
  const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                               [&](Value input) { return is_linear(input); });
  is_linear_[index] = any;
  if (!any) {
    known_copier_.copy(index);
  } else if (node.op == Op::while_) {
    loop(index);
  } else if (node.op == Op::case_) {
    branch(index);
  } else if (node.op == Op::composite && is_checkpoint(node)) {
    checkpoint(index);
  } else {
    for (Value input : node.inputs) in_linear(input);
    linear_copier_.copy(index);
  }
}

// A constant, repeated or not.
bool Splitter::is_free(Value value) const {
  const Node& node = graph_.node(value);
  if (node.op == Op::constant || node.op == Op::iota) return true;
  const bool passes =
      node.op == Op::broadcast_in_dim || node.op == Op::reshape || node.op == Op::convert;
  return passes && is_free(node.inputs[0]);
}

// What a value of the graph is in the linear one: itself, a constant, or a residual.
Value Splitter::in_linear(Value value) {
  if (is_linear(value)) return linear_copier_(value);
  if (is_free(value)) {
    const Node& node = graph_.node(value);
    if (!node.inputs.empty()) in_linear(node.inputs[0]);
    linear_copier_.copy(value.node);
  } else {
    linear_copier_.rename(value, residual(known_copier_(value)));
  }
  return linear_copier_(value);
}

// The parameter of the linear graph that a value of the known one becomes.
Value Splitter::residual(Value known) {
  for (const auto& [from, to] : renamed_) {
    if (from == known) return to;
  }
  const Value parameter = linear_.late_parameter(known_.type(known));
  residuals_.push_back(known);
  renamed_.emplace_back(known, parameter);
  return parameter;
}

void Splitter::place_results(std::uint32_t index, const Flags& linear, Value known,
                             Value of_linear) {
  for (std::uint32_t i = 0; i < linear.size(); ++i) {
    places_[index][i] = linear[i] ? Place::linear : Place::known;
    if (linear[i]) {
      linear_copier_.rename({index, i}, of_linear);
      ++of_linear.result;
    } else {
      known_copier_.rename({index, i}, known);
      ++known.result;
    }
  }
}

// --- loops ---------------------------------------------------------------------------------------

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
    operands.push_back(Quantity::zeros(known_, stack_type(trips, turn.type(value))).value);
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
  const Quantity place = (first == 0 ? count : count - static_cast<double>(first)).as(Dtype::i64);
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    outputs.push_back(
        write_stack({&next, stacks[i]}, place, {&next, next_copier(stacked[i])}).value);
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
      in_step = read_stack({&step, capture_once(stack)}, number).value;
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

// --- branches ------------------------------------------------------------------------------------

// The known branches give what the linear ones of any need; zeros stand for what others do.
void Splitter::branch(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear, gives(node.types.size());
  for (std::size_t i = 1; i < node.inputs.size(); ++i) linear.push_back(is_linear(node.inputs[i]));
  for (const Graph& region : node.regions) {
    const Linearized made = linearize(region, linear);
    for (std::size_t i = 0; i < gives.size(); ++i) gives[i] = gives[i] || made.is_linear[i];
  }
  std::vector<Linearized> branches;
  std::vector<Type> residual_types;
  std::vector<std::size_t> firsts;
  const auto known_count = static_cast<std::size_t>(std::count(gives.begin(), gives.end(), false));
  const bool is_known = known_count == gives.size();
  for (const Graph& region : node.regions) {
    branches.push_back(linearize(region, linear, gives));
    firsts.push_back(residual_types.size());
    const Graph& known = branches.back().known;
    for (std::size_t i = known_count; !is_known && i < known.outputs().size(); ++i) {
      residual_types.push_back(known.output_type(i));
    }
  }
  std::vector<Value> known_operands = {known_copier_(node.inputs[0])};
  std::vector<Value> linear_operands;
  if (!is_known) linear_operands.push_back(residual(known_operands[0]));
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const Value input = node.inputs[i + 1];
    if (linear[i]) {
      if (!is_known) linear_operands.push_back(in_linear(input));
    } else {
      known_operands.push_back(known_copier_(input));
    }
  }
  std::vector<Graph> known_regions, linear_regions;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    GraphBuilder known(node.regions[b].name());
    GraphCopier copier(branches[b].known, known);
    for (std::uint32_t i = 0; i < branches[b].known.parameter_count(); ++i) copier.copy(i);
    copier.copy_body();
    std::vector<Value> outputs = copier(branches[b].known.outputs().first(known_count));
    const std::size_t own = branches[b].known.outputs().size() - known_count;
    for (std::size_t i = 0; i < residual_types.size(); ++i) {
      const bool is_own = i >= firsts[b] && i < firsts[b] + own;
      outputs.push_back(is_own ? copier(branches[b].known.outputs()[known_count + i - firsts[b]])
                               : Quantity::zeros(known, residual_types[i]).value);
    }
    known_regions.push_back(known.build(std::move(outputs)));
    if (is_known) continue;

    GraphBuilder step(node.regions[b].name());
    const Graph& of_linear = branches[b].linear;
    GraphCopier step_copier(of_linear, step);
    const auto linear_count =
        static_cast<std::uint32_t>(std::count(linear.begin(), linear.end(), true));
    for (std::uint32_t i = 0; i < linear_count; ++i) step_copier.copy(i);
    for (std::size_t i = 0; i < residual_types.size(); ++i) {
      const Value parameter = step.parameter(residual_types[i]);
      if (i >= firsts[b] && i < firsts[b] + own) {
        step_copier.rename(linear_count + index_of(i - firsts[b]), parameter);
      }
    }
    step_copier.copy_body();
    linear_regions.push_back(step.build(step_copier(of_linear.outputs())));
  }
  Value known;
  if (known_count + residual_types.size() > 0) {
    known = known_.add(node.op, std::move(known_operands), node.attributes, std::nullopt,
                       std::move(known_regions), node.location);
  }
  if (is_known) return place_results(index, gives, known, {});
  for (std::size_t i = 0; i < residual_types.size(); ++i) {
    linear_operands.push_back(residual({known.node, index_of(known_count + i)}));
  }
  const Value made = linear_.add(node.op, std::move(linear_operands), node.attributes, std::nullopt,
                                 std::move(linear_regions), node.location);
  place_results(index, gives, known, made);
}

// --- functions that are computed again -----------------------------------------------------------

namespace {

// The results of products that depend on nothing linear.
std::vector<Value> known_products(const Graph& region, const Flags& linear) {
  const Flags is_linear = linear_nodes(region, linear);
  std::vector<Value> products;
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    if (is_library(region.node(i).op) && !is_linear[i]) products.push_back({i, 0});
  }
  return products;
}

// `region` with these of its outputs and the results of products, which are parameters behind its
// own instead where they are `given`.
Graph with_products(const Graph& region, const std::vector<Value>& outputs,
                    const std::vector<Value>& products, bool are_given) {
  GraphBuilder builder(region.name());
  GraphCopier copier(region, builder);
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) copier.copy(i);
  for (Value product : products) {
    if (are_given) copier.rename(product, builder.parameter(region.type(product)));
  }
  for (std::uint32_t i = index_of(region.parameter_count()); i < region.nodes().size(); ++i) {
    const bool is_given =
        are_given && std::find(products.begin(), products.end(), Value{i, 0}) != products.end();
    if (!is_given) copier.copy(i);
  }
  std::vector<Value> results = copier(outputs);
  if (!are_given) {
    for (Value product : products) results.push_back(copier(product));
  }
  return without_dead_nodes(builder.build(std::move(results)));
}

}  // namespace

// The linear function takes all operands, and computes again what it needs of them but for the
// products that are kept.
void Splitter::checkpoint(std::uint32_t index) {
  const Node& node = graph_.node(index);
  const Graph& region = node.regions[0];
  CompositeAttributes attributes = node.as<CompositeAttributes>();
  Flags linear;
  for (Value input : node.inputs) linear.push_back(is_linear(input));
  const Linearized parts = linearize(region, linear);
  std::vector<Value> products, known_outputs, linear_outputs;
  for (std::size_t i = 0; i < node.types.size(); ++i) {
    (parts.is_linear[i] ? linear_outputs : known_outputs).push_back(region.outputs()[i]);
  }
  if (attributes.rule == CompositeRule::checkpoint_dots && !linear_outputs.empty()) {
    products = known_products(region, linear);
  }
  Value known{};
  if (known_outputs.size() + products.size() > 0) {
    // Of the known parameters alone; loops and branches may give linear results besides.
    const Graph all =
        linearize(with_products(region, known_outputs, products, false), linear).known;
    GraphBuilder builder(region.name());
    GraphCopier copier(all, builder);
    for (std::uint32_t i = 0; i < all.parameter_count(); ++i) copier.copy(i);
    copier.copy_body();
    std::vector<Value> operands;
    for (std::uint32_t i = 0; i < linear.size(); ++i) {
      if (!linear[i]) operands.push_back(known_copier_(node.inputs[i]));
    }
    const std::size_t results = known_outputs.size() + products.size();
    attributes.arguments = static_cast<std::int64_t>(operands.size());
    known = known_.add(node.op, std::move(operands), attributes, std::nullopt,
                       {without_dead_nodes(builder.build(copier(all.outputs().first(results))))},
                       node.location);
  }
  if (linear_outputs.empty()) return place_results(index, parts.is_linear, known, {});
  std::vector<Value> operands;
  for (Value input : node.inputs) operands.push_back(in_linear(input));
  for (std::size_t i = 0; i < products.size(); ++i) {
    operands.push_back(residual({known.node, index_of(known_outputs.size() + i)}));
  }
  attributes.arguments = static_cast<std::int64_t>(operands.size());
  const Value made =
      linear_.add(node.op, std::move(operands), attributes, std::nullopt,
                  {with_products(region, linear_outputs, products, true)}, node.location);
  place_results(index, parts.is_linear, known, made);
}

}  // namespace

Linearized linearize(const Graph& graph, const std::vector<bool>& linear,
                     const std::vector<bool>& required) {
  return Splitter(graph, linear).run(required);
}

Linearized linearize_turn(const Graph& body, std::vector<bool>& linear) {
  const auto carried = static_cast<std::ptrdiff_t>(body.outputs().size());
  while (true) {
    const Flags carries(linear.begin(), linear.begin() + carried);
    Linearized made = linearize(body, linear, carries);
    if (made.is_linear == carries) return made;
    std::copy(made.is_linear.begin(), made.is_linear.end(), linear.begin());
  }
}

}  // namespace anabranch
