#include "passes/transform/checkpoints.h"

#include <algorithm>
#include <limits>

#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/transpose.h"

namespace anabranch {
namespace {

using S = const TransposeStep&;

constexpr std::int64_t repetitions = 64;
// Of the schedule: that of states beyond it is as good for any loop that ends.
constexpr std::int64_t most_rows = 1025;

// Row f, column t: how many turns can be taken backwards from a kept state with f states more to
// keep, none of them computed more than t times: binomial(f + 1 + t, t).
Literal schedule(std::int64_t rows) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  std::vector<std::int64_t> table;
  for (std::int64_t f = 0; f < rows; ++f) {
    double turns = 1;
    for (std::int64_t t = 0; t < repetitions; ++t) {
      if (t > 0) turns = turns * static_cast<double>(f + 1 + t) / static_cast<double>(t);
      table.push_back(turns < static_cast<double>(most) ? static_cast<std::int64_t>(turns + 0.5)
                                                        : most);
    }
  }
  return Literal::of(std::span<const std::int64_t>(table), Shape({rows, repetitions}));
}

Quantity scalar(GraphBuilder& graph, std::int64_t x) {
  return {&graph, graph.constant(Literal::scalar(x))};
}

// How far to go from a kept state when `left` turns follow it and `free` of `states` can be kept.
Quantity stride(GraphBuilder& graph, Quantity left, Quantity free, std::int64_t states) {
  const Literal rows = schedule(std::min(states, most_rows));
  const Quantity table = {&graph, graph.constant(rows)};
  const Quantity turns = table.row(free);
  const Quantity too_few = turns < left.all_over(turns.shape());
  const Quantity t = too_few.as(Dtype::i64).sum({0});
  const Quantity before = (t - 1).op(Op::maximum, scalar(graph, 0));
  const Quantity far = turns.row(before);
  return far.op(Op::maximum, scalar(graph, 1)).op(Op::minimum, left - 1);
}

// What the parts of a loop share: the operands of all of them, in one order.
class Checkpointed {
 public:
  Checkpointed(S step, const LinearLoop& loop)
      : s_(step),
        loop_(loop),
        node_(loop.node),
        counter_(loop.counted.counter),
        states_(node_.as<WhileAttributes>().kept_states.value_or(default_kept_states)) {}

  void transpose();

 private:
  // The carry of the loop backwards, as values of one graph.
  struct State {
    Quantity end, top, positions;         // turns left; kept states, and the turns before them
    std::vector<Value> stacks;            // per known carry: the kept ones
    std::vector<Value> cotangents, sums;  // of linear carries, of linear captures
    std::vector<Value> known;             // captures, per operand
  };
  Type stack_type(const Type& type) const { return with_first_axis(type, states_); }
  State parameters(GraphBuilder& graph) const;
  std::vector<Value> carried(const State& state) const;
  std::vector<Value> captures(const State& state) const;
  Graph backward_turn() const;
  std::vector<Value> forward(GraphBuilder& graph, const State& state, Quantity from, Quantity count,
                             const std::vector<Value>& carries) const;
  Graph keep() const;
  Graph take_turn() const;

