#include "passes/transform/kept_values.h"

#include <algorithm>

#include "ir/counted_loop.h"
#include "ir/graph/copier.h"
#include "passes/regions.h"
#include "passes/transform/dependence.h"
#include "passes/transform/keep.h"
#include "passes/transform/quantity.h"

namespace anabranch {
namespace {

using Flags = std::vector<bool>;
using Types = std::vector<Type>;

bool is_kept(const Node& node) {
  return is_mark(node) && node.as<CompositeAttributes>().rule == CompositeRule::kept;
}

bool has_kept(const Node& node) {
  if (is_kept(node)) return true;
  if (!is_control(node.op)) return false;
  return std::ranges::any_of(node.regions, [](const Graph& region) {
    return std::ranges::any_of(region.nodes(), has_kept);
  });
}

// Writes both graphs at once.
class Taker {
 public:
  Taker(const Graph& graph, const Flags& linear)
      : graph_(graph),
        is_linear_(dependent_values(graph, linear)),
        giving_(graph.name()),
        taking_(graph.name()),
        give_(graph, giving_),
        take_(graph, taking_) {
    for (const Node& node : graph.nodes()) is_kept_.emplace_back(node.types.size());
    for (const Node& node : graph.nodes()) {
      if (is_kept(node)) is_kept_[node.inputs[0].node][node.inputs[0].result] = true;
    }
  }

  KeptValues run() {
    const auto own = static_cast<std::uint32_t>(graph_.parameter_count());
    const auto count = static_cast<std::uint32_t>(graph_.nodes().size());
    // What is kept comes behind all parameters of the graph's own.
    for (std::uint32_t i = 0; i < own; ++i) both(i);
    for (std::uint32_t i = 0; i < own; ++i) take_kept(i);
    for (std::uint32_t i = own; i < count; ++i) {
      node(i);
      take_kept(i);
    }
    std::vector<Value> outputs = give_(graph_.outputs());
    Types types;
    for (Value value : kept_) {
      outputs.push_back(value);
      types.push_back(giving_.type(value));
    }
    Graph taking = taking_.build(take_(graph_.outputs()));
    return {giving_.build(std::move(outputs)), std::move(taking), std::move(types)};
  }

 private:
  void node(std::uint32_t index);
  void take_kept(std::uint32_t index) {
    for (std::uint32_t k = 0; k < graph_.node(index).types.size(); ++k) {
      const bool is_taken = is_kept_[index][k] && !is_linear_[index][k];
      if (is_taken) take_.rename(Value{index, k}, keep(give_(Value{index, k})));
    }
  }
  void both(std::uint32_t index) {
    give_.copy(index);
    take_.copy(index);
  }
  Value keep(Value of_giving);
  Flags linear_operands(const Node& node) const;
  void loop(std::uint32_t index, const KnownTurns& turns);
  Graph giving_turn(const Node& node, const KnownTurns& turns, const KeptValues& inner,
                    const Types& types) const;
  Graph taking_turn(const Node& node, const KnownTurns& turns, const KeptValues& inner,
                    const Types& types) const;
  void branch(std::uint32_t index);

  const Graph& graph_;
  const std::vector<Flags> is_linear_;
  // Values that a mark reads. Derivatives read them too, and not what the mark gives.
  std::vector<Flags> is_kept_;
  GraphBuilder giving_, taking_;
  GraphCopier give_, take_;
  std::vector<Value> kept_;  // of giving_
};

void Taker::node(std::uint32_t index) {
  const Node& node = graph_.node(index);
  if (!has_kept(node)) return both(index);
  if (is_kept(node)) {
    if (is_linear_[index][0]) {
      give_.rename(index, give_(node.inputs[0]));
    } else {
      give_.copy(index);
    }
    return take_.rename(index, take_(node.inputs[0]));
  }
  if (node.op == Op::case_) return branch(index);
  const auto turns = known_turns(graph_, node);
  return turns ? loop(index, *turns) : both(index);
}

// The parameter that it comes back as.
Value Taker::keep(Value of_giving) {
  kept_.push_back(of_giving);
  return taking_.late_parameter(giving_.type(of_giving));
}

Flags Taker::linear_operands(const Node& node) const {
  Flags flags;
  for (Value input : node.inputs) flags.push_back(is_linear_[input.node][input.result]);
  return flags;
}

// --- loops ---------------------------------------------------------------------------------------

std::vector<Value> parameters(GraphBuilder& graph, const Types& types) {
  std::vector<Value> list;
  for (const Type& type : types) list.push_back(graph.parameter(type));
  return list;
}

Types types_of(const GraphBuilder& graph, const std::vector<Value>& values) {
  Types types;
  for (Value value : values) types.push_back(graph.type(value));
  return types;
}

// The number of the turn, in i64 for it may be more than the counter's dtype holds.
Quantity number_of_turn(GraphBuilder& graph, Value counter, const KnownTurns& turns) {
  const Quantity count = Quantity{&graph, counter}.as(Dtype::i64);
  return turns.first == 0 ? count : count - static_cast<double>(turns.first);
}

// The condition of a loop with operands of these types, of which `added` from `first` on are new.
Graph condition_of(const Node& node, const Types& types, std::size_t first, std::size_t added) {
  std::vector<NewParameter> places(node.inputs.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].index = static_cast<std::uint32_t>(i < first ? i : i + added);
  }
  return with_parameters(node.regions[0], types, places, all_of(1));
}

// Carries, then stacks; captures.
Graph Taker::giving_turn(const Node& node, const KnownTurns& turns, const KeptValues& inner,
                         const Types& types) const {
  const auto carried = static_cast<std::ptrdiff_t>(node.types.size());
  const auto count = static_cast<std::ptrdiff_t>(inner.types.size());
  GraphBuilder next(node.regions[1].name());
  std::vector<Value> own = parameters(next, types);
  const std::vector<Value> stacks(own.begin() + carried, own.begin() + carried + count);
  own.erase(own.begin() + carried, own.begin() + carried + count);
  std::vector<Value> outputs = inlined(inner.giving, next, own);
  const Quantity place = number_of_turn(next, own[turns.counter], turns);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    Value& output = outputs[node.types.size() + i];
    output = Quantity{&next, stacks[i]}.with_row(place, {&next, output}).value;
  }
  return next.build(std::move(outputs));
}

