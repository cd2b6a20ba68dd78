#include "ir/pointwise_loop.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/checked.h"
#include "ir/masked_loop.h"
#include "ir/operand_index.h"
#include "ir/place_in.h"
#include "ir/scalar_index.h"

namespace anabranch {
namespace {

/// Looks at the body of a loop, node by node.
class LoopAnalysis {
 public:
  LoopAnalysis(const Graph& graph, const Node& loop)
      : graph_(graph),
        loop_(loop),
        body_(loop.regions[1]),
        uses_(body_.nodes().size()),
        depends_(body_.nodes().size()) {}

  std::variant<PointwiseLoop, std::string> run() {
    using Step = void (LoopAnalysis::*)();
    for (Step step :
         {&LoopAnalysis::find_turns, &LoopAnalysis::find_roles, &LoopAnalysis::find_domain,
          &LoopAnalysis::check_body, &LoopAnalysis::check_outputs}) {
      (this->*step)();
      if (refusal_) return std::move(*refusal_);
    }
    return std::move(made_);
  }

 private:
  void refuse(std::string why) {
    if (!refusal_) refusal_ = std::move(why);
  }

  std::uint32_t carries() const { return static_cast<std::uint32_t>(loop_.types.size()); }

  void find_turns() {
    if (const auto counted = known_turns(graph_, loop_)) {
      made_.turns = *counted;
    } else if (const auto mask = mask_of(loop_)) {
      made_.turns = TurnsWhile{*mask};
    } else {
      return refuse("its turns are not known before it runs, and no place ends by itself");
    }
    for (const Node& node : body_.nodes()) {
      for (Value input : node.inputs) ++uses_[input.node];
    }
    for (Value output : body_.outputs()) ++uses_[output.node];
  }

  bool is_stack(std::uint32_t carry) const {
    if (!made_.counted()) return false;
    const Value output = body_.outputs()[carry];
    const Node& update = body_.node(output);
    return update.op == Op::dynamic_update_slice && update.inputs[0] == Value{carry, 0} &&
           uses_[carry] == 1 && uses_[output.node] == 1;
  }

  void find_roles() {
    const KnownTurns* counted = made_.counted();
    for (std::uint32_t i = 0; i < carries(); ++i) {
      made_.roles.push_back(counted && i == counted->counter ? CarryRole::counter
                            : is_stack(i)                    ? CarryRole::stack
                            : loop_.types[i].rank() == 0     ? CarryRole::uniform
                                                             : CarryRole::element);
    }
    made_.is_covered.resize(carries());
  }

  // That of the first array that each place has an element of.
  void find_domain() {
    const auto first = std::ranges::find(made_.roles, CarryRole::element);
    if (first == made_.roles.end()) return refuse("it carries no array whose elements it computes");
    made_.domain = loop_.types[static_cast<std::size_t>(first - made_.roles.begin())].shape;
    for (int axis = 0; axis < made_.domain.rank(); ++axis) {
      place_.push_back(table_.loop(static_cast<std::uint32_t>(axis), made_.domain[axis]));
    }
    if (const KnownTurns* counted = made_.counted()) {
      turn_ = table_.loop(static_cast<std::uint32_t>(made_.domain.rank()), counted->count);
    }
    for (std::uint32_t i = 0; i < carries(); ++i) {
      if (made_.roles[i] == CarryRole::element && !has_domain(loop_.types[i].shape)) {
        return refuse(to_string(loop_.types[i]) + " is carried, and the places are those of " +
                      to_string(made_.domain));
      }
      depends_[i] = made_.roles[i] == CarryRole::element;
    }
  }

  void demand_domain(std::uint32_t node, const Shape& shape) {
    if (has_domain(shape)) return;
    refuse(std::string(name(body_.node(node).op)) + " has shape " + to_string(shape) +
           ", and the places are those of " + to_string(made_.domain));
  }

  bool has_domain(const Shape& shape) { return place_of(shape).has_value(); }

  // The place at hand.
  std::optional<std::vector<Index>> place_of(const Shape& shape) {
    return place_in(shape, made_.domain.sizes(), place_, table_);
  }

  void check_body() {
    for (std::uint32_t i = 0; i < body_.nodes().size() && !refusal_; ++i) check(i);
  }

  // What depends on an array that is carried is of the domain, and is computed from what is at the
  // same place; anything else may be asked for at any place.
  void check(std::uint32_t index) {
    const Node& node = body_.node(index);
    if (node.op == Op::parameter) return;
    if (node.op == Op::constant) {
      if (!node.as<ConstantAttributes>().value.is_splat()) refuse("it has an array of constants");
      return;
    }
    const bool is_mapped = is_elementwise(node.op) || info(node.op).kind == OpKind::leaf;
    if (!is_mapped && !is_index(node.op)) {
      return refuse(std::string(name(node.op)) + " is not computed element by element");
    }
    if (is_stored(index)) return;
    for (Value input : node.inputs) {
      if (input.node < carries() && made_.roles[input.node] == CarryRole::stack) {
        return refuse("it reads an array that it stores to");
      }
      depends_[index] |= depends_[input.node];
    }
    made_.operations += operations_per_element(node.op);
    ++made_.instructions;
    if (!depends_[index]) return;
    demand_domain(index, node.types[0].shape);
    if (!refusal_ && is_index(node.op)) check_map(node);
  }

  // Whether `node` is a stack's next state, which no other node reads.
  bool is_stored(std::uint32_t node) const {
    for (std::uint32_t i = 0; i < carries(); ++i) {
      if (made_.roles[i] == CarryRole::stack && body_.outputs()[i].node == node) return true;
    }
    return false;
  }