  S s_;
  const LinearLoop& loop_;
  const Node& node_;
  const std::uint32_t counter_;
  const std::int64_t states_;  // that are kept at most
};

Checkpointed::State Checkpointed::parameters(GraphBuilder& graph) const {
  const auto parameter = [&](const Type& type) { return Quantity{&graph, graph.parameter(type)}; };
  State state;
  state.end = parameter(count_type());
  state.top = parameter(count_type());
  state.positions = parameter(stack_type(count_type()));
  for (std::uint32_t i : loop_.known_carries) {
    state.stacks.push_back(graph.parameter(stack_type(node_.types[i])));
  }
  for (std::uint32_t i : loop_.linear_carries) {
    state.cotangents.push_back(graph.parameter(node_.types[i]));
  }
  for (std::uint32_t i : loop_.linear_captures) {
    state.sums.push_back(graph.parameter(s_.type_of_operand(i)));
  }
  state.known.resize(node_.inputs.size());
  for (std::uint32_t i : loop_.known_captures) {
    state.known[i] = graph.parameter(s_.type_of_operand(i));
  }
  return state;
}

std::vector<Value> Checkpointed::carried(const State& state) const {
  std::vector<Value> list = {state.end.value, state.top.value, state.positions.value};
  for (const auto* part : {&state.stacks, &state.cotangents, &state.sums}) {
    list.insert(list.end(), part->begin(), part->end());
  }
  return list;
}

std::vector<Value> Checkpointed::captures(const State& state) const {
  std::vector<Value> list;
  for (std::uint32_t i : loop_.known_captures) list.push_back(state.known[i]);
  return list;
}

// The known carries `count` turns after turn `from`.
std::vector<Value> Checkpointed::forward(GraphBuilder& graph, const State& state, Quantity from,
                                         Quantity count, const std::vector<Value>& carries) const {
  const Graph& turn = loop_.turn.known;
  GraphBuilder next(turn.name()), condition("condition");
  GraphCopier copier(turn, next);
  std::vector<Value> operands = {from.value}, known(node_.inputs.size());
  const Quantity number = {&next, next.parameter(count_type())};
  const Quantity asked = {&condition, condition.parameter(count_type())};
  known[counter_] = number.value;
  for (std::size_t k = 0; k < carries.size(); ++k) {
    operands.push_back(carries[k]);
    const Type& type = node_.types[loop_.known_carries[k]];
    known[loop_.known_carries[k]] = next.parameter(type);
    condition.parameter(type);
  }
  operands.push_back((from + count).value);
  next.parameter(count_type());
  const Quantity until = {&condition, condition.parameter(count_type())};
  for (std::uint32_t i : loop_.known_captures) {
    operands.push_back(state.known[i]);
    known[i] = next.parameter(s_.type_of_operand(i));
    condition.parameter(s_.type_of_operand(i));
  }
  std::vector<Value> outputs = {(number + 1).value};
  std::uint32_t parameter = 0;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    if (!loop_.linear[i]) copier.rename(parameter++, known[i]);
  }
  copier.copy_body();
  for (std::uint32_t i = 0, own = 0; i < node_.types.size(); ++i) {
    if (loop_.linear[i]) continue;
    if (i != counter_) outputs.push_back(copier(turn.outputs()[own]));
    ++own;
  }
  const Value made =
      graph.add(Op::while_, std::move(operands), node_.attributes, std::nullopt,
                {condition.build({(asked < until).value}), without_dead_nodes(next.build(outputs))},
                node_.location);
  std::vector<Value> reached;
  for (std::uint32_t k = 0; k < carries.size(); ++k) reached.push_back({made.node, k + 1});
  return reached;
}

// Branches of a turn of the loop backwards. Their operands: what it carries and captures, where the
// state that was reached is, and its known carries.
Graph Checkpointed::keep() const {
  GraphBuilder graph("keep");
  State state = parameters(graph);
  const Quantity place = {&graph, graph.parameter(count_type())};
  std::vector<Quantity> reached;
  for (std::uint32_t i : loop_.known_carries) {
    reached.push_back({&graph, graph.parameter(node_.types[i])});
  }
  for (std::size_t k = 0; k < reached.size(); ++k) {
    state.stacks[k] = Quantity{&graph, state.stacks[k]}.with_row(state.top, reached[k]).value;
  }
  state.positions = state.positions.with_row(state.top, place);
  state.top = state.top + 1;
  return graph.build(carried(state));
}

