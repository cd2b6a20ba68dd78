#include "passes/transform/linearize.h"

#include <algorithm>
#include <span>

#include "passes/transform/marks.h"
#include "passes/transform/splitter.h"

namespace anabranch {

Splitter::Splitter(const Graph& graph, const Flags& linear)
    : graph_(graph),
      is_linear_(linear),
      known_(graph.name()),
      linear_(graph.name()),
      known_copier_(graph, known_),
      linear_copier_(graph, linear_),
      places_(graph) {
  is_linear_.resize(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    if (is_linear_[i]) {
      linear_copier_.copy(i);
    } else {
      known_copier_.copy(i);
    }
  }
}

Linearized Splitter::run(const Flags& required) {
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
  } else if (is_mark(node)) {
    places_[{index, 0}] = Place::linear;
    linear_copier_.rename({index, 0}, in_linear(node.inputs[0]));
  } else if (is_checkpoint(node)) {
    checkpoint(index);
  } else if (node.op == Op::check && !is_linear(node.inputs[0])) {
    check(index);
  } else {
    for (Value input : node.inputs) in_linear(input);
    linear_copier_.copy(index);
  }
}

// The same state guards what is linear and what is known.
void Splitter::check(std::uint32_t index) {
  const Node& node = graph_.node(index);
  std::vector<Value> known = {known_copier_(node.inputs[0])}, linear = {in_linear(node.inputs[0])};
  Flags gives;
  for (Value input : std::span(node.inputs).subspan(1)) {
    gives.push_back(is_linear(input));
    if (is_linear(input)) {
      linear.push_back(in_linear(input));
    } else {
      known.push_back(known_copier_(input));
    }
  }
  const auto guarded = [&](GraphBuilder& graph, std::vector<Value> operands) {
    if (operands.size() == 1) return Value{};
    return graph.add(node.op, std::move(operands), node.attributes, std::nullopt, {},
                     node.location);
  };
  const Value of_known = guarded(known_, std::move(known));
  place_results(index, gives, of_known, guarded(linear_, std::move(linear)));
}

bool is_free(const Graph& graph, Value value) {
  const Node& node = graph.node(value);
  if (node.op == Op::constant || node.op == Op::iota) return true;
  const bool passes =
      node.op == Op::broadcast_in_dim || node.op == Op::reshape || node.op == Op::convert;
  return passes && is_free(graph, node.inputs[0]);
}

// What a value of the graph is in the linear one: itself, a constant, or a residual.
Value Splitter::in_linear(Value value) {
  if (is_linear(value)) return linear_copier_(value);
  if (is_free(graph_, value)) {
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
  const auto [entry, is_new] = renamed_.try_emplace(known);
  if (is_new) {
    entry->second = linear_.late_parameter(known_.type(known));
    residuals_.push_back(known);
  }
  return entry->second;
}

void Splitter::place_results(std::uint32_t index, const Flags& linear, Value known,
                             Value of_linear) {
  for (std::uint32_t i = 0; i < linear.size(); ++i) {
    places_[{index, i}] = linear[i] ? Place::linear : Place::known;
    if (linear[i]) {
      linear_copier_.rename({index, i}, of_linear);
      ++of_linear.result;
    } else {
      known_copier_.rename({index, i}, known);
      ++known.result;
    }
  }
}

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
