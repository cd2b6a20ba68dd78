#include "passes/fusion/cut.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/fusion_plan.h"

namespace anabranch {
namespace {

constexpr int cheap_operations = 3;  // of what is computed again rather than stored
constexpr int not_cheap = 1 << 20;
constexpr std::size_t most_cuts = 4;  // that are tried
constexpr double least_gain = 1.001;  // of costs: parts that cost the same leave room in the later

/// One walk over a group: from where to where each value is needed, and what crosses each place.
class Sweep {
 public:
  Sweep(const Graph& graph, const FusionGroup& group, const CutLimits& limits)
      : graph_(graph),
        group_(group),
        limits_(limits),
        uses_(group.members.size()),
        operand_uses_(group.operands.size()),
        change_(group.members.size() + 2, 0) {}

  /// Bytes that cross before member i, for each i.
  std::vector<double> run() {
    find_copies();
    for (std::size_t i = group_.members.size(); i-- > 0;) use_inputs(i);
    for (std::size_t i = 0; i < group_.members.size(); ++i) {
      if (is_copy_[i]) continue;
      const std::uint32_t member = group_.members[i];
      const double once = result_bytes(graph_.node(member));
      add(i, uses_[i].last, limits_.is_stored(member) ? once : 2 * once);
    }
    for (std::size_t i = 0; i < group_.operands.size(); ++i) {
      add(operand_uses_[i].first, operand_uses_[i].last,
          result_bytes(graph_.node(group_.operands[i])));
    }
    std::vector<double> crossing(group_.members.size() + 1);
    double sum = 0;
    for (std::size_t i = 0; i < crossing.size(); ++i) crossing[i] = sum += change_[i];
    return crossing;
  }

 private:
  struct Uses {
    std::size_t first = SIZE_MAX, last = 0;

    void include(std::size_t from, std::size_t to) {
      first = std::min(first, from);
      last = std::max(last, to);
    }
  };

  static constexpr std::size_t outside = SIZE_MAX;

  std::size_t position(std::uint32_t node) const {
    auto found = std::lower_bound(group_.members.begin(), group_.members.end(), node);
    return found == group_.members.end() || *found != node
               ? outside
               : static_cast<std::size_t>(found - group_.members.begin());
  }

  // Nobody's index maps, and what takes few operations on operands of the group.
  void find_copies() {
    std::vector<int> operations(group_.members.size(), 0);
    for (std::size_t i = 0; i < group_.members.size(); ++i) {
      const Node& node = graph_.node(group_.members[i]);
      const bool computes = !is_reduction(node.op) && !is_library(node.op);
      int sum = computes ? operations_per_element(node.op) : not_cheap;
      for (Value input : node.inputs) {
        if (const std::size_t at = position(input.node); at != outside) sum += operations[at];
      }
      operations[i] = std::min(sum, not_cheap);
      is_copy_.push_back(!limits_.owns(group_.members[i]) || sum <= cheap_operations);
    }
  }

  void use_inputs(std::size_t i) {
    // A copy is wherever its readers are.
    const bool moves = is_copy_[i] && uses_[i].first != SIZE_MAX;
    const std::size_t first = moves ? uses_[i].first : i, last = moves ? uses_[i].last : i;
    for (Value input : graph_.node(group_.members[i]).inputs) {
      const std::size_t at = position(input.node);
      if (at != outside) {
        uses_[at].include(first, last);
        continue;
      }
      auto operand = std::lower_bound(group_.operands.begin(), group_.operands.end(), input.node);
      operand_uses_[static_cast<std::size_t>(operand - group_.operands.begin())].include(first,
                                                                                         last);
    }
  }

  // Crosses every place after `from` up to `to`.
  void add(std::size_t from, std::size_t to, double bytes) {
    if (from >= to) return;
    change_[from + 1] += bytes;
    change_[to + 1] -= bytes;
  }

