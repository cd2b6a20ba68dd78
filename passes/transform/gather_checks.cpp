#include "passes/transform/gather_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ir/counted_loop.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "passes/transform/quantity.h"

namespace anabranch {
namespace {

Type state_type() { return {i32, {}}; }

std::vector<Quantity> parameters(GraphBuilder& builder, std::span<const Type> types) {
  std::vector<Quantity> made;
  for (const Type& type : types) made.push_back({&builder, builder.parameter(type)});
  return made;
}

std::vector<Value> values_of(std::span<const Quantity> quantities) {
  std::vector<Value> values;
  for (const Quantity& quantity : quantities) values.push_back(quantity.value);
  return values;
}

using Messages = std::vector<std::string>;

// Copies the graph of a turn or a branch without its checks, and says what they found.
class Gatherer {
 public:
  Gatherer(const Graph& graph, GraphBuilder& to, Messages& messages)
      : graph_(graph), to_(to), copier_(graph, to), messages_(&messages) {}
  // Copies the graph of a program: its own checks stay, and loops and branches get one each. So
  // each is on the device of what it guards.
  Gatherer(const Graph& graph, GraphBuilder& to) : graph_(graph), to_(to), copier_(graph, to) {}

  // The outputs for these parameters.
  std::vector<Value> outputs(std::span<const Value> inputs) {
    for (std::uint32_t i = 0; i < inputs.size(); ++i) copier_.rename(i, inputs[i]);
    const auto count = static_cast<std::uint32_t>(graph_.nodes().size());
    for (auto i = static_cast<std::uint32_t>(graph_.parameter_count()); i < count; ++i) node(i);
    return copier_(graph_.outputs());
  }
  // Of the first check that failed, 0 where none did.
  Quantity state() const { return state_ ? *state_ : Quantity::zeros(to_, state_type()); }
  bool has_state() const { return state_.has_value(); }

 private:
  void node(std::uint32_t index) {
    const Node& node = graph_.node(index);
    if (node.op == Op::check && messages_) {
      check(index, node);
    } else if (node.op == Op::while_ && has_check(node)) {
      loop(index, node);
    } else if (node.op == Op::case_ && has_check(node)) {
      branch(index, node);
    } else {
      copier_.copy(index);
    }
  }

  void check(std::uint32_t index, const Node& node) {
    const Value state = copier_(node.inputs[0]);
    for (std::uint32_t i = 0; i < node.types.size(); ++i) {
      copier_.rename({index, i}, copier_(node.inputs[1 + i]));
    }
    const auto& [messages] = node.as<CheckAttributes>();
    const std::pair one(state, messages);
    if (std::ranges::find(seen_, one) != seen_.end()) return;
    seen_.push_back(one);
    const Quantity number = largest({&to_, state});
    const auto before = static_cast<double>(messages_->size());
    messages_->insert(messages_->end(), messages.begin(), messages.end());
    add(before == 0 ? number : select(passes(number), number, number + before));
  }

  static Quantity largest(Quantity state) {
    const std::int64_t rank = state.type().rank();
    if (rank == 0) return state;
    GraphBuilder& to = *state.graph;
    return {&to, to.add(Op::reduce_max, {state.value}, AxesAttributes{axes_up_to(rank)})};
  }
  static Quantity passes(Quantity state) { return state <= state.number(0); }

  void add(Quantity state) { state_ = state_ ? select(passes(*state_), state, *state_) : state; }

  // Of a loop or a branch that gives `results`, whose checks have these messages.
  void found(std::uint32_t index, std::vector<Value> results, Quantity state, Messages own) {
    if (messages_) {
      add(state);
    } else {
      guard(to_, state.value, {std::move(own)}, results, false);
    }
    for (std::uint32_t i = 0; i < results.size(); ++i) copier_.rename({index, i}, results[i]);
  }

  void loop(std::uint32_t index, const Node& node) {
    Messages own;
    Messages& messages = messages_ ? *messages_ : own;
    const Graph &condition = node.regions[0], &body = node.regions[1];
    const std::size_t carries = node.types.size();
    std::vector<Type> types;
    for (Value input : node.inputs) types.push_back(graph_.type(input));
    types.insert(types.begin() + static_cast<std::ptrdiff_t>(carries), state_type());
    const auto without_state = [&](std::vector<Quantity> all) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(carries));
      return values_of(all);
    };

    GraphBuilder asks(condition.name());
    const std::vector<Quantity> asked = parameters(asks, types);
    Quantity holds{&asks, Gatherer(condition, asks, messages).outputs(without_state(asked))[0]};
    if (!counted_loop(node)) holds = holds & passes(asked[carries]);

