// Loops whose turns are known when they are traced, taken apart: what each turn's linear part needs
// is kept in stacks, or computed again.
#include <algorithm>
#include <utility>

#include "passes/dce.h"
#include "passes/transform/marks.h"
#include "passes/transform/quantity.h"
#include "passes/transform/splitter.h"

namespace anabranch {
namespace {

// Whether a node costs little enough to be computed again rather than stored.
bool is_cheap(const Node& node) {
  return is_elementwise(node.op) || is_index(node.op) || node.op == Op::constant ||
         node.op == Op::iota || is_mark(node);
}

// Which values of a turn change from turn to turn, and which of these depend on the counter alone,
// by ops that cost little.
struct Varying {
  Flags varies;    // per node: depends on a carry
  Flags by_count;  // per node: on the counter alone, and is cheap
};

Varying varying(const Graph& turn, std::size_t carried, std::uint32_t counter) {
  Varying found;
  for (std::uint32_t i = 0; i < turn.nodes().size(); ++i) {
    const Node& node = turn.node(i);
    bool varies = i < carried, by_count = i == counter;
    if (node.op != Op::parameter) {
      varies = false;
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

template <class List, class T>
std::size_t position(const List& list, const T& item) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), item) - list.begin());
}

}  // namespace

// The known loop keeps what the linear one needs of each turn in stacks, but for what does not
// change from turn to turn, which is computed once, before it, and for what the number of the turn
// and cheap ops give.
class Splitter::Counted {
 public:
  Counted(Splitter& splitter, std::uint32_t index, const Flags& carries, const Linearized& body,
          const KnownTurns& turns)
      : splitter_(splitter),
        node_(splitter.graph_.node(index)),
        body_(body),
        turn_(body.known),
        turns_(turns),
        step_(node_.regions[1].name()),
        more_(node_.regions[0].name()),
        once_(turn_, splitter.known_),
        again_(turn_, step_),
        is_there_(turn_.nodes().size()) {
    sort_operands(carries);
    own_counter_ = index_of(position(known_carries_, turns.counter));
    how_ = varying(turn_, known_carries_.size(), own_counter_);
    sort_residuals();
  }

  void split(std::uint32_t index, const Flags& carries) {
    known_loop();
    compute_once();
    splitter_.place_results(index, carries, known_, linear_loop());
  }

 private:
  using Positions = std::vector<std::uint32_t>;

  void sort_operands(const Flags& carries);
  void sort_residuals();
  void known_loop();
  std::vector<Value> known_operands() const;
  std::vector<Value> known_outputs(GraphBuilder& next, const GraphCopier& copier,
                                   const std::vector<Value>& stacks) const;
  void compute_once();
  Value linear_loop();
  Value captured(Value of_known);
  Value recomputed(Value value);
  Value in_turn(Value residual);

  Splitter& splitter_;
  const Node& node_;
  const Linearized& body_;
  const Graph& turn_;
  const KnownTurns turns_;
  Positions known_carries_, linear_carries_, known_captures_, linear_captures_;  // as operands
  std::uint32_t own_counter_ = 0;  // among the known carries
  Varying how_;
  std::vector<Value> residuals_, stacked_;  // of the known turn
  Value known_;                             // the loop

  // The linear loop, while it is made.
  GraphBuilder step_, more_;                               // its body and its condition
  Quantity number_;                                        // of the turn, in the body
  std::vector<Value> starts_, captures_;                   // its operands
  std::vector<std::pair<Value, Value>> captures_in_step_;  // values of the known graph, and those
  GraphCopier once_;   // what does not change, in the known graph
  GraphCopier again_;  // what is computed again, in the body
  Flags is_there_;     // per node of the turn: whether `again_` has it
};

void Splitter::Counted::sort_operands(const Flags& carries) {
  const std::size_t carried = carries.size();
  for (std::uint32_t i = 0; i < node_.inputs.size(); ++i) {
    if (i < carried) {
      (carries[i] ? linear_carries_ : known_carries_).push_back(i);
    } else {
      (splitter_.is_linear(node_.inputs[i]) ? linear_captures_ : known_captures_).push_back(i);
    }
  }
}

void Splitter::Counted::sort_residuals() {
  const auto kept = static_cast<std::ptrdiff_t>(known_carries_.size());
  residuals_.assign(turn_.outputs().begin() + kept, turn_.outputs().end());
  for (Value value : residuals_) {
    const bool is_stacked = how_.varies[value.node] && !how_.by_count[value.node];
    if (is_stacked && position(stacked_, value) == stacked_.size()) stacked_.push_back(value);
  }
}

// --- the known loop: known carries, stacks; known captures ---------------------------------------

std::vector<Value> Splitter::Counted::known_operands() const {
  std::vector<Value> operands;
  for (std::uint32_t i : known_carries_) {
    operands.push_back(splitter_.known_copier_(node_.inputs[i]));
  }
  for (Value value : stacked_) {
    const Type stack = with_first_axis(turn_.type(value), turns_.count);
    operands.push_back(Quantity::zeros(splitter_.known_, stack).value);
  }
  for (std::uint32_t i : known_captures_) {
    operands.push_back(splitter_.known_copier_(node_.inputs[i]));
  }
  return operands;
}

