#include "ir/plan_fusion.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "anabranch/error.h"
#include "ir/checked.h"
#include "ir/integer_constant.h"
#include "ir/operand_index.h"
#include "ir/place_in.h"
#include "ir/pointwise_loop.h"

namespace anabranch {
namespace {

std::string list(std::span<const int> axes) {
  std::string text;
  for (int axis : axes) text += (text.empty() ? "" : ",") + std::to_string(axis);
  return "[" + text + "]";
}

std::string two_kernels(Op beside_a_dot) {
  return is_library(beside_a_dot) ? "two dots are two kernels"
                                  : "a dot and a reduction are two kernels";
}

bool only_units_differ(const Shape& a, const Shape& b) {
  const auto is_unit = [](std::int64_t size) { return size == 1; };
  std::vector<std::int64_t> rest_of_a, rest_of_b;
  std::remove_copy_if(a.begin(), a.end(), std::back_inserter(rest_of_a), is_unit);
  std::remove_copy_if(b.begin(), b.end(), std::back_inserter(rest_of_b), is_unit);
  return rest_of_a == rest_of_b;
}

/// The places that each member is asked for: nearly all are asked for one.
class Demands {
 public:
  explicit Demands(std::size_t members) : first_(members, none) { entries_.reserve(members); }

  /// Unless it is there.
  void add(std::size_t member, Point place) {
    std::uint32_t* end = &first_[member];
    for (; *end != none; end = &entries_[*end].next) {
      if (entries_[*end].place == place) return;
    }
    *end = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({place, none});
  }

  std::size_t size() const { return entries_.size(); }

  /// Of a member, in the order in which they came; others may get more meanwhile.
  struct Places {
    struct Iterator {
      const Demands& demands;
      std::uint32_t entry;

      Point operator*() const { return demands.entries_[entry].place; }
      void operator++() { entry = demands.entries_[entry].next; }
      bool operator!=(const Iterator& other) const { return entry != other.entry; }
    };

    const Demands& demands;
    std::uint32_t first;

    Iterator begin() const { return {demands, first}; }
    Iterator end() const { return {demands, none}; }
  };
  Places operator[](std::size_t member) const { return {*this, first_[member]}; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Entry {
    Point place;
    std::uint32_t next;  // of the same member
  };

  std::vector<std::uint32_t> first_;  // per member
  std::vector<Entry> entries_;
};

class Planner {
 public:
  /// `by_blocks`: updates of operands store their blocks alone; else the whole array, which they
  /// read, as a result of its own.
  Planner(const Graph& graph, std::span<const std::uint32_t> members,
          std::span<const Value> outputs, bool by_blocks)
      : graph_(graph),
        members_(members),
        outputs_(outputs),
        by_blocks_(by_blocks),
        demands_(members.size()),
        operand_points_(graph) {
    first_operand_.reserve(members.size());
    operands_.reserve(2 * members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      first_operand_.push_back(operands_.size());
      for (Value input : member(i).inputs) operands_.push_back(position(input.node, i));
    }
  }

  std::variant<FusionPlan, std::string> run() {
    using Step = void (Planner::*)();
    for (Step step : {&Planner::find_kind, &Planner::find_domain, &Planner::find_stages,
                      &Planner::find_updates, &Planner::demand_outputs, &Planner::inline_producers,
                      &Planner::check_reads, &Planner::find_turns, &Planner::count}) {
      (this->*step)();
      if (refusal_) return std::move(*refusal_);
    }
    return std::move(plan_);
  }

  /// Whether that is all there is against it, and each block has its one place: then an element of
  /// the array is a choice between two that are known where it is computed.
  bool updates_what_it_reads() const {
    return reads_elsewhere_ && has_known_starts_ && plan_.kind == FusionKind::elementwise;
  }

 private:
  const Node& member(std::size_t i) const { return graph_.node(members_[i]); }

  /// Where `node` is among the members before `end`; `outside` if it is none of them.
  std::size_t position(std::uint32_t node, std::size_t end) const {
    if (end > 0 && members_[end - 1] == node) return end - 1;  // as along a chain
    auto last = members_.begin() + static_cast<std::ptrdiff_t>(end);
    auto found = std::lower_bound(members_.begin(), last, node);
    return found == last || *found != node ? outside
                                           : static_cast<std::size_t>(found - members_.begin());
  }