  void check_map(const Node& node) {
    const auto elsewhere = [&] {
      refuse(std::string(name(node.op)) + " reads a carried array at another place");
    };
    const std::vector<Index> result = *place_of(node.types[0].shape);
    const std::vector<Start> starts = starts_of(body_, node, result, table_);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!depends_[node.inputs[k].node]) continue;
      const auto own = place_of(body_.type(node.inputs[k]).shape);
      if (!own) return elsewhere();
      if (is_start(node, k)) {
        for (const Start& start : starts) {
          if (start.operand == k && start.at != *own) return elsewhere();
        }
        continue;
      }
      if (!starts.empty()) return elsewhere();
      const OperandIndex from = operand_index(body_, node, k, result, {}, table_);
      if (!from.within.empty() || from.at != *own) return elsewhere();
    }
  }

  void check_outputs() {
    for (std::uint32_t i = 0; i < carries() && !refusal_; ++i) {
      const Value output = body_.outputs()[i];
      if (made_.roles[i] == CarryRole::stack) {
        check_stack(i, body_.node(output));
      } else if (made_.roles[i] == CarryRole::uniform && depends_[output.node]) {
        refuse("a scalar that it carries depends on arrays that it carries");
      }
    }
  }

  void check_stack(std::uint32_t carry, const Node& update) {
    const Shape& block = body_.type(update.inputs[1]).shape;
    if (!has_domain(block)) return refuse("it stores blocks of shape " + to_string(block));
    const Shape& stack = loop_.types[carry].shape;
    const std::int64_t turns = made_.counted()->count;
    int moving = 0;
    bool covers = true;
    for (int axis = 0; axis < stack.rank(); ++axis) {
      if (block[axis] == stack[axis]) continue;
      ++moving;
      covers = covers && block[axis] == 1 && stack[axis] == turns &&
               is_each_once(update.inputs[static_cast<std::size_t>(2 + axis)], stack[axis]);
    }
    made_.is_covered[carry] = covers && moving <= 1;
    for (std::size_t k = 1; k < update.inputs.size(); ++k) {
      const Value input = update.inputs[k];
      if (k > 1 && depends_[input.node]) return refuse("it stores where a carried array says");
      if (input.node < carries() && made_.roles[input.node] == CarryRole::stack) {
        return refuse("it reads an array that it stores to");
      }
    }
  }

  // Whether a start is each of 0 to `size - 1` in one of as many turns.
  bool is_each_once(Value start, std::int64_t size) {
    const auto known = [&](Value value) -> std::optional<Index> {
      const KnownTurns& turns = *made_.counted();
      if (value != Value{turns.counter, 0}) return {};
      return table_.add(turn_, turns.first);
    };
    const auto place = scalar_index(body_, start, known, table_);
    if (!place) return false;
    const IndexTable::Expression& expression = table_[*place];
    if (expression.low != 0 || expression.high != size - 1) return false;
    const auto axis = static_cast<std::uint32_t>(made_.domain.rank());
    return size == 1 ||
           (table_.is_linear_in(*place, axis) && std::abs(table_.factor(*place, axis)) == 1);
  }

  const Graph& graph_;
  const Node& loop_;
  const Graph& body_;
  std::vector<int> uses_;      // per node of the body
  std::vector<char> depends_;  // per node of the body: on an array that is carried
  IndexTable table_;           // a loop is an axis of the domain, the last one the turns
  std::vector<Index> place_;   // the place at hand
  Index turn_;
  PointwiseLoop made_;
  std::optional<std::string> refusal_;
};

}  // namespace

std::variant<PointwiseLoop, std::string> pointwise_loop(const Graph& graph, const Node& loop) {
  return LoopAnalysis(graph, loop).run();
}

const Node* whole_loop(const Graph& region) {
  const Node* found = nullptr;
  for (const Node& node : region.nodes()) {
    if (found) return nullptr;
    if (node.op == Op::while_) found = &node;
    const bool is_inline =
        info(node.op).kind == OpKind::leaf || is_index(node.op) || is_elementwise(node.op);
    if (!found && !is_inline) return nullptr;
  }
  return found;
}

std::variant<FusionPlan, std::string> plan_loop(const Graph& region) {
  const Node& loop = *whole_loop(region);
  auto found = pointwise_loop(region, loop);
  if (auto* why = std::get_if<std::string>(&found)) return "the loop is not pointwise: " + *why;
  const auto& made = std::get<PointwiseLoop>(found);
  FusionPlan plan;
  plan.kind = FusionKind::loop;
  plan.domain = made.domain;
  plan.stage.assign(region.nodes().size(), 0);
  plan.instructions = made.instructions;
  const std::int64_t turns = made.counted() ? made.counted()->count : unknown_turns;
  plan.operations =
      saturating_multiply(made.operations, saturating_multiply(turns, made.domain.size()));
  for (std::uint32_t i = 0; i < region.outputs().size(); ++i) {
    const Value output = region.outputs()[i];
    if (region.node(output).op != Op::while_) return "it hands on an operand";
    plan.is_row.push_back(0);
    const CarryRole role = made.roles[output.result];
    if (role == CarryRole::element) continue;
    if (role != CarryRole::stack) return "a scalar that the loop carries is a result";
    if (made.is_covered[output.result]) continue;
    const Value array = loop.inputs[output.result];
    if (region.node(array).op != Op::parameter) return "an array of constants is stored to";
    std::ptrdiff_t uses = 0;
    for (const Node& node : region.nodes()) uses += std::ranges::count(node.inputs, array);
    if (uses > 1) return "it reads an array that it stores to";
    plan.updates.push_back({i, array.node});
  }
  return plan;
}

}  // namespace anabranch