// Carries; captures, then stacks.
Graph Taker::taking_turn(const Node& node, const KnownTurns& turns, const KeptValues& inner,
                         const Types& types) const {
  GraphBuilder next(node.regions[1].name());
  std::vector<Value> own = parameters(next, types);
  const Quantity place = number_of_turn(next, own[turns.counter], turns);
  for (std::size_t i = node.inputs.size(); i < own.size(); ++i) {
    own[i] = Quantity{&next, own[i]}.row(place).value;
  }
  return next.build(inlined(inner.taking, next, own));
}

void Taker::loop(std::uint32_t index, const KnownTurns& turns) {
  const Node& node = graph_.node(index);
  const std::size_t carried = node.types.size();
  Flags linear = linear_operands(node);
  const Flags carries = dependent_loop(node, linear).carried;
  std::copy(carries.begin(), carries.end(), linear.begin());
  const KeptValues inner = kept_values(node.regions[1], linear);
  const std::size_t count = inner.types.size();

  std::vector<Value> operands = give_(node.inputs), stacks;
  for (const Type& type : inner.types) {
    stacks.push_back(Quantity::zeros(giving_, with_first_axis(type, turns.count)).value);
  }
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(carried), stacks.begin(),
                  stacks.end());
  Types types = types_of(giving_, operands);
  const Value given = giving_.add(
      node.op, std::move(operands), node.attributes, std::nullopt,
      {condition_of(node, types, carried, count), giving_turn(node, turns, inner, types)},
      node.location);
  give_.rename(index, given);

  operands = take_(node.inputs);
  for (std::size_t i = 0; i < count; ++i) {
    operands.push_back(keep({given.node, static_cast<std::uint32_t>(carried + i)}));
  }
  types = types_of(taking_, operands);
  take_.rename(index, taking_.add(node.op, std::move(operands), node.attributes, std::nullopt,
                                  {condition_of(node, types, node.inputs.size(), 0),
                                   taking_turn(node, turns, inner, types)},
                                  node.location));
}

// --- branches ------------------------------------------------------------------------------------

// What each branch keeps is a result of all.
void Taker::branch(std::uint32_t index) {
  const Node& node = graph_.node(index);
  Flags linear = linear_operands(node);
  linear.erase(linear.begin());
  std::vector<KeptValues> inner;
  Types kept, types;
  for (const Graph& region : node.regions) {
    inner.push_back(kept_values(region, linear));
    kept.insert(kept.end(), inner.back().types.begin(), inner.back().types.end());
  }
  for (std::size_t i = 0; i < linear.size(); ++i) types.push_back(graph_.type(node.inputs[i + 1]));
  std::vector<Graph> giving, taking;
  std::size_t first = 0;
  for (std::size_t b = 0; b < inner.size(); ++b) {
    const std::size_t own = inner[b].types.size();
    GraphBuilder gives(node.regions[b].name()), takes(node.regions[b].name());
    const std::vector<Value> all = inlined(inner[b].giving, gives, parameters(gives, types));
    std::vector<Value> outputs(all.begin(), all.end() - static_cast<std::ptrdiff_t>(own));
    std::vector<Value> operands = parameters(takes, types);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const bool is_own = i >= first && i < first + own;
      const Value taken = takes.parameter(kept[i]);
      if (is_own) operands.push_back(taken);
      outputs.push_back(is_own ? all[node.types.size() + i - first]
                               : Quantity::zeros(gives, kept[i]).value);
    }
    giving.push_back(gives.build(std::move(outputs)));
    taking.push_back(takes.build(inlined(inner[b].taking, takes, operands)));
    first += own;
  }
  const Value given = giving_.add(node.op, give_(node.inputs), node.attributes, std::nullopt,
                                  std::move(giving), node.location);
  give_.rename(index, given);
  std::vector<Value> operands = take_(node.inputs);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    operands.push_back(keep({given.node, static_cast<std::uint32_t>(node.types.size() + i)}));
  }
  take_.rename(index, taking_.add(node.op, std::move(operands), node.attributes, std::nullopt,
                                  std::move(taking), node.location));
}

}  // namespace

KeptValues kept_values(const Graph& function, const std::vector<bool>& linear) {
  return Taker(function, linear).run();
}

}  // namespace anabranch
