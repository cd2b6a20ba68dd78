#include "passes/transform/jvp.h"

#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/regions.h"
#include "passes/transform/derivative_rules.h"

namespace anabranch {

bool has_tangent(Dtype dtype) { return is_float(dtype) || is_complex(dtype); }

Quantity JvpStep::again(std::vector<Value> operands) const {
  std::optional<Type> stated;
  if (info(node.op).has(OpInfo::typed)) stated = node.types[0];
  return {&graph, graph.add(node.op, std::move(operands), node.attributes, std::move(stated),
                            node.regions, node.location)};
}

namespace {

class Forward {
 public:
  Forward(const Graph& graph, const std::vector<bool>& active)
      : graph_(graph), builder_(graph.name()), copier_(graph, builder_) {
    const auto count = static_cast<std::uint32_t>(graph.parameter_count());
    for (std::uint32_t i = 0; i < count; ++i) copier_.copy(i);
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      tangents_.emplace_back(graph.node(i).types.size());
    }
    for (std::uint32_t i : positions(active)) {
      tangents_[i][0] = builder_.parameter(graph.parameter_type(i));
    }
  }

  Jvp run(const std::vector<bool>& required) {
    for (auto i = static_cast<std::uint32_t>(graph_.parameter_count()); i < graph_.nodes().size();
         ++i) {
      differentiate(i);
    }
    std::vector<Value> outputs = copier_(graph_.outputs());
    Jvp result;
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Value output = graph_.outputs()[i];
      std::optional<Value> tangent = tangents_[output.node][output.result];
      if (!tangent && !required.empty() && required[i]) {
        tangent = Quantity::zeros(builder_, graph_.type(output)).value;
      }
      result.active.push_back(tangent.has_value());
      if (tangent) outputs.push_back(*tangent);
    }
    result.graph = without_dead_nodes(builder_.build(std::move(outputs)));
    return result;
  }

 private:
  void differentiate(std::uint32_t index);
  Tangents tangents_of(const JvpRule& rule, const JvpStep& step) const;
  Tangents linear(const JvpRule& rule, const JvpStep& step) const;
  void loop(std::uint32_t index, const Tangents& inputs);
  void branch(std::uint32_t index, const Tangents& inputs);
  void composite(std::uint32_t index, const Tangents& inputs);
  void by_jvp_rule(std::uint32_t index, const Tangents& inputs);
  void by_vjp_rule(std::uint32_t index, const Tangents& inputs);
  std::vector<Value> argument_tangents(const Node& node, const Tangents& inputs);
  bool is_zero(Value value) const;
  void take_values(std::uint32_t index, std::span<const Value> results,
                   std::span<const Value> tangents);
  std::vector<Value> with_tangents(std::span<const Value> values, const Tangents& tangents,
                                   const std::vector<bool>& active);
  void take_results(std::uint32_t index, Value first, const std::vector<bool>& active);

  const Graph& graph_;
  GraphBuilder builder_;
  GraphCopier copier_;
  std::vector<Tangents> tangents_;  // per node, per result
};

void Forward::differentiate(std::uint32_t index) {
  const Node& node = graph_.node(index);
  builder_.at(node.location);
  Tangents inputs;
  for (Value input : node.inputs) inputs.push_back(tangents_[input.node][input.result]);
  const bool is_active = std::any_of(inputs.begin(), inputs.end(), [](auto& t) { return t; });
  const JvpRule rule = derivative_rule(node.op).jvp;
  if (!is_active || rule.kind == JvpRule::Kind::none) {
    copier_.copy(index);
    return;
  }
  if (rule.kind == JvpRule::Kind::with_regions) {
    if (node.op == Op::while_) return loop(index, inputs);
    return node.op == Op::case_ ? branch(index, inputs) : composite(index, inputs);
  }
  const Value result = copier_.copy(index);
  const std::vector<Value> values = copier_(node.inputs);
  tangents_[index] = tangents_of(rule, {builder_, node, values, inputs, result});
}

Tangents Forward::tangents_of(const JvpRule& rule, const JvpStep& step) const {
  using Kind = JvpRule::Kind;
  if (rule.kind == Kind::refused) {
    std::string text = std::string(name(step.node.op)) + " has no derivative; " + rule.remedy;
    if (step.node.location) text += ", at " + to_string(step.node.location);
    throw Error(text);
  }
  if (rule.kind == Kind::formula) return rule.formula(step);
  if (rule.kind == Kind::linear) return linear(rule, step);
  std::optional<Quantity> sum;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!step.is_active(i)) continue;
    std::vector<Value> operands(step.inputs.begin(), step.inputs.end());
    operands[i] = *step.tangents[i];
    const Quantity part = rule.kind == Kind::multilinear ? step.again(std::move(operands))
                                                         : step.tangent(i) * rule.factors[i](step);
    sum = sum ? *sum + part : part;
  }
  return {sum->value};
}

