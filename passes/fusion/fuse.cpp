#include "passes/fusion/fuse.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>

#include "ir/graph/builder.h"
#include "ir/text/print.h"
#include "passes/dce.h"
#include "passes/fusion/fused_loop.h"

namespace anabranch {
namespace {

constexpr int most_siblings = 8;  // partners that a reader is tried with, per value that they share

double bytes(const Graph& graph, std::uint32_t node) {
  return static_cast<double>(graph.node(node).types[0].bytes());
}

// The groups that `group` reads, those with the largest results first.
std::vector<GroupId> producers(const Graph& graph, const FusionGroups& groups, GroupId group) {
  std::vector<std::uint32_t> operands = groups.groups()[group].operands;
  std::stable_sort(operands.begin(), operands.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bytes(graph, a) > bytes(graph, b);
  });
  std::vector<GroupId> found;
  for (std::uint32_t operand : operands) {
    GroupId owner = groups.owner(operand);
    if (owner == FusionGroups::nobody) continue;
    if (std::find(found.begin(), found.end(), owner) == found.end()) found.push_back(owner);
  }
  return found;
}

// Each op in turn joins the groups that it reads.
void merge_with_producers(const Graph& graph, FusionGroups& groups) {
  for (std::uint32_t node = 0; node < graph.nodes().size(); ++node) {
    GroupId group = groups.owner(node);
    if (group == FusionGroups::nobody || groups.groups()[group].closed) continue;
    for (GroupId producer : producers(graph, groups, group)) {
      if (!groups.merge(producer, group)) group = producer;
    }
  }
}

// Groups that read the same large value read it once.
void merge_siblings(const Graph& graph, FusionGroups& groups) {
  auto may_share = [&](GroupId group, double shared) {
    const FusionGroup& at = groups.groups()[group];
    return at.alive && !at.closed && at.kind != FusionKind::dot && 8 * shared >= at.cost;
  };
  for (std::uint32_t node = 0; node < graph.nodes().size(); ++node) {
    if (groups.readers(node).size() < 2) continue;
    const double shared = bytes(graph, node);
    std::vector<GroupId> joined;
    for (GroupId reader : std::vector<GroupId>(groups.readers(node))) {
      if (!may_share(reader, shared)) continue;
      int tries = 0;
      auto partner = std::find_if(joined.rbegin(), joined.rend(), [&](GroupId with) {
        return tries++ < most_siblings && !groups.merge(with, reader);
      });
      if (partner == joined.rend()) joined.push_back(reader);
    }
  }
}

// Groups in an order in which each comes after what it reads.
std::vector<GroupId> in_order(const FusionGroups& groups) {
  const auto& all = groups.groups();
  std::vector<std::size_t> waits(all.size(), 0);
  std::vector<std::vector<GroupId>> after(all.size());
  std::priority_queue<GroupId, std::vector<GroupId>, std::greater<>> ready;
  for (GroupId id = 0; id < all.size(); ++id) {
    if (!all[id].alive) continue;
    for (std::uint32_t operand : all[id].operands) {
      GroupId above = groups.owner(operand);
      if (above == FusionGroups::nobody) continue;
      after[above].push_back(id);
      ++waits[id];
    }
    if (waits[id] == 0) ready.push(id);
  }
  std::vector<GroupId> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (GroupId next : after[order.back()]) {
      if (--waits[next] == 0) ready.push(next);
    }
  }
  return order;
}

// What no group reads any more. Later groups first, so that what they no longer read can go in
// turn.
void trim(FusionGroups& groups) {
  const std::vector<GroupId> order = in_order(groups);
  for (auto group = order.rbegin(); group != order.rend(); ++group) groups.trim(*group);
}

// A copy may be the last reason to hold something in memory.
void copy_cheap_producers(const Graph& graph, FusionGroups& groups) {
  for (auto node = static_cast<std::uint32_t>(graph.nodes().size()); node-- > 0;) {
    groups.copy_into_readers(node);
  }
  trim(groups);
}

