#include "passes/fusion/groups.h"

#include <algorithm>
#include <iterator>

#include "ir/integer_constant.h"
#include "ir/plan_fusion.h"
#include "passes/costs.h"
#include "passes/placement.h"

namespace anabranch {
namespace {

// Everything is measured in bytes of memory traffic. A launch takes as long as 32 KB.
constexpr double bytes_per_launch = 32768;

constexpr std::size_t most_searched = 4096;  // groups that one search for a way around looks at
constexpr std::size_t most_buffers = 64;     // operands and outputs
constexpr int most_index_maps = 64;          // that one op reads through
constexpr std::int64_t most_recompute = 8;   // of cheap ops, if it costs less than to store them
constexpr std::int64_t most_recompute_of_approximate = 2;
constexpr std::size_t most_recipe = 16;  // nodes that a reader computes again

bool contains(const std::vector<std::uint32_t>& sorted, std::uint32_t node) {
  return std::binary_search(sorted.begin(), sorted.end(), node);
}

std::vector<std::uint32_t> united(const std::vector<std::uint32_t>& a,
                                  const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> both;
  both.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

void sort_unique(std::vector<std::uint32_t>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

bool is_splat_constant(const Node& node) {
  return node.op == Op::constant && node.as<ConstantAttributes>().value.is_splat();
}

// What is a group by itself: a fusion made before, a loop, a branch, a call, and an update, which
// writes a block of an array in place after everyone else has read it.
bool is_whole(Op op) {
  return op == Op::fusion || op == Op::dynamic_update_slice || is_control(op) || is_call(op);
}

bool reads_memory_alone(Op op) { return is_library(op) || is_whole(op); }

// A reshape, in whichever form, of something in memory is another name for it.
bool is_alias(const Graph& graph, const Node& node) {
  if (node.op == Op::reshape) return true;
  if (node.op != Op::broadcast_in_dim) return false;
  const auto& axes = node.as<AxesAttributes>().axes;
  return std::is_sorted(axes.begin(), axes.end()) &&
         graph.type(node.inputs[0]).size() == node.types[0].size();
}

}  // namespace

FusionGroups::FusionGroups(const Graph& graph)
    : graph_(graph),
      owner_(graph.nodes().size(), nobody),
      readers_(graph.nodes().size()),
      is_output_(graph.nodes().size(), 0),
      is_read_in_memory_(graph.nodes().size(), 0),
      part_(parts_between_transfers(graph)),
      map_size_(graph.nodes().size(), 0) {
  for (Value output : graph.outputs()) is_output_[output.node] = 1;
  for (const Node& node : graph.nodes()) {
    if (!reads_memory_alone(node.op)) continue;
    for (Value input : node.inputs) is_read_in_memory_[input.node] = 1;
  }
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) measure_map(i);
  for (std::uint32_t i = static_cast<std::uint32_t>(graph.nodes().size()); i-- > 0;) {
    // An alias needs what it names to exist.
    const Node& node = graph.node(i);
    if (has_group(i) && is_alias(graph, node)) is_read_in_memory_[node.inputs[0].node] = 1;
  }
  groups_.reserve(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    if (node.op == Op::parameter || node.op == Op::constant) continue;
    if (has_group(i)) add_group(i);
  }
}

// What a copy of an index map would bring along: others, and the parts of concatenations. Where
// that is too much, what is below is in memory, the largest first.
void FusionGroups::measure_map(std::uint32_t node) {
  if (!is_index_map(node)) return;
  const Node& at = graph_.node(node);
  const int least = at.op == Op::concatenate ? 1 : 0;
  auto size = [&] {
    int sum = 1;
    for (Value input : at.inputs) sum += std::max(least, map_size_[input.node]);
    return sum;
  };
  std::vector<std::uint32_t> below;
  for (Value input : at.inputs) below.push_back(input.node);
  sort_unique(below);
  std::stable_sort(below.begin(), below.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return map_size_[a] > map_size_[b]; });
  for (std::uint32_t input : below) {
    if (map_size_[input] <= 1 || size() <= most_index_maps) break;
    map_size_[input] = 0;
  }
  // Else a group of its own, read by all.
  if (const int sum = size(); sum <= most_index_maps) map_size_[node] = sum;
}

bool FusionGroups::is_index_map(std::uint32_t node) const {
  const Node& at = graph_.node(node);
  if (at.op == Op::dynamic_update_slice) return false;
  return is_index(at.op) || at.op == Op::iota || is_splat_constant(at);
}

bool FusionGroups::must_exist(std::uint32_t node) const {
  return is_output_[node] || is_read_in_memory_[node];
}

// Else its readers copy it.
bool FusionGroups::has_group(std::uint32_t node) const {
  return map_size_[node] == 0 || must_exist(node);
}

void FusionGroups::add_group(std::uint32_t node) {
  const auto id = static_cast<GroupId>(groups_.size());
  std::vector<std::uint32_t> members = {node};
  const Node& root = graph_.node(node);
  for (std::size_t i = 0; i < members.size() && !reads_memory_alone(root.op); ++i) {
    for (Value input : graph_.node(members[i]).inputs) {
      bool is_copied = map_size_[input.node] > 0;
      if (is_copied && std::find(members.begin(), members.end(), input.node) == members.end()) {
        members.push_back(input.node);
      }
    }
  }
  sort_unique(members);
  owner_[node] = id;
  Value result{node, 0};
  Draft made = draft(std::move(members), {result});
  made.group.closed = is_whole(root.op);
  if (is_alias(graph_, root)) {
    // Another name costs nothing, so long as what it names is there under its own.
    made.group = FusionGroup{{node}, {root.inputs[0].node}, FusionKind::elementwise, 0, true, true};
  }
  groups_.push_back(std::move(made.group));
  latest_.push_back(node);
  set_readers(id, true);
}

FusionGroups::Draft FusionGroups::draft(std::vector<std::uint32_t> members,
                                        const std::vector<Value>& outputs) const {
  std::vector<std::uint32_t> operands;
  for (std::uint32_t member : members) {
    for (Value input : graph_.node(member).inputs) {
      if (!contains(members, input.node)) operands.push_back(input.node);
    }
  }
  sort_unique(operands);
  return draft(std::move(members), std::move(operands), outputs);
}

FusionGroups::Draft FusionGroups::draft(std::vector<std::uint32_t> members,
                                        std::vector<std::uint32_t> operands,
                                        const std::vector<Value>& outputs) const {
  Draft made;
  FusionGroup& group = made.group;
  group.members = std::move(members);
  group.operands = std::move(operands);
  group.cost = bytes_per_launch;
  for (std::uint32_t operand : group.operands) group.cost += result_bytes(graph_.node(operand));
  for (Value output : outputs) group.cost += static_cast<double>(graph_.type(output).bytes());
  if (group.operands.size() + outputs.size() > most_buffers) {
    made.refusal = "a kernel would have more than " + std::to_string(most_buffers) + " buffers";
    return made;
  }
  planned_members_ += group.members.size();
  auto planned = plan_fusion(graph_, group.members, outputs);
  if (auto* why = std::get_if<std::string>(&planned)) {
    made.refusal = std::move(*why);
    return made;
  }
  const auto& plan = std::get<FusionPlan>(planned);
  made.updates = !plan.updates.empty();
  group.kind = plan.kind;
  group.instructions = plan.instructions;
  group.cost += bytes_per_operation * static_cast<double>(plan.operations + plan.side_by_side);
  const bool approximate = std::any_of(
      group.members.begin(), group.members.end(),
      [&](std::uint32_t member) { return operations_per_element(graph_.node(member).op) > 1; });
  if (plan.recompute > (approximate ? most_recompute_of_approximate : most_recompute)) {
    made.refusal = "an element would have it computed " + std::to_string(plan.recompute) + " times";
  }
  const bool only_rows = plan.stages == 1 &&
                         std::none_of(outputs.begin(), outputs.end(),
                                      [&](Value v) { return graph_.type(v).shape == plan.domain; });
  if (has_few_long_rows(plan) && !only_rows) {
    made.refusal = "the rows are too long to be kept and too few for a thread each";
  }
  if (!made.refusal && plan.instructions > most_instructions) {
    made.refusal = "a kernel would hold more than " + std::to_string(most_instructions) +
                   " instructions per element";
    made.too_large = true;
  }
  return made;
}

bool FusionGroups::is_read_outside(Value value, GroupId a, GroupId b) const {
  const bool is_only_result = graph_.node(value).types.size() == 1;
  auto reads_value = [&](std::uint32_t member) {
    const auto& inputs = graph_.node(member).inputs;
    return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  };
  for (GroupId reader : readers_[value.node]) {
    if (reader == a || reader == b) continue;
    const auto& members = groups_[reader].members;
    if (is_only_result || std::any_of(members.begin(), members.end(), reads_value)) return true;
  }
  const auto outputs = graph_.outputs();
  return is_output_[value.node] &&
         (is_only_result || std::find(outputs.begin(), outputs.end(), value) != outputs.end());
}

std::vector<Value> FusionGroups::outputs(GroupId a, GroupId b) const {
  return outputs(united(groups_[a].members, groups_[b].members), a, b);
}

std::vector<Value> FusionGroups::outputs(const std::vector<std::uint32_t>& members, GroupId a,
                                         GroupId b) const {
  std::vector<Value> values;
  for (std::uint32_t member : members) {
    if (owner_[member] != a && owner_[member] != b) continue;
    for (std::uint32_t r = 0; r < graph_.node(member).types.size(); ++r) {
      if (is_read_outside({member, r}, a, b)) values.push_back({member, r});
    }
  }
  return values;
}

// Whether `to` needs something of `from` that comes by way of a third group. A search that finds no
// end says that it does. What needs nothing as late as `from` leads nowhere.
bool FusionGroups::is_reached_around(GroupId from, GroupId to) const {
  seen_.resize(groups_.size(), 0);
  ++searches_;
  const auto& own = groups_[from].members;
  const auto first = *std::find_if(own.begin(), own.end(), [&](std::uint32_t member) {
    return owner_[member] == from || member == own.back();
  });
  std::vector<GroupId> open;
  auto visit = [&](GroupId group) {
    for (std::uint32_t operand : groups_[group].operands) {
      GroupId above = owner_[operand];
      if (above == nobody || above == to || seen_[above] == searches_) continue;
      if ((above == from && group == to) || latest_[above] < first) continue;
      seen_[above] = searches_;
      open.push_back(above);
    }
  };
  visit(to);
  for (std::size_t searched = 0; !open.empty() && seen_[from] != searches_; ++searched) {
    if (searched == most_searched) return true;
    GroupId next = open.back();
    open.pop_back();
    visit(next);
  }
  return seen_[from] == searches_;
}

FusionGroups::Draft FusionGroups::merged(GroupId a, GroupId b) const {
  if (groups_[a].closed || groups_[b].closed) return {{}, "one of them is not for merging"};
  if (groups_[a].full || groups_[b].full) {
    return {{}, "one of them is as large as a kernel should be"};
  }
  if (!part_.empty() && part_[groups_[a].members.back()] != part_[groups_[b].members.back()]) {
    return {{}, "they may run on different devices"};
  }
  if (is_reached_around(a, b) || is_reached_around(b, a)) {
    return {{}, "another kernel has to run between them"};
  }
  std::vector<std::uint32_t> members = united(groups_[a].members, groups_[b].members);
  std::vector<std::uint32_t> operands = united(groups_[a].operands, groups_[b].operands);
  std::erase_if(operands, [&](std::uint32_t operand) { return contains(members, operand); });
  const std::vector<Value> results = outputs(members, a, b);
  Draft made = draft(std::move(members), std::move(operands), results);
  if ((!made.refusal || made.too_large) && made.group.cost >= groups_[a].cost + groups_[b].cost) {
    made.refusal = "to compute it again for every use costs more than to store it";
    made.too_large = false;
  }
  return made;
}

std::optional<std::string> FusionGroups::refusal(GroupId a, GroupId b) const {
  return merged(a, b).refusal;
}

std::optional<std::string> FusionGroups::merge(GroupId a, GroupId b) {
  Draft made = merged(a, b);
  if (made.too_large && !cut(a, b, made.group)) {
    // Not again for every op to come.
    groups_[groups_[a].instructions >= groups_[b].instructions ? a : b].full = true;
  }
  if (made.refusal) return made.refusal;
  absorb(a, b, std::move(made.group));
  return std::nullopt;
}

void FusionGroups::absorb(GroupId into, GroupId group, FusionGroup both) {
  for (std::uint32_t member : groups_[group].members) {
    if (owner_[member] == group) owner_[member] = into;
  }
  set_readers(group, false);
  groups_[group] = FusionGroup{};
  groups_[group].alive = false;
  replace(into, std::move(both));
  need_as_late(into, std::max(latest_[into], latest_[group]));
}

// So do those that need it.
void FusionGroups::need_as_late(GroupId group, std::uint32_t node) {
  latest_[group] = node;
  std::vector<GroupId> open = {group};
  while (!open.empty()) {
    const GroupId above = open.back();
    open.pop_back();
    for (std::uint32_t member : groups_[above].members) {
      if (owner_[member] != above) continue;
      for (GroupId reader : readers_[member]) {
        if (latest_[reader] >= node) continue;
        latest_[reader] = node;
        open.push_back(reader);
      }
    }
  }
}

void FusionGroups::replace(GroupId group, FusionGroup by) {
  set_readers(group, false);
  for (std::uint32_t member : groups_[group].members) {
    if (owner_[member] == group && !contains(by.members, member)) owner_[member] = nobody;
  }
  groups_[group] = std::move(by);
  set_readers(group, true);
}

void FusionGroups::set_readers(GroupId group, bool reads) {
  for (std::uint32_t operand : groups_[group].operands) {
    if (reads) {
      readers_[operand].push_back(group);
    } else {
      std::erase(readers_[operand], group);
    }
  }
}

// What a reader must hold to compute `node` itself: nothing if that is too much, or a reduction.
std::optional<std::vector<std::uint32_t>> FusionGroups::recipe(std::uint32_t node) const {
  const FusionGroup& home = groups_[owner_[node]];
  std::vector<std::uint32_t> nodes = {node};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& at = graph_.node(nodes[i]);
    if (nodes.size() > most_recipe || is_reduction(at.op) || is_library(at.op)) {
      return std::nullopt;
    }
    for (Value input : at.inputs) {
      bool is_listed = std::find(nodes.begin(), nodes.end(), input.node) != nodes.end();
      if (!is_listed && contains(home.members, input.node)) nodes.push_back(input.node);
    }
  }
  sort_unique(nodes);
  return nodes;
}