Tangents Forward::linear(const JvpRule& rule, const JvpStep& step) const {
  std::vector<Value> operands(step.inputs.begin(), step.inputs.end());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_linear = i >= 64 || ((rule.linear_operands >> i) & 1);
    if (is_linear) operands[i] = step.tangent(i).value;
  }
  return {step.again(std::move(operands)).value};
}

// `values`, then the tangents of those that are active.
std::vector<Value> Forward::with_tangents(std::span<const Value> values, const Tangents& tangents,
                                          const std::vector<bool>& active) {
  std::vector<Value> list(values.begin(), values.end());
  for (std::uint32_t i : positions(active)) {
    list.push_back(tangents[i] ? *tangents[i]
                               : Quantity::zeros(builder_, builder_.type(values[i])).value);
  }
  return list;
}

// The results of a node that gives its own, then the tangents of those that are active.
void Forward::take_results(std::uint32_t index, Value first, const std::vector<bool>& active) {
  copier_.rename(index, first);
  first.result += static_cast<std::uint32_t>(active.size());
  for (std::uint32_t i : positions(active)) {
    tangents_[index][i] = first;
    ++first.result;
  }
}

// Carries without a tangent stay without one: which have one is a fixed point, since what a turn
// gives goes into the next.
//
// Operands: carries, tangents of carries, captures, tangents of captures.
void Forward::loop(std::uint32_t index, const Tangents& inputs) {
  const Node& node = graph_.node(index);
  const std::size_t carried = node.types.size(), count = node.inputs.size();
  std::vector<bool> active(count);
  for (std::size_t i = 0; i < count; ++i) active[i] = inputs[i].has_value();
  const auto carries_of = [&](const std::vector<bool>& all) {
    return std::vector<bool>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(carried));
  };
  Jvp body;
  while (true) {
    body = jvp(node.regions[1], active, carries_of(active));
    if (body.active == carries_of(active)) break;
    std::copy(body.active.begin(), body.active.end(), active.begin());
  }
  const std::vector<Value> values = copier_(node.inputs);
  const std::vector<Value> all = with_tangents(values, inputs, active);
  std::vector<std::uint32_t> order;  // of what `all` lists
  const auto list = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) order.push_back(static_cast<std::uint32_t>(i));
  };
  const std::size_t active_carries = positions(body.active).size();
  list(0, carried);
  list(count, count + active_carries);
  list(carried, count);
  list(count + active_carries, all.size());
  // The condition sees the tangents, and does not ask for them.
  std::vector<Value> operands;
  std::vector<Type> types;
  std::vector<NewParameter> places(all.size());
  for (std::uint32_t from : order) {
    places[from].index = static_cast<std::uint32_t>(operands.size());
    operands.push_back(all[from]);
    types.push_back(builder_.type(all[from]));
  }
  const std::uint32_t holds[] = {0};
  std::vector<Graph> regions = {
      with_parameters(node.regions[0], types, std::span(places).first(count), holds),
      with_parameters(body.graph, types, places, all_of(body.graph.outputs().size()))};
  const Value made = builder_.add(node.op, std::move(operands), node.attributes, std::nullopt,
                                  std::move(regions), node.location);
  take_results(index, made, body.active);
}

void Forward::branch(std::uint32_t index, const Tangents& inputs) {
  const Node& node = graph_.node(index);
  const Tangents own(inputs.begin() + 1, inputs.end());
  std::vector<bool> active;
  for (const auto& tangent : own) active.push_back(tangent.has_value());
  std::vector<bool> gives(node.types.size());
  std::vector<Jvp> pushed;
  for (const Graph& region : node.regions) {
    pushed.push_back(jvp(region, active));
    for (std::size_t i = 0; i < gives.size(); ++i) gives[i] = gives[i] || pushed.back().active[i];
  }
  // Most give what all do: to do each again would take 2^depth of the time of a nest.
  std::vector<Graph> regions;
  for (std::size_t i = 0; i < pushed.size(); ++i) {
    const bool is_whole = pushed[i].active == gives;
    regions.push_back(is_whole ? std::move(pushed[i].graph)
                               : jvp(node.regions[i], active, gives).graph);
  }
  const std::vector<Value> values = copier_(node.inputs);
  std::vector<Value> operands = with_tangents(std::span(values).subspan(1), own, active);
  operands.insert(operands.begin(), values[0]);
  const Value made = builder_.add(node.op, std::move(operands), node.attributes, std::nullopt,
                                  std::move(regions), node.location);
  take_results(index, made, gives);
}

// --- functions with rules of their own -----------------------------------------------------------

void demand_no_active_capture(const Node& node, const Tangents& inputs) {
  const CompositeAttributes& attributes = node.as<CompositeAttributes>();
  for (auto i = static_cast<std::size_t>(attributes.arguments); i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    std::string text = std::string(name(attributes.rule)) +
                       ": the function captures an array that is differentiated by; pass it as "
                       "an argument";
    if (node.location) text += ", at " + to_string(node.location);
    throw Error(text);
  }
}