  std::size_t operand(std::size_t member, std::size_t i) const {
    return operands_[first_operand_[member] + i];
  }

  std::string named(std::uint32_t node) const {
    const Node& named = graph_.node(node);
    std::string text(name(named.op));
    return named.location ? text + " (" + to_string(named.location) + ")" : text;
  }

  bool is_update(std::size_t at) const {
    return by_blocks_ && member(at).op == Op::dynamic_update_slice && operand(at, 0) == outside;
  }

  /// Of what the group computes for `output` at its places: of an update, the block's.
  const Shape& stored_shape(Value output) const {
    const Node& node = graph_.node(output);
    const bool updates = is_update(position(output.node, members_.size()));
    return updates ? graph_.type(node.inputs[1]).shape : graph_.type(output).shape;
  }

  void refuse(std::string why) {
    if (!refusal_) refusal_ = std::move(why);
  }

  bool is_folded(std::size_t i) const { return anabranch::is_folded(plan_, graph_, member(i)); }

  bool is_written_out(std::size_t i) const { return is_reduction(member(i).op) && !is_folded(i); }

  // One dot, or reductions that agree, or neither.
  void find_kind() {
    if (outputs_.empty()) return refuse("it has no outputs");
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Node& node = member(i);
      if (is_control(node.op)) return refuse(named(members_[i]) + " runs programs of its own");
      if (is_call(node.op)) return refuse(named(members_[i]) + " is nothing that a kernel does");
      if (node.op == Op::fusion) return refuse(named(members_[i]) + " is a group already");
      if (node.op == Op::constant && !node.as<ConstantAttributes>().value.is_splat()) {
        return refuse(named(members_[i]) + " is an array, which only an operand can be");
      }
      if (is_library(node.op)) {
        for (std::size_t k = 0; k < node.inputs.size(); ++k) {
          if (operand(i, k) == outside) continue;
          return refuse(named(node.inputs[k].node) + " is computed before a dot");
        }
        if (plan_.kind == FusionKind::reduction) return refuse(two_kernels(Op::reduce));
        if (dot_) return refuse(two_kernels(graph_.node(*dot_).op));
        dot_ = members_[i];
        plan_.kind = FusionKind::dot;
      } else if (is_reduction(node.op)) {
        if (plan_.kind == FusionKind::dot) return refuse(two_kernels(Op::reduce));
        plan_.kind = FusionKind::reduction;
      }
    }
    if (plan_.kind == FusionKind::reduction) find_folded();
  }