// Takes turn end - 1 backwards; the kept state goes when no turn is left behind it.
Graph Checkpointed::take_turn() const {
  GraphBuilder graph("take_turn");
  State state = parameters(graph);
  const Quantity place = {&graph, graph.parameter(count_type())};
  std::vector<Value> known = state.known;
  for (std::uint32_t i : loop_.known_carries) known[i] = graph.parameter(node_.types[i]);
  known[counter_] = place.value;
  const std::vector<Value> given =
      loop_.transposed_turn(graph, known, state.cotangents, state.sums);
  const auto carries = static_cast<std::ptrdiff_t>(state.cotangents.size());
  state.cotangents.assign(given.begin(), given.begin() + carries);
  state.sums.assign(given.begin() + carries, given.end());
  state.end = state.end - 1;
  const Quantity kept = state.positions.row(state.top - 1);
  state.top = select(kept == state.end, state.top - 1, state.top);
  return graph.build(carried(state));
}

Graph Checkpointed::backward_turn() const {
  GraphBuilder graph(node_.regions[1].name());
  const State state = parameters(graph);
  const Quantity last = state.top - 1;
  const Quantity from = state.positions.row(last), left = state.end - from;
  const Quantity free = scalar(graph, states_) - state.top;
  const Quantity is_turn = (left <= scalar(graph, 1)) | (free <= scalar(graph, 0));
  const Quantity count = select(is_turn, left - 1, stride(graph, left, free, states_));
  std::vector<Value> carries;
  for (Value stack : state.stacks) carries.push_back(Quantity{&graph, stack}.row(last).value);
  carries = forward(graph, state, from, count, carries);
  std::vector<Value> operands = {is_turn.as(Dtype::i32).value};
  for (const auto& part : {carried(state), captures(state)}) {
    operands.insert(operands.end(), part.begin(), part.end());
  }
  operands.push_back((from + count).value);
  operands.insert(operands.end(), carries.begin(), carries.end());
  const Value made = graph.add(Op::case_, std::move(operands), NoAttributes{}, std::nullopt,
                               {keep(), take_turn()}, node_.location);
  std::vector<Value> outputs;
  for (std::uint32_t i = 0; i < carried(state).size(); ++i) outputs.push_back({made.node, i});
  return graph.build(std::move(outputs));
}

void Checkpointed::transpose() {
  GraphBuilder& graph = s_.graph;
  State state;
  const CountedLoop& counted = loop_.counted;
  state.end = counted.bound ? s_.in(*counted.bound) : scalar(graph, *counted.constant_bound);
  state.top = scalar(graph, 1);
  state.positions = Quantity::zeros(graph, stack_type(count_type()));
  for (std::uint32_t i : loop_.known_carries) {
    const Quantity stack = Quantity::zeros(graph, stack_type(node_.types[i]));
    state.stacks.push_back(stack.with_row(scalar(graph, 0), s_.in(i)).value);
  }
  for (std::uint32_t i : loop_.linear_carries) state.cotangents.push_back(s_.cotangent(i).value);
  for (std::uint32_t i : loop_.linear_captures) state.sums.push_back(loop_.begun_sum(s_, i).value);
  state.known.resize(node_.inputs.size());
  for (std::uint32_t i : loop_.known_captures) state.known[i] = s_.in(i).value;
  std::vector<Value> operands = carried(state);
  const std::vector<Value> captured = captures(state);
  operands.insert(operands.end(), captured.begin(), captured.end());
  GraphBuilder condition("condition");
  const State asked = parameters(condition);
  const Quantity is_left = asked.end > scalar(condition, 0);
  const Value made = graph.add(Op::while_, std::move(operands), node_.attributes, std::nullopt,
                               {condition.build({is_left.value}), backward_turn()}, node_.location);
  loop_.take_results(s_, {made.node, static_cast<std::uint32_t>(3 + state.stacks.size())});
}

}  // namespace

void transpose_with_checkpoints(const TransposeStep& step, const LinearLoop& loop) {
  Checkpointed(step, loop).transpose();
}

}  // namespace anabranch