void Forward::composite(std::uint32_t index, const Tangents& inputs) {
  const Node& node = graph_.node(index);
  CompositeAttributes attributes = node.as<CompositeAttributes>();
  switch (attributes.rule) {
    case CompositeRule::custom_jvp:
      return by_jvp_rule(index, inputs);
    case CompositeRule::custom_vjp:
      return by_vjp_rule(index, inputs);
    case CompositeRule::pullback:
      throw Error("a function with a custom_vjp has no forward derivative; give it a custom_jvp" +
                  (node.location ? ", at " + to_string(node.location) : std::string()));
    case CompositeRule::kept:
    case CompositeRule::named:
      copier_.copy(index);
      tangents_[index] = inputs;
      return;
    case CompositeRule::checkpoint:
      break;
  }
  std::vector<bool> active;
  for (const auto& tangent : inputs) active.push_back(tangent.has_value());
  Jvp made = jvp(node.regions[0], active);
  std::vector<Value> operands = with_tangents(copier_(node.inputs), inputs, active);
  attributes.arguments = static_cast<std::int64_t>(operands.size());
  const Value first = builder_.add(node.op, std::move(operands), attributes, std::nullopt,
                                   {std::move(made.graph)}, node.location);
  take_results(index, first, made.active);
}

// Of the arguments that can have one.
std::vector<Value> Forward::argument_tangents(const Node& node, const Tangents& inputs) {
  std::vector<Value> tangents;
  for (std::int64_t i = 0; i < node.as<CompositeAttributes>().arguments; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Type type = graph_.type(node.inputs[at]);
    if (!has_tangent(type.dtype)) continue;
    tangents.push_back(inputs[at] ? *inputs[at] : Quantity::zeros(builder_, type).value);
  }
  return tangents;
}

// Whether it is a constant 0, as of stop_gradient.
bool Forward::is_zero(Value value) const {
  const Node& node = builder_.node(value);
  if (node.op == Op::broadcast_in_dim) return is_zero(node.inputs[0]);
  if (node.op != Op::constant) return false;
  const Literal& literal = node.as<ConstantAttributes>().value;
  return literal.is_splat() &&
         literal.bits(0) == Literal::scalar(literal.type().dtype, 0.0).bits(0);
}

void Forward::take_values(std::uint32_t index, std::span<const Value> results,
                          std::span<const Value> tangents) {
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < graph_.node(index).types.size(); ++i) {
    copier_.rename({index, i}, results[i]);
    if (!has_tangent(graph_.node(index).types[i].dtype)) continue;
    if (!is_zero(tangents[next])) tangents_[index][i] = tangents[next];
    ++next;
  }
}

void Forward::by_jvp_rule(std::uint32_t index, const Tangents& inputs) {
  const Node& node = graph_.node(index);
  demand_no_active_capture(node, inputs);
  std::vector<Value> operands = copier_(node.inputs);
  for (Value tangent : argument_tangents(node, inputs)) operands.push_back(tangent);
  const std::vector<Value> all = inlined(node.regions[1], builder_, operands);
  const std::span<const Value> values(all);
  take_values(index, values.first(node.types.size()), values.subspan(node.types.size()));
}

// The tangents of the results are what only its transpose computes.
void Forward::by_vjp_rule(std::uint32_t index, const Tangents& inputs) {
  const Node& node = graph_.node(index);
  demand_no_active_capture(node, inputs);
  const std::vector<Value> all = inlined(node.regions[1], builder_, copier_(node.inputs));
  std::vector<Value> operands = argument_tangents(node, inputs);
  CompositeAttributes attributes{
      CompositeRule::pullback, static_cast<std::int64_t>(operands.size()), {}};
  for (const Type& type : node.types) {
    if (has_tangent(type.dtype)) attributes.results.push_back(type);
  }
  operands.insert(operands.end(), all.begin() + static_cast<std::ptrdiff_t>(node.types.size()),
                  all.end());
  std::vector<Value> tangents;
  if (!attributes.results.empty()) {
    const auto count = static_cast<std::uint32_t>(attributes.results.size());
    const Value first = builder_.add(Op::composite, std::move(operands), std::move(attributes),
                                     std::nullopt, {node.regions[2]}, node.location);
    for (std::uint32_t i = 0; i < count; ++i) tangents.push_back({first.node, i});
  }
  take_values(index, std::span(all).first(node.types.size()), tangents);
}

}  // namespace

Jvp jvp(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& required) {
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i] || has_tangent(graph.parameter_type(i).dtype)) continue;
    throw InternalError("jvp", "parameter " + std::to_string(i) + " has no tangents",
                        to_string(graph));
  }
  return Forward(graph, active).run(required);
}

}  // namespace anabranch