// Last, so that no group that stores into an array has to come before others. A start that the
// block's group computes as well is read by no one else.
void merge_updates(const Graph& graph, FusionGroups& groups) {
  bool has_updates = false;
  for (std::uint32_t node = 0; node < graph.nodes().size(); ++node) {
    if (graph.node(node).op != Op::dynamic_update_slice) continue;
    has_updates = true;
    if (groups.owner(node) != FusionGroups::nobody) groups.merge_update(node);
  }
  if (has_updates) trim(groups);
}

/// Writes the graph that the groups describe.
class Writer {
 public:
  Writer(const Graph& graph, const FusionGroups& groups, PassContext& context)
      : graph_(graph), groups_(groups), context_(context), builder_(graph.name()) {}

  Graph write(std::vector<std::uint32_t>& node_of_group) {
    for (std::uint32_t i = 0; i < graph_.parameter_count(); ++i) {
      written_[{i, 0}] = builder_.parameter(graph_.parameter_type(i), graph_.node(i).location);
    }
    node_of_group.assign(groups_.groups().size(), 0);
    for (GroupId group : in_order(groups_)) node_of_group[group] = write_group(group);
    std::vector<Value> outputs;
    for (Value output : graph_.outputs()) outputs.push_back(read(output));
    return builder_.build(std::move(outputs));
  }

 private:
  // A value of the old graph that is in memory in the new one.
  Value read(Value value) {
    const Node& node = graph_.node(value);
    return node.op == Op::constant ? builder_.append(node) : written_.at(value);
  }

  std::uint32_t write_group(GroupId id) {
    const FusionGroup& group = groups_.groups()[id];
    const std::uint32_t last = group.members.back();
    if (!group.closed) return write_fusion(id);
    Node node = graph_.node(last);
    if (node.op == Op::reshape || node.op == Op::broadcast_in_dim) {
      return (written_[{last, 0}] = alias(node)).node;
    }
    if (node.op == Op::while_) {
      if (const auto made = write_loop(id)) return *made;
    }
    if (is_control(node.op)) {
      for (Graph& region : node.regions) region = fuse(region, context_);
    }
    for (Value& input : node.inputs) input = read(input);
    const std::uint32_t made = builder_.append(std::move(node)).node;
    for (std::uint32_t r = 0; r < graph_.node(last).types.size(); ++r)
      written_[{last, r}] = {made, r};
    return made;
  }

  // One kernel of a pointwise loop, if the group is one.
  std::optional<std::uint32_t> write_loop(GroupId id) {
    const std::uint32_t node = groups_.groups()[id].members.back();
    const Node& loop = graph_.node(node);
    std::vector<char> is_read(loop.types.size());
    for (Value output : groups_.outputs(id)) is_read[output.result] = 1;
    auto found = fused_loop(graph_, loop, is_read);
    if (const auto* why = std::get_if<std::string>(&found)) {
      context_.notes.push_back("fuse: a loop is not one kernel: " + *why);
      return {};
    }
    FusedLoop& made = std::get<FusedLoop>(found);
    for (Value& input : made.fusion.inputs) input = read(input);
    const std::uint32_t fusion = builder_.append(std::move(made.fusion)).node;
    for (std::uint32_t i = 0; i < made.results.size(); ++i) {
      written_[{node, made.results[i]}] = {fusion, i};
    }
    if (made.counter && is_read[made.counter->result]) {
      written_[{node, made.counter->result}] = builder_.constant(std::move(made.counter->last));
    }
    return fusion;
  }

  Value alias(const Node& node) {
    return builder_.add(Op::reshape, {read(node.inputs[0])}, NoAttributes{}, node.types[0], {},
                        node.location);
  }

  // What a region's parameter stands for: a value of the old graph, or a reshape of one, which is
  // better done outside, where it costs nothing.
  bool is_operand(const FusionGroup& group, std::uint32_t node) const {
    if (!std::binary_search(group.members.begin(), group.members.end(), node)) return true;
    const Node& at = graph_.node(node);
    return at.op == Op::reshape && is_operand(group, at.inputs[0].node);
  }