    GraphBuilder turns(body.name());
    const std::vector<Quantity> turned = parameters(turns, types);
    Gatherer before(condition, turns, messages), inside(body, turns, messages);
    if (has_check(condition)) before.outputs(without_state(turned));
    std::vector<Value> next = inside.outputs(without_state(turned));
    Quantity state = turned[carries];
    for (const Gatherer* part : {&before, &inside}) {
      if (part->has_state()) state = select(passes(state), part->state(), state);
    }
    next.push_back(state.value);

    std::vector<Value> inputs = copier_(node.inputs);
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(carries),
                  Quantity::zeros(to_, state_type()).value);
    std::vector<Value> last(inputs.begin(), inputs.end());
    const Value first =
        to_.add(node.op, std::move(inputs), node.attributes, std::nullopt,
                {asks.build({holds.value}), turns.build(std::move(next))}, node.location);
    std::vector<Value> results;
    for (std::uint32_t i = 0; i < carries; ++i) results.push_back({first.node, i});
    Quantity found_state{&to_, {first.node, static_cast<std::uint32_t>(carries)}};
    if (has_check(condition)) {
      std::copy(results.begin(), results.end(), last.begin());
      last.erase(last.begin() + static_cast<std::ptrdiff_t>(carries));
      Gatherer after(condition, to_, messages);
      after.outputs(last);
      found_state = select(passes(found_state), after.state(), found_state);
    }
    found(index, std::move(results), found_state, std::move(own));
  }

  void branch(std::uint32_t index, const Node& node) {
    Messages own;
    Messages& messages = messages_ ? *messages_ : own;
    std::vector<Graph> branches;
    for (const Graph& region : node.regions) {
      GraphBuilder builder(region.name());
      std::vector<Value> inputs;
      for (std::uint32_t i = 0; i < region.parameter_count(); ++i) {
        inputs.push_back(builder.parameter(region.parameter_type(i)));
      }
      Gatherer inside(region, builder, messages);
      std::vector<Value> results = inside.outputs(inputs);
      results.push_back(inside.state().value);
      branches.push_back(builder.build(std::move(results)));
    }
    const Value first = to_.add(node.op, copier_(node.inputs), node.attributes, std::nullopt,
                                std::move(branches), node.location);
    std::vector<Value> results;
    const auto count = static_cast<std::uint32_t>(node.types.size());
    for (std::uint32_t i = 0; i < count; ++i) results.push_back({first.node, i});
    found(index, std::move(results), {&to_, {first.node, count}}, std::move(own));
  }

  const Graph& graph_;
  GraphBuilder& to_;
  GraphCopier copier_;
  Messages* messages_ = nullptr;  // null in a program
  std::vector<std::pair<Value, Messages>> seen_;
  std::optional<Quantity> state_;
};

}  // namespace

bool has_check(const Node& node) {
  return node.op == Op::check ||
         std::ranges::any_of(node.regions, [](const Graph& region) { return has_check(region); });
}

bool has_check(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return has_check(node); });
}

void guard(GraphBuilder& builder, Value state, CheckAttributes messages,
           std::vector<Value>& results, bool are_carried) {
  const auto is_passed_on = [&](Value result) { return builder.node(result).op == Op::parameter; };
  const bool all = !are_carried || std::ranges::all_of(results, is_passed_on);
  std::vector<std::size_t> guarded;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (all || !is_passed_on(results[i])) guarded.push_back(i);
  }
  std::vector<Value> operands = {state};
  for (std::size_t i : guarded) operands.push_back(results[i]);
  Value first = builder.add(Op::check, std::move(operands), std::move(messages));
  for (std::size_t i : guarded) {
    results[i] = first;
    ++first.result;
  }
}

namespace {

std::vector<Value> copied_parameters(const Graph& graph, GraphBuilder& builder) {
  std::vector<Value> inputs;
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) inputs.push_back(copier.copy(i));
  return inputs;
}

}  // namespace

Graph with_gathered_checks(const Graph& graph, std::size_t count, bool are_carried) {
  GraphBuilder builder(graph.name());
  const std::vector<Value> inputs = copied_parameters(graph, builder);
  Messages messages;
  Gatherer gatherer(graph, builder, messages);
  std::vector<Value> outputs = gatherer.outputs(inputs);
  outputs.resize(count);
  if (gatherer.has_state()) {
    guard(builder, gatherer.state().value, {std::move(messages)}, outputs, are_carried);
  }
  return builder.build(std::move(outputs));
}

Graph gather_checks(const Graph& graph, PassContext&) {
  if (!has_check(graph)) return graph;
  GraphBuilder builder(graph.name());
  const std::vector<Value> inputs = copied_parameters(graph, builder);
  return builder.build(Gatherer(graph, builder).outputs(inputs));
}

}  // namespace anabranch
