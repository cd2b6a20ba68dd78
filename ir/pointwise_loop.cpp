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

using Axes = std::vector<int>;              // per axis of the domain
constexpr int none = -1;                    // of an axis of size 1
constexpr std::int64_t most_elements = 16;  // of one op for each place
constexpr std::int64_t most_copies = 2048;  // of all ops, beyond one for each place

/// At how many places the nodes of a graph are asked for, for one place of a domain: all that is
/// asked for is computed, and a chain of index maps may ask for more with each of them.
class PlacesAsked {
 public:
  PlacesAsked(const Graph& graph, const Shape& domain)
      : graph_(graph), domain_(domain), operands_(graph), asked_(graph.nodes().size()) {
    for (int axis = 0; axis < domain.rank(); ++axis) {
      place_.push_back(operands_.table().loop(static_cast<std::uint32_t>(axis), domain[axis]));
    }
  }

  /// For the element at the place at hand; what has none there counts for nothing.
  void ask(Value value) {
    const auto place =
        place_in(graph_.type(value).shape, domain_.sizes(), place_, operands_.table());
    if (place) ask(value, operands_.points()(*place));
  }

  bool are_few() {
    const std::size_t most = 16 * asked_.size() + 64;
    for (std::uint32_t i = static_cast<std::uint32_t>(asked_.size()); i-- > 0;) {
      const Node& node = graph_.node({i, 0});
      if (is_control(node.op)) continue;
      for (std::size_t k = 0; k < asked_[i].size(); ++k) {
        if (count_ > most) return false;
        ask_operands(node, asked_[i][k]);
      }
    }
    return true;
  }

 private:
  void ask(Value value, Point at) {
    std::vector<Point>& asked = asked_[value.node];
    if (std::ranges::find(asked, at) != asked.end()) return;
    asked.push_back(at);
    ++count_;
  }

  void ask_operands(const Node& node, Point at) {
    if (is_index(node.op)) {
      for (Start& start : starts_of(graph_, node, operands_.points()[at], operands_.table())) {
        ask(node.inputs[start.operand], operands_.points()(std::move(start.at)));
      }
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (!is_start(node, k)) ask(node.inputs[k], operands_.operand(node, k, at));
      }
    } else if (const auto elements = elements_written_out(graph_, node)) {
      for (std::int64_t number = 0; number < *elements; ++number) {
        ask(node.inputs[0], operands_.points()(element_index(
                                graph_, node, number, operands_.points()[at], operands_.table())));
      }
    } else {
      for (Value input : node.inputs) ask(input, at);
    }
  }

  const Graph& graph_;
  const Shape& domain_;
  OperandPoints operands_;
  std::vector<Index> place_;
  std::vector<std::vector<Point>> asked_;  // per node
  std::size_t count_ = 0;
};

/// Looks at the body of a loop, node by node.
class LoopAnalysis {
 public:
  LoopAnalysis(const Graph& graph, const Node& loop)
      : graph_(graph),
        loop_(loop),
        body_(loop.regions[1]),
        depends_(body_.nodes().size()),
        axes_(body_.nodes().size()) {}