  // The reductions that the loops fold agree with the last one that cannot be written out, or,
  // where all can, with the last.
  void find_folded() {
    std::optional<std::size_t> leads, last;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!is_reduction(member(i).op)) continue;
      last = i;
      if (!elements_written_out(graph_, member(i))) leads = i;
    }
    const Node& leading = member(leads.value_or(*last));
    plan_.domain = graph_.type(leading.inputs[0]).shape;
    plan_.reduced_axes = reduced_axes(leading);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!is_written_out(i) || elements_written_out(graph_, member(i))) continue;
      const std::vector<int> axes = reduced_axes(member(i));
      if (axes != plan_.reduced_axes) {
        return refuse("reduces over axes " + list(axes) + " and " + list(plan_.reduced_axes));
      }
      const Shape& shape = graph_.type(member(i).inputs[0]).shape;
      return refuse("reduces shapes " + to_string(shape) + " and " + to_string(plan_.domain));
    }
  }

  void find_domain() {
    if (plan_.kind == FusionKind::dot) plan_.domain = graph_.node(*dot_).types[0].shape;
    if (plan_.kind == FusionKind::elementwise) plan_.domain = elementwise_domain();
    const int rank = plan_.domain.rank();
    std::vector<int> order;  // of the loops: kept axes outside
    std::vector<std::int64_t> kept_sizes;
    for (int axis = 0; axis < rank; ++axis) {
      if (!is_reduced(axis)) {
        order.push_back(axis);
        kept_sizes.push_back(plan_.domain[axis]);
      }
    }
    kept_shape_ = Shape(kept_sizes);
    order.insert(order.end(), plan_.reduced_axes.begin(), plan_.reduced_axes.end());
    depth_.resize(order.size());
    extent_.assign(1, 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      depth_[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
      extent_.push_back(extent_.back() * plan_.domain[order[i]]);
    }
    whole_ = points_(domain_indices(true));
    kept_ = points_(domain_indices(false));
    scalar_ = points_({});
  }

  // That of the results, or, where all are updates, of the first block.
  const Shape& elementwise_domain() const {
    const auto is_result = [&](Value output) {
      const std::size_t at = position(output.node, members_.size());
      return at != outside && !is_update(at);
    };
    const auto result = std::find_if(outputs_.begin(), outputs_.end(), is_result);
    if (result != outputs_.end()) return graph_.type(*result).shape;
    const bool is_inside = position(outputs_[0].node, members_.size()) != outside;
    return is_inside ? stored_shape(outputs_[0]) : graph_.type(outputs_[0]).shape;
  }

  bool is_reduced(int axis) const {
    return std::find(plan_.reduced_axes.begin(), plan_.reduced_axes.end(), axis) !=
           plan_.reduced_axes.end();
  }

  // The index of each axis, which is the number of its loop.
  std::vector<Index> domain_indices(bool reduced_too) {
    std::vector<Index> indices;
    for (int axis = 0; axis < plan_.domain.rank(); ++axis) {
      if (!reduced_too && is_reduced(axis)) continue;
      indices.push_back(table_.loop(static_cast<std::uint32_t>(axis), plan_.domain[axis]));
    }
    return indices;
  }

  void find_stages() {
    plan_.stage.assign(members_.size(), 0);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t k = 0; k < member(i).inputs.size(); ++k) {
        const std::size_t below = operand(i, k);
        if (below == outside) continue;
        int stage = plan_.stage[below] + (is_folded(below) ? 1 : 0);
        plan_.stage[i] = std::max(plan_.stage[i], stage);
      }
      if (is_folded(i)) plan_.stages = std::max(plan_.stages, plan_.stage[i] + 1);
    }
  }

  // Each array at most once, since the updates know nothing of each other.
  void find_updates() {
    for (Value output : outputs_) {
      const std::size_t at = position(output.node, members_.size());
      if (at == outside || !is_update(at)) continue;
      const Value array = member(at).inputs[0];
      if (plan_.kind == FusionKind::dot) return refuse("a dot stores the whole of its result");
      if (has_few_long_rows(plan_)) return refuse("several threads share each of its long rows");
      if (!updated_.emplace(array, Point{}).second) {
        return refuse(named(output.node) + " updates what another one does");
      }
    }
  }

  // Element outputs at the whole domain, row outputs at the kept axes.
  void demand_outputs() {
    for (Value output : outputs_) {
      const std::size_t at = position(output.node, members_.size());
      if (at == outside) return refuse("it hands on an operand");
      const Shape& shape = stored_shape(output);
      const bool is_whole = shape == plan_.domain;
      const bool is_row =
          plan_.kind == FusionKind::reduction && !is_whole && only_units_differ(shape, kept_shape_);
      const bool is_block = is_update(at) && only_units_differ(shape, plan_.domain);
      if (!is_whole && !is_row && !is_block) {
        return refuse(named(output.node) + " has shape " + to_string(shape) +
                      ", the group runs over " + to_string(plan_.domain));
      }
      const Point place = is_whole ? whole_ : index_of(shape, is_row);
      const bool has_one_place = plan_.kind == FusionKind::reduction && plan_.reduced_axes.empty();
      plan_.is_row.push_back(is_row || has_one_place);
      if (!is_row) plan_.stages = std::max(plan_.stages, plan_.stage[at] + 1);
      if (is_update(at)) {
        demand_block(at, place);
      } else {
        demands_.add(at, place);
      }
    }
  }

  void demand_block(std::size_t at, Point place) {
    const Node& node = member(at);
    const auto output = std::ranges::find(outputs_, Value{members_[at], 0});
    plan_.updates.push_back(
        {static_cast<std::uint32_t>(output - outputs_.begin()), node.inputs[0].node});
    demand_starts(at, place);
    std::vector<Index> written = operand_points_.starts(node, place);
    for (std::size_t axis = 0; axis < written.size(); ++axis) {
      written[axis] = table_.add(written[axis], points_[place][axis]);
    }
    updated_[node.inputs[0]] = points_(std::move(written));
    if (operand(at, 1) == outside) {
      reads_.emplace_back(node.inputs[1], place);
    } else {
      demands_.add(operand(at, 1), place);
    }
    for (std::size_t k = 2; k < node.inputs.size(); ++k) {
      if (operand(at, k) == outside) reads_.emplace_back(node.inputs[k], scalar_);
      has_known_starts_ &= integer_of(graph_, node.inputs[k]).has_value();
    }
  }

  // The place of the domain, or of its row, as that of an array which may have axes of size 1 that
  // it lacks, and lack others.
  Point index_of(const Shape& shape, bool of_row) {
    const std::vector<Index> place = domain_indices(!of_row);
    const std::span<const std::int64_t> sizes = of_row ? kept_shape_.sizes() : plan_.domain.sizes();
    return points_(*place_in(shape, sizes, place, table_));
  }

  // From the outputs down, each node at every place that it is asked for.
  void inline_producers() {
    const std::size_t most = 16 * members_.size() + 64;
    for (std::size_t i = members_.size(); i-- > 0 && !refusal_;) {
      const Node& node = member(i);
      for (Point index : demands_[i]) {
        if (demands_.size() > most)
          return refuse("its index maps ask for too many places per element");
        check_place(i, index);
        if (is_index(node.op)) demand_starts(i, index);
        if (is_written_out(i)) {
          demand_elements(i, index);
          continue;
        }
        for (std::size_t k = 0; k < node.inputs.size() && !refusal_; ++k) {
          const std::size_t below = operand(i, k);
          const bool is_updated = below == outside && updated_.contains(node.inputs[k]);
          if (is_index(node.op) && is_start(node, k)) {
            if (is_updated) reads_.emplace_back(node.inputs[k], scalar_);
          } else if (below != outside || is_updated) {
            const Point point =
                is_folded(i) ? reduction_operand(node, k) : operand_point(node, k, index);
            if (below != outside) demands_.add(below, point);
            if (is_updated) reads_.emplace_back(node.inputs[k], point);
          }
        }
      }
    }
  }

  void demand_elements(std::size_t i, Point index) {
    const Value array = member(i).inputs[0];
    const std::size_t below = operand(i, 0);
    const std::int64_t count = *elements_written_out(graph_, member(i));
    for (std::int64_t number = 0; number < count; ++number) {
      const Point point = points_(element_index(graph_, member(i), number, points_[index], table_));
      if (below != outside) {
        demands_.add(below, point);
      } else if (updated_.contains(array)) {
        reads_.emplace_back(array, point);
      }
    }
  }

  // An array that is updated may be the very memory that the block is stored to. Of a row, some
  // threads may be done before others read.
  void check_reads() {
    for (auto [value, place] : reads_) {
      const auto updated = updated_.find(value);
      if (updated == updated_.end()) continue;
      if (plan_.kind == FusionKind::elementwise && updated->second == place) continue;
      reads_elsewhere_ = true;
      return refuse("it updates an array that it reads elsewhere");
    }
  }

  void demand_starts(std::size_t i, Point index) {
    for (Start& start : starts_of(graph_, member(i), points_[index], table_)) {
      const std::size_t below = operand(i, start.operand);
      if (below != outside) demands_.add(below, points_(std::move(start.at)));
    }
  }

  Point operand_point(const Node& node, std::size_t operand, Point at) {
    const Shape& shape = graph_.type(node.inputs[operand]).shape;
    if (!is_index(node.op)) return shape == node.types[0].shape ? at : scalar_;
    return operand_points_.operand(node, operand, at);
  }

  // The innermost loop that a place depends on; -1 for none.
  int depth_of(Point point) const {
    int deepest = -1;
    for (Index index : points_[point]) {
      table_.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
        if (atom.kind != IndexTable::Atom::Kind::loop) return;
        deepest = std::max(deepest, depth_[atom.loop]);
      });
    }
    return deepest;
  }

  Point reduction_operand(const Node& node, std::size_t operand) const {
    bool is_initial = node.op == Op::reduce && operand >= node.inputs.size() / 2;
    return is_initial ? scalar_ : whole_;
  }

  void check_place(std::size_t i, Point index) {
    if (is_folded(i) && !(index == kept_)) {
      refuse(named(members_[i]) + " is used away from the row it reduces");
    } else if (is_library(member(i).op) && !(index == whole_)) {
      refuse(named(members_[i]) + " is used away from the place it computes");
    }
  }

  // In how many stages each element value is computed: in all that need it, or, if it is kept, in
  // the first.
  void find_turns() {
    std::vector<std::uint64_t> needed(members_.size(), 0);  // a bit per stage
    auto stage_bit = [&](std::size_t i) {
      return std::uint64_t{1} << std::min(plan_.stage[i], 63);
    };
    for (Value output : outputs_) {
      const std::size_t at = position(output.node, members_.size());
      if (!is_folded(at)) needed[at] |= stage_bit(at);
    }
    std::int64_t kept_bytes = 0;
    turns_.assign(members_.size(), 1);
    for (std::size_t i = members_.size(); i-- > 0;) {
      const Node& node = member(i);
      std::uint64_t stages = is_folded(i) ? stage_bit(i) : needed[i];
      if (std::popcount(stages) > 1 && is_kept(node, kept_bytes)) stages &= -stages;
      turns_[i] = std::max(1, std::popcount(stages));
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (operand(i, k) != outside) needed[operand(i, k)] |= stages;
      }
    }
  }

  bool is_kept(const Node& node, std::int64_t& kept_bytes) const {
    if (operations_per_element(node.op) < kept_operations || !can_keep_rows(plan_)) return false;
    const auto bytes = row_size(plan_) * static_cast<std::int64_t>(byte_size(node.types[0].dtype));
    if (bytes > largest_kept_row || kept_bytes + bytes > largest_kept_rows) return false;
    kept_bytes += bytes;
    return true;
  }

  // Whether a concatenation's elements are chosen along the last axes of an elementwise group, in
  // their order: a kernel writes a few such columns one by one, and computes what they share once.
  bool is_by_columns(std::size_t i) {
    if (plan_.kind != FusionKind::elementwise) return false;
    const auto axis = static_cast<std::size_t>(member(i).as<AxisAttributes>().axis);
    const std::span<const Index> loops = points_[whole_];
    const std::span<const std::int64_t> sizes = plan_.domain.sizes();
    const auto are_columns = [&](Index place) {
      std::int64_t columns = 1;
      for (std::size_t first = loops.size(); first-- > 0;) {
        columns = saturating_multiply(columns, sizes[first]);
        if (columns > most_columns) return false;
        for (std::size_t count = 1; first + count <= loops.size(); ++count) {
          const auto some = loops.subspan(first, count);
          if (place == table_.flatten(some, sizes.subspan(first, count))) return true;
        }
      }
      return false;
    };
    for (Point point : demands_[i]) {
      if (!are_columns(points_[point][axis])) return false;
    }
    return true;
  }

  // Per member, the innermost loop that chooses whether it is needed: it is computed in there, for
  // each element of the concatenations that it is a part of. -1 for none.
  std::vector<int> choosing_loops() {
    constexpr int unread = std::numeric_limits<int>::max();
    std::vector<int> loops(members_.size(), unread);
    for (Value output : outputs_) {
      if (const auto at = position(output.node, members_.size()); at != outside) loops[at] = -1;
    }
    for (std::size_t i = members_.size(); i-- > 0;) {
      if (loops[i] == unread) loops[i] = -1;
      int chooses = loops[i];
      if (member(i).op == Op::concatenate && !is_by_columns(i)) {
        for (Point point : demands_[i]) chooses = std::max(chooses, depth_of(point));
      }
      for (std::size_t k = 0; k < member(i).inputs.size(); ++k) {
        const std::size_t at = operand(i, k);
        if (at != outside) loops[at] = std::min(loops[at], chooses);
      }
    }
    return loops;
  }

  void count() {
    const std::vector<int> choosing = choosing_loops();
    const int whole_depth = depth_of(whole_);
    std::vector<std::int64_t> below(members_.size(), 0);  // operations that come before, in a row
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Op op = member(i).op;
      // An element of a concatenation is chosen from all its parts.
      const auto parts =
          op == Op::concatenate ? static_cast<std::int64_t>(member(i).inputs.size()) : 1;
      // A conversion takes no more than loading what it gives.
      const int alone = op == Op::convert ? 0 : operations_per_element(op);
      const std::int64_t elements =
          is_written_out(i) ? *elements_written_out(graph_, member(i)) : 1;
      const std::int64_t cost = parts > 1 ? parts - 1 : alone * elements;
      for (std::size_t k = 0; k < member(i).inputs.size(); ++k) {
        if (operand(i, k) != outside) below[i] = std::max(below[i], below[operand(i, k)]);
      }
      std::int64_t operations = 0, places = 0;
      for (Point index : demands_[i]) {
        ++places;
        if (cost == 0) continue;
        const bool is_whole = index == whole_;
        const int read_at = is_whole || is_folded(i) ? whole_depth : depth_of(index);
        const int depth = std::max(read_at, choosing[i]);
        const std::int64_t times = extent_[static_cast<std::size_t>(depth + 1)];
        const std::int64_t turns = is_whole ? turns_[i] : 1;
        operations = saturating_add(operations, saturating_multiply(cost * turns, times));
      }
      plan_.instructions += std::max<std::int64_t>(cost, 1) * places * turns_[i];
      if (cost == 0) continue;
      if (parts == 1) plan_.recompute = std::max(plan_.recompute, places * turns_[i]);
      plan_.operations = saturating_add(plan_.operations, operations);
      below[i] = saturating_add(below[i], operations);
      longest = std::max(longest, below[i]);
    }
    if (plan_.kind == FusionKind::reduction && plan_.domain.size() == row_size(plan_) &&
        !has_few_long_rows(plan_)) {
      plan_.side_by_side = plan_.operations - std::max(longest, plan_.operations / 2);
    }
  }

  static constexpr std::size_t outside = SIZE_MAX;

  const Graph& graph_;
  std::span<const std::uint32_t> members_;
  std::span<const Value> outputs_;
  bool by_blocks_;
  bool reads_elsewhere_ = false, has_known_starts_ = true;
  std::vector<std::size_t> operands_;           // of all members: their positions, in order
  std::vector<std::size_t> first_operand_;      // per member: where its operands begin
  std::map<Value, Point> updated_;              // arrays that outputs update, and where
  std::vector<std::pair<Value, Point>> reads_;  // from outside, of what may be updated
  Demands demands_;
  std::vector<int> turns_;  // per member: the stages that compute it
  FusionPlan plan_;
  std::optional<std::string> refusal_;
  std::optional<std::uint32_t> dot_;
  Shape kept_shape_;
  std::vector<std::int64_t> extent_;  // iterations of the outermost k loops together
  OperandPoints operand_points_;
  IndexTable& table_ = operand_points_.table();  // a loop is an axis of the domain
  PointTable& points_ = operand_points_.points();
  std::vector<int> depth_;  // by axis: how deep its loop is
  Point whole_, kept_, scalar_;
};

}  // namespace