void Splitter::Counted::known_loop() {
  const std::vector<Value> operands = known_operands();
  const std::size_t kept = known_carries_.size(), count = stacked_.size();
  GraphBuilder next(node_.regions[1].name()), condition(node_.regions[0].name());
  GraphCopier copier(turn_, next), condition_copier(node_.regions[0], condition);
  std::vector<Value> stacks;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type type = splitter_.known_.type(operands[i]);
    const Value own = next.parameter(type), asked = condition.parameter(type);
    if (i >= kept && i < kept + count) {
      stacks.push_back(own);
      continue;
    }
    const std::size_t at = i < kept ? i : i - count;
    copier.rename(index_of(at), own);
    condition_copier.rename(i < kept ? known_carries_[i] : known_captures_[at - kept], asked);
  }
  copier.copy_body();
  condition_copier.copy_body();
  std::vector<Value> outputs = known_outputs(next, copier, stacks);
  known_ = splitter_.known_.add(Op::while_, operands, node_.attributes, std::nullopt,
                                {condition.build(condition_copier(node_.regions[0].outputs())),
                                 without_dead_nodes(next.build(std::move(outputs)))},
                                node_.location);
}

std::vector<Value> Splitter::Counted::known_outputs(GraphBuilder& next, const GraphCopier& copier,
                                                    const std::vector<Value>& stacks) const {
  std::vector<Value> outputs = copier(turn_.outputs().first(known_carries_.size()));
  // Not in the counter's dtype, which may be too narrow for the number of turns.
  const Quantity count = Quantity{&next, {own_counter_, 0}}.as(Dtype::i64);
  const Quantity place = turns_.first == 0 ? count : count - static_cast<double>(turns_.first);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const Quantity row = {&next, copier(stacked_[i])};
    outputs.push_back(Quantity{&next, stacks[i]}.with_row(place, row).value);
  }
  return outputs;
}

// What does not change, before the loop.
void Splitter::Counted::compute_once() {
  for (std::size_t i = 0; i < known_captures_.size(); ++i) {
    once_.rename(index_of(known_carries_.size() + i),
                 splitter_.known_copier_(node_.inputs[known_captures_[i]]));
  }
  for (std::uint32_t i = index_of(turn_.parameter_count()); i < turn_.nodes().size(); ++i) {
    if (!how_.varies[i]) once_.copy(i);
  }
}

// --- the linear loop: the number of the turn, linear carries; linear captures, then residuals ----

// What a turn of it reads: a stack, or a value that does not change.
Value Splitter::Counted::captured(Value of_known) {
  for (const auto& [from, to] : captures_in_step_) {
    if (from == of_known) return to;
  }
  const Value outer = splitter_.residual(of_known);
  const std::size_t at = position(captures_, outer);
  Value in_step = {index_of(starts_.size() + at), 0};
  if (at == captures_.size()) {
    captures_.push_back(outer);
    const Type type = splitter_.linear_.type(outer);
    more_.late_parameter(type);
    in_step = step_.late_parameter(type);
  }
  captures_in_step_.emplace_back(of_known, in_step);
  return in_step;
}

// A value that does not change, or that the number of the turn gives.
Value Splitter::Counted::recomputed(Value value) {
  if (is_there_[value.node] && how_.varies[value.node]) return again_(value);
  const Node& node = turn_.node(value);
  const bool is_constant = node.op == Op::constant || node.op == Op::iota;
  if (how_.varies[value.node]) {
    for (Value input : node.inputs) recomputed(input);
    again_.copy(value.node);
  } else if (!is_constant) {
    again_.rename(value, captured(once_(value)));
  } else if (!is_there_[value.node]) {
    again_.copy(value.node);
  }
  is_there_[value.node] = true;
  return again_(value);
}

Value Splitter::Counted::in_turn(Value residual) {
  const std::size_t at = position(stacked_, residual);
  if (at == stacked_.size()) return recomputed(residual);
  const Value stack = {known_.node, index_of(known_carries_.size() + at)};
  return Quantity{&step_, captured(stack)}.row(number_).value;
}

Value Splitter::Counted::linear_loop() {
  GraphBuilder& linear = splitter_.linear_;
  const Quantity zero = Quantity::zeros(linear, {Dtype::i64, {}});
  starts_ = {zero.value};
  for (std::uint32_t i : linear_carries_) starts_.push_back(splitter_.in_linear(node_.inputs[i]));
  for (std::uint32_t i : linear_captures_) {
    captures_.push_back(splitter_.in_linear(node_.inputs[i]));
  }
  GraphCopier copier(body_.linear, step_);
  number_ = {&step_, step_.parameter(zero.type())};
  const Quantity asked = {&more_, more_.parameter(zero.type())};
  std::uint32_t parameter = 0;
  const auto take = [&](Value operand) {
    const Type type = linear.type(operand);
    copier.rename(parameter++, step_.parameter(type));
    more_.parameter(type);
  };
  std::for_each(starts_.begin() + 1, starts_.end(), take);
  std::for_each(captures_.begin(), captures_.end(), take);

  const Quantity counter =
      turns_.first == 0 ? number_ : number_ + static_cast<double>(turns_.first);
  again_.rename(own_counter_, counter.as(turn_.parameter_type(own_counter_).dtype).value);
  is_there_[own_counter_] = true;
  for (Value value : residuals_) copier.rename(parameter++, in_turn(value));
  copier.copy_body();
  std::vector<Value> outputs = copier(body_.linear.outputs());
  outputs.insert(outputs.begin(), (number_ + 1).value);
  const Quantity is_left = asked < asked.number(static_cast<double>(turns_.count));
  std::vector<Value> operands = starts_;
  operands.insert(operands.end(), captures_.begin(), captures_.end());
  Value made =
      linear.add(Op::while_, std::move(operands), node_.attributes, std::nullopt,
                 {more_.build({is_left.value}), step_.build(std::move(outputs))}, node_.location);
  ++made.result;
  return made;
}

void Splitter::counted(std::uint32_t index, const Flags& carries, const Linearized& body,
                       const KnownTurns& turns) {
  Counted(*this, index, carries, body, turns).split(index, carries);
}

}  // namespace anabranch