  Value outside(const FusionGroup& group, Value value) {
    bool is_member = std::binary_search(group.members.begin(), group.members.end(), value.node);
    if (!is_member) return read(value);
    const Node& node = graph_.node(value);
    return builder_.add(Op::reshape, {outside(group, node.inputs[0])}, NoAttributes{},
                        node.types[0], {}, node.location);
  }

  std::uint32_t write_fusion(GroupId id) {
    const FusionGroup& group = groups_.groups()[id];
    const std::vector<Value> outputs = groups_.outputs(id);
    GraphBuilder region("");
    std::vector<Value> operands;
    std::map<Value, Value> inside;
    for (std::uint32_t member : group.members) {
      if (is_operand(group, member)) continue;
      for (Value input : graph_.node(member).inputs) {
        if (!is_operand(group, input.node) || inside.contains(input)) continue;
        inside[input] = region.parameter(graph_.type(input));
        operands.push_back(outside(group, input));
      }
    }
    for (std::uint32_t member : group.members) {
      if (is_operand(group, member)) continue;
      Node node = graph_.node(member);
      for (Value& input : node.inputs) input = inside.at(input);
      Value made = region.append(std::move(node));
      for (std::uint32_t r = 0; r < graph_.node(member).types.size(); ++r) {
        inside[{member, r}] = {made.node, r};
      }
    }
    std::vector<Value> results;
    for (Value output : outputs) results.push_back(inside.at(output));
    std::vector<Type> types;
    for (Value output : outputs) types.push_back(graph_.type(output));
    // The group has been planned, so there is nothing to infer or check.
    const Value fusion = builder_.append(Node{Op::fusion,
                                              std::move(types),
                                              std::move(operands),
                                              FusionAttributes{group.kind},
                                              {region.build(std::move(results))},
                                              graph_.node(outputs.back()).location});
    for (std::uint32_t i = 0; i < outputs.size(); ++i) written_[outputs[i]] = {fusion.node, i};
    return fusion.node;
  }

  const Graph& graph_;
  const FusionGroups& groups_;
  PassContext& context_;
  GraphBuilder builder_;
  std::map<Value, Value> written_;  // where the old graph's values are
};

// "fuse: %2 (reduce_sum) stays out of %3 (divide): ..."
void note_refusals(const Graph& before, const FusionGroups& groups, const Graph& after,
                   const std::vector<std::uint32_t>& node_of_group, PassContext& context) {
  const std::vector<std::uint32_t> numbers = value_numbers(after);
  auto named = [&](GroupId group) {
    std::uint32_t last = groups.outputs(group).back().node;
    return "%" + std::to_string(numbers[node_of_group[group]]) + " (" +
           std::string(name(before.node(last).op)) + ")";
  };
  for (GroupId group = 0; group < groups.groups().size(); ++group) {
    const FusionGroup& reader = groups.groups()[group];
    if (!reader.alive || reader.closed) continue;
    for (GroupId producer : producers(before, groups, group)) {
      if (groups.groups()[producer].closed) continue;
      if (auto why = groups.refusal(producer, group)) {
        context.notes.push_back("fuse: " + named(producer) + " stays out of " + named(group) +
                                ": " + *why);
      }
    }
  }
}

}  // namespace

FusionGroups fusion_groups(const Graph& graph) {
  FusionGroups groups(graph);
  merge_with_producers(graph, groups);
  merge_siblings(graph, groups);
  copy_cheap_producers(graph, groups);
  merge_updates(graph, groups);
  return groups;
}

Graph fuse(const Graph& given, PassContext& context) {
  const Graph graph = without_dead_nodes(given);
  const FusionGroups groups = fusion_groups(graph);
  std::vector<std::uint32_t> node_of_group;
  Graph fused = Writer(graph, groups, context).write(node_of_group);
  note_refusals(graph, groups, fused, node_of_group, context);
  context.planned_members += groups.planned_members();
  return without_dead_nodes(fused);  // what a loop's kernel has inside, or does without
}

}  // namespace anabranch