// `group` with only those of its members that these of its outputs need.
std::optional<FusionGroup> FusionGroups::trimmed(GroupId group,
                                                 const std::vector<Value>& rest) const {
  std::vector<std::uint32_t> needed;
  for (Value value : rest) needed.push_back(value.node);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (Value input : graph_.node(needed[i]).inputs) {
      bool is_new = std::find(needed.begin(), needed.end(), input.node) == needed.end();
      if (is_new && contains(groups_[group].members, input.node)) needed.push_back(input.node);
    }
  }
  if (rest.empty()) {
    FusionGroup empty;
    empty.alive = false;
    return empty;
  }
  sort_unique(needed);
  Draft made = draft(std::move(needed), rest);
  if (made.refusal) return std::nullopt;
  return std::move(made.group);
}

void FusionGroups::copy_into_readers(std::uint32_t node) {
  const GroupId home = owner_[node];
  if (home == nobody || groups_[home].closed || readers_[node].empty()) return;
  const auto nodes = recipe(node);
  if (!nodes) return;
  struct Change {
    GroupId reader;
    FusionGroup group;
    double cost;
  };
  std::vector<Change> changes;
  bool all = !is_output_[node];
  double cost_of_all = 0;
  for (GroupId reader : readers_[node]) {
    if (groups_[reader].closed) {
      all = false;
      continue;
    }
    Draft made = draft(united(groups_[reader].members, *nodes), outputs(reader));
    if (made.refusal) {
      all = false;
      continue;
    }
    double cost = made.group.cost - groups_[reader].cost;
    cost_of_all += cost;
    changes.push_back({reader, std::move(made.group), cost});
  }
  std::optional<FusionGroup> rest;
  if (all) {
    std::vector<Value> others = outputs(home);
    std::erase_if(others, [&](Value value) { return value.node == node; });
    rest = trimmed(home, others);
  }
  if (rest) cost_of_all += rest->cost - groups_[home].cost;
  const bool take_all = rest && cost_of_all < 0;
  for (Change& change : changes) {
    if (take_all || change.cost < 0) replace(change.reader, std::move(change.group));
  }
  if (take_all) replace(home, std::move(*rest));
}