  std::variant<PointwiseLoop, std::string> run() {
    using Step = void (LoopAnalysis::*)();
    for (Step step :
         {&LoopAnalysis::find_turns, &LoopAnalysis::find_roles, &LoopAnalysis::find_domain,
          &LoopAnalysis::check_body, &LoopAnalysis::check_outputs, &LoopAnalysis::check_places}) {
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
  }

  void find_roles() {
    const KnownTurns* counted = made_.counted();
    const std::vector<char> is_written = written_in_blocks(loop_);
    for (std::uint32_t i = 0; i < carries(); ++i) {
      made_.roles.push_back(counted && i == counted->counter ? CarryRole::counter
                            : counted && is_written[i]       ? CarryRole::stack
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

  bool has_domain(const Shape& shape) { return place_of(shape).has_value(); }

  // The place at hand.
  std::optional<std::vector<Index>> place_of(const Shape& shape) {
    return place_in(shape, made_.domain.sizes(), place_, table_);
  }

  void check_body() {
    for (std::uint32_t i = 0; i < body_.nodes().size() && !refusal_; ++i) check(i);
  }

  // What depends on an array that is carried is computed from what is at the same place; anything
  // else may be asked for at any place.
  void check(std::uint32_t index) {
    const Node& node = body_.node(index);
    if (node.op == Op::parameter) {
      if (depends_[index]) axes_[index] = *axes_of(node.types[0].shape);
      return;
    }
    if (node.op == Op::constant) {
      if (!node.as<ConstantAttributes>().value.is_splat()) refuse("it has an array of constants");
      return;
    }
    const bool is_mapped =
        is_elementwise(node.op) || info(node.op).kind == OpKind::leaf || is_index(node.op);
    const auto reduced = elements_written_out(body_, node);
    if (!is_mapped && !reduced) {
      return refuse(std::string(name(node.op)) + " is not computed element by element");
    }
    if (is_stored(index)) return;
    for (Value input : node.inputs) {
      if (input.node < carries() && made_.roles[input.node] == CarryRole::stack) {
        return refuse("it reads an array that it stores to");
      }
      depends_[index] |= depends_[input.node];
    }
    std::int64_t elements = reduced.value_or(1);
    if (depends_[index]) {
      find_axes(index);
      if (refusal_) return;
      elements *= elements_of_a_place(node);
      if (elements > most_elements) {
        return refuse(std::string(name(node.op)) + " has " + std::to_string(elements) +
                      " elements for each place");
      }
    }
    made_.operations += elements * operations_per_element(node.op);
    made_.instructions += elements;
    copies_ += elements - 1;
    if (copies_ > most_copies) refuse("places have too many elements of what is not carried");
  }

  std::int64_t elements_of_a_place(const Node& node) const {
    return node.types[0].shape.size() / std::max<std::int64_t>(made_.domain.size(), 1);
  }

  // Which axes of a value are the domain's: where it reads what depends on carried arrays, those
  // lead on.
  void find_axes(std::uint32_t index) {
    const Node& node = body_.node(index);
    const Shape& shape = node.types[0].shape;
    IndexTable table;
    std::vector<Index> result, read_from;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      result.push_back(table.loop(static_cast<std::uint32_t>(axis), shape[axis]));
    }
    std::vector<Start> starts;
    if (is_index(node.op)) starts = starts_of(body_, node, result, table);
    for (const Start& start : starts) {
      const auto number = static_cast<std::uint32_t>(result.size() + read_from.size());
      read_from.push_back(table.loop(number, std::max<std::int64_t>(start.room, 0) + 1));
    }
    Axes axes(static_cast<std::size_t>(made_.domain.rank()), none);
    for (std::size_t k = 0; k < node.inputs.size() && !refusal_; ++k) {
      const std::uint32_t input = node.inputs[k].node;
      if (!depends_[input]) continue;
      if (!is_index(node.op)) {
        lead(node, axes_[input], place_read(node, result, table), result, axes);
      } else if (!is_start(node, k)) {
        const OperandIndex from = operand_index(body_, node, k, result, read_from, table);
        lead(node, axes_[input], from.at, result, axes);
      }
      for (const Start& start : starts) {
        if (start.operand == k) lead(node, axes_[input], start.at, result, axes);
      }
    }
    axes_[index] = std::move(axes);
  }

  // Of an elementwise op the same, of a reduction with a place for each axis that is reduced.
  std::vector<Index> place_read(const Node& node, const std::vector<Index>& result,
                                IndexTable& table) const {
    if (is_elementwise(node.op)) return result;
    std::vector<Index> place = result;
    for (std::int64_t axis : node.as<AxesAttributes>().axes) {
      place.insert(place.begin() + axis, table.constant(0));
    }
    return place;
  }

  // The operand is read at `from`; its axes `own` are those of the domain.
  void lead(const Node& node, const Axes& own, const std::vector<Index>& from,
            const std::vector<Index>& result, Axes& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (own[i] == none) continue;
      const auto found = std::ranges::find(result, from[static_cast<std::size_t>(own[i])]);
      const auto axis = static_cast<int>(found - result.begin());
      const bool is_whole =
          found != result.end() && node.types[0].shape[axis] == made_.domain[static_cast<int>(i)];
      if (!is_whole || (axes[i] != none && axes[i] != axis)) {
        return refuse(std::string(name(node.op)) + " reads a carried array at another place");
      }
      axes[i] = axis;
    }
  }

  // Those of an array of which each place has one element; nothing of any other shape.
  std::optional<Axes> axes_of(const Shape& shape) {
    const auto place = place_of(shape);
    if (!place) return {};
    Axes axes(place_.size(), none);
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (made_.domain[static_cast<int>(i)] == 1) continue;
      axes[i] = static_cast<int>(std::ranges::find(*place, place_[i]) - place->begin());
    }
    return axes;
  }

  // Whether `value` has an element for each place, and that there.
  bool is_in_place(Value value) {
    const auto axes = axes_of(body_.type(value).shape);
    return axes && (!depends_[value.node] || axes_[value.node] == *axes);
  }

  // Whether `node` is a stack's next state, which no other node reads.
  bool is_stored(std::uint32_t node) const {
    for (std::uint32_t i = 0; i < carries(); ++i) {
      if (made_.roles[i] == CarryRole::stack && body_.outputs()[i].node == node) return true;
    }
    return false;
  }

  void check_outputs() {
    for (std::uint32_t i = 0; i < carries() && !refusal_; ++i) {
      const Value output = body_.outputs()[i];
      if (made_.roles[i] == CarryRole::stack) {
        check_stack(i, body_.node(output));
      } else if (made_.roles[i] == CarryRole::uniform && depends_[output.node]) {
        refuse("a scalar that it carries depends on arrays that it carries");
      } else if (made_.roles[i] == CarryRole::element && !is_in_place(output)) {
        refuse("it carries elements to other places");
      }
    }
  }

  void check_stack(std::uint32_t carry, const Node& update) {
    const Shape& block = body_.type(update.inputs[1]).shape;
    if (!is_in_place(update.inputs[1])) {
      return refuse("it stores blocks of shape " + to_string(block));
    }
    const Shape& stack = loop_.types[carry].shape;
    const std::int64_t turns = made_.counted()->count;
    int moving = 0;
    bool covers = true;
    for (int axis = 0; axis < stack.rank(); ++axis) {
      if (block[axis] == stack[axis]) continue;
      const Value start = update.inputs[static_cast<std::size_t>(2 + axis)];
      // A place that stores to what another one stored to in an earlier turn would be too early.
      if (block[axis] > 1 && !is_the_same_in_all_turns(start)) {
        return refuse("it stores blocks of shape " + to_string(block) + " that may overlap");
      }
      ++moving;
      covers =
          covers && block[axis] == 1 && stack[axis] == turns && is_each_once(start, stack[axis]);
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

  bool is_the_same_in_all_turns(Value start) const {
    const Node& node = body_.node(start);
    return node.op == Op::constant || (node.op == Op::parameter && start.node >= carries());
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

  void check_places() {
    PlacesAsked places(body_, made_.domain);
    for (std::uint32_t i = 0; i < carries(); ++i) {
      const Node& node = body_.node(body_.outputs()[i]);
      if (made_.roles[i] == CarryRole::stack) {
        for (std::size_t k = 1; k < node.inputs.size(); ++k) places.ask(node.inputs[k]);
      } else {
        places.ask(body_.outputs()[i]);
      }
    }
    if (!places.are_few()) refuse("its index maps ask for too many places per element");
  }

  const Graph& graph_;
  const Node& loop_;
  const Graph& body_;
  std::vector<char> depends_;  // per node of the body: on an array that is carried
  std::vector<Axes> axes_;     // per node of the body that does: which of its axes are the domain's
  IndexTable table_;           // a loop is an axis of the domain, the last one the turns
  std::vector<Index> place_;   // the place at hand
  Index turn_;
  std::int64_t copies_ = 0;
  PointwiseLoop made_;
  std::optional<std::string> refusal_;
};

}  // namespace

std::optional<std::int64_t> elements_written_out(const Graph& graph, const Node& node) {
  static constexpr Op ops[] = {Op::reduce_sum, Op::reduce_product, Op::reduce_max,
                               Op::reduce_min, Op::reduce_any,     Op::reduce_all};
  if (std::ranges::find(ops, node.op) == std::end(ops)) return {};
  const Shape& shape = graph.type(node.inputs[0]).shape;
  std::int64_t elements = 1;
  for (std::int64_t axis : node.as<AxesAttributes>().axes) {
    elements = saturating_multiply(elements, shape[static_cast<int>(axis)]);
  }
  if (elements == 0 || elements > most_elements) return {};
  return elements;
}

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