std::vector<BlockUpdate> block_updates(const Graph& region) {
  const auto is_update = [&](Value output) {
    const Op op = region.node(output).op;
    return op == Op::dynamic_update_slice || op == Op::while_;
  };
  if (std::ranges::none_of(region.outputs(), is_update)) return {};
  auto plan = plan_fusion(region);
  return plan.index() == 0 ? std::get<FusionPlan>(std::move(plan)).updates
                           : std::vector<BlockUpdate>();
}

std::variant<FusionPlan, std::string> plan_fusion(const Graph& graph,
                                                  std::span<const std::uint32_t> members,
                                                  std::span<const Value> outputs) {
  try {
    Planner planner(graph, members, outputs, true);
    auto plan = planner.run();
    if (!planner.updates_what_it_reads()) return plan;
    return Planner(graph, members, outputs, false).run();
  } catch (const Error& too_large) {
    return std::string(too_large.what());
  }
}

std::variant<FusionPlan, std::string> plan_fusion(const Graph& region) {
  if (whole_loop(region)) return plan_loop(region);
  const auto parameters = static_cast<std::uint32_t>(region.parameter_count());
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = parameters; i < region.nodes().size(); ++i) members.push_back(i);
  auto plan = plan_fusion(region, members, region.outputs());
  if (auto* made = std::get_if<FusionPlan>(&plan)) {
    made->stage.insert(made->stage.begin(), parameters, 0);
  }
  return plan;
}

}  // namespace anabranch