  const Graph& graph_;
  const FusionGroup& group_;
  const CutLimits& limits_;
  std::vector<char> is_copy_;
  std::vector<Uses> uses_, operand_uses_;
  std::vector<double> change_;
};

}  // namespace

std::vector<std::size_t> cheapest_cuts(const Graph& graph, const FusionGroup& group,
                                       const CutLimits& limits) {
  const std::vector<double> crossing = Sweep(graph, group, limits).run();
  std::vector<std::size_t> places;
  std::int64_t instructions = 0;
  for (std::size_t i = 1; i < group.members.size(); ++i) {
    const Op before = graph.node(group.members[i - 1]).op;
    instructions += std::max(1, operations_per_element(before));
    if (instructions >= limits.least && instructions <= limits.most) places.push_back(i);
  }
  // Of equal ones the last: the first part is the fullest.
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return crossing[a] != crossing[b] ? crossing[a] < crossing[b] : a > b;
  });
  const std::size_t apart = group.members.size() / 32;
  std::vector<std::size_t> chosen;
  for (std::size_t place : places) {
    const bool is_near = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
      return std::max(place, other) - std::min(place, other) < apart;
    });
    if (!is_near) chosen.push_back(place);
    if (chosen.size() == most_cuts) break;
  }
  return chosen;
}

// Nodes of a part, with copies of the index maps that they read through.
std::vector<std::uint32_t> FusionGroups::with_index_maps(std::vector<std::uint32_t> nodes) const {
  std::unordered_set<std::uint32_t> known(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (Value input : graph_.node(nodes[i]).inputs) {
      if (map_size_[input.node] > 0 && known.insert(input.node).second) {
        nodes.push_back(input.node);
      }
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

bool FusionGroups::cut(GroupId a, GroupId b, const FusionGroup& both) {
  CutLimits limits;
  limits.owns = [&](std::uint32_t node) { return owner_[node] == a || owner_[node] == b; };
  limits.is_stored = [&](std::uint32_t node) {
    for (std::uint32_t r = 0; r < graph_.node(node).types.size(); ++r) {
      if (is_read_outside({node, r}, a, b)) return true;
    }
    return false;
  };
  // The rest has to fit as well.
  limits.most = most_instructions;
  limits.least = std::max(most_instructions / 2, both.instructions - most_instructions);
  const std::vector<std::size_t> places = cheapest_cuts(graph_, both, limits);
  return std::any_of(places.begin(), places.end(),
                     [&](std::size_t place) { return cut_at(place, a, b, both); });
}

// Both parts are whole in themselves: what is read on the way from one node of the group to
// another is in the group, and the first part needs nothing of the second.
bool FusionGroups::cut_at(std::size_t place, GroupId a, GroupId b, const FusionGroup& both) {
  std::vector<std::uint32_t> own[2];
  for (std::size_t i = 0; i < both.members.size(); ++i) {
    const std::uint32_t member = both.members[i];
    if (owner_[member] == a || owner_[member] == b) own[i < place ? 0 : 1].push_back(member);
  }
  if (own[0].empty() || own[1].empty()) return false;
  const std::vector<std::uint32_t> later = with_index_maps(own[1]);
  std::set<Value> crossing;
  for (std::uint32_t member : later) {
    const auto& inputs = graph_.node(member).inputs;
    crossing.insert(inputs.begin(), inputs.end());
  }
  std::vector<Value> results[2];
  for (int part = 0; part < 2; ++part) {
    for (std::uint32_t member : own[part]) {
      const bool moves = part == 0 && std::binary_search(later.begin(), later.end(), member);
      for (std::uint32_t r = 0; r < graph_.node(member).types.size(); ++r) {
        const Value value{member, r};
        const bool crosses = part == 0 && !moves && crossing.contains(value);
        if (crosses || is_read_outside(value, a, b)) results[part].push_back(value);
      }
    }
  }
  Draft first = draft(with_index_maps(own[0]), results[0]);
  if (first.refusal) return false;
  Draft second = draft(later, results[1]);
  const double before = groups_[a].cost + groups_[b].cost;
  if (second.refusal || first.group.cost + second.group.cost > least_gain * before) return false;
  set_readers(a, false);
  set_readers(b, false);
  for (std::uint32_t member : own[0]) owner_[member] = a;
  for (std::uint32_t member : own[1]) owner_[member] = b;
  groups_[a] = std::move(first.group);
  groups_[a].full = true;
  groups_[b] = std::move(second.group);
  set_readers(a, true);
  set_readers(b, true);
  const std::uint32_t latest = std::max(latest_[a], latest_[b]);
  for (GroupId part : {a, b}) need_as_late(part, latest);
  return true;
}

}  // namespace anabranch