void FusionGroups::merge_update(std::uint32_t node) {
  const std::uint32_t block = take_in_operands(node);
  const GroupId home = owner_[node], producer = owner_[block];
  if (producer == nobody || groups_[producer].closed || !can_take(producer, node)) return;
  std::vector<std::uint32_t> members = united(groups_[producer].members, groups_[home].members);
  const std::vector<Value> results = outputs(members, producer, home);
  Draft made = draft(std::move(members), results);
  if (made.refusal) return;
  const std::int64_t all = graph_.node(node).types[0].size();
  const std::int64_t stored = graph_.type(graph_.node(node).inputs[1]).size();
  const bool pays = made.updates ? is_read_by_then(producer, node) : 2 * stored >= all;
  if (pays) absorb(producer, home, std::move(made.group));
}

// Into the update's group: starts that are constants, and the other names of the block. Returns
// what computes that.
std::uint32_t FusionGroups::take_in_operands(std::uint32_t update) {
  const Node& node = graph_.node(update);
  std::vector<std::uint32_t> members = {update}, names;
  std::uint32_t block = node.inputs[1].node;
  while (is_alias(graph_, graph_.node(block))) {
    names.push_back(block);
    block = graph_.node(block).inputs[0].node;
  }
  members.insert(members.end(), names.begin(), names.end());
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    if (integer_of(graph_, node.inputs[i])) members.push_back(node.inputs[i].node);
  }
  sort_unique(members);
  Draft made = draft(std::move(members), {{update, 0}});
  if (made.refusal) return update;
  replace(owner_[update], std::move(made.group));
  for (std::uint32_t name : names) {
    const GroupId group = owner_[name];
    if (group == nobody || is_output_[name] || !readers_[name].empty()) break;
    set_readers(group, false);
    groups_[group].alive = false;
    owner_[name] = nobody;
  }
  return block;
}

bool FusionGroups::can_take(GroupId group, std::uint32_t update) const {
  const auto& members = groups_[group].members;
  if (!part_.empty() && part_[members.back()] != part_[update]) return false;
  return !contains(members, graph_.node(update).inputs[0].node) &&
         !is_reached_around(group, owner_[update]);
}

// Whether everyone else who reads the array can do so before `group` is computed.
bool FusionGroups::is_read_by_then(GroupId group, std::uint32_t update) const {
  const GroupId home = owner_[update];
  const std::uint32_t array = graph_.node(update).inputs[0].node;
  return std::ranges::all_of(readers_[array], [&](GroupId reader) {
    if (reader == group || reader == home) return true;
    const bool is_name = is_alias(graph_, graph_.node(groups_[reader].members.back()));
    return !is_name && !needs(reader, group) && !needs(reader, home);
  });
}

bool FusionGroups::needs(GroupId group, GroupId from) const {
  const auto& operands = groups_[group].operands;
  return std::ranges::any_of(operands,
                             [&](std::uint32_t operand) { return owner_[operand] == from; }) ||
         is_reached_around(from, group);
}

void FusionGroups::trim(GroupId group) {
  if (!groups_[group].alive || groups_[group].closed) return;
  auto rest = trimmed(group, outputs(group));
  if (rest && rest->members.size() < groups_[group].members.size())
    replace(group, std::move(*rest));
}

}  // namespace anabranch
