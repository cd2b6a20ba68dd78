// The groups of a graph on their way to being fusions: which node is in which, what a merge would
// gain, and why a merge is refused.
//
// Index maps, iota and splat constants belong to no group: every group that reads one holds a copy,
// since to compute a place anew costs less than to store it. One that must exist in memory (an
// output of the graph, an operand of a dot) has a group as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/fusion_plan.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// Of all of its results.
inline double result_bytes(const Node& node) {
  double sum = 0;
  for (const Type& type : node.types) sum += static_cast<double>(type.bytes());
  return sum;
}

using GroupId = std::uint32_t;

/// Of one kernel, per element (FusionPlan::instructions): what compiles in proportion to its size
/// on every device. A group that would be larger is cut where the fewest bytes cross.
inline constexpr std::int64_t most_instructions = 2048;

struct FusionGroup {
  std::vector<std::uint32_t> members;   ///< ascending; what the group does not own is a copy
  std::vector<std::uint32_t> operands;  ///< ascending: nodes read from outside
  FusionKind kind = FusionKind::elementwise;
  double cost = 0;                ///< as bytes of memory traffic
  std::int64_t instructions = 0;  ///< as in FusionPlan
  bool closed = false;            ///< takes nothing in: an alias, or a fusion made before
  bool full = false;              ///< cut off a larger group: takes no further op in
  bool alive = true;
};

class FusionGroups {
 public:
  static constexpr GroupId nobody = UINT32_MAX;

  /// Each op alone, with copies of the index maps that it reads through.
  explicit FusionGroups(const Graph& graph);

  const std::vector<FusionGroup>& groups() const { return groups_; }
  GroupId owner(std::uint32_t node) const { return owner_[node]; }
  /// Groups that read `node` from outside.
  const std::vector<GroupId>& readers(std::uint32_t node) const { return readers_[node]; }
  /// What `group` computes for others, ascending.
  std::vector<Value> outputs(GroupId group) const { return outputs(group, group); }

  /// Why `a` and `b` cannot or should not be one group; nothing if they can.
  std::optional<std::string> refusal(GroupId a, GroupId b) const;
  /// Makes them one (with the id of `a`), or says why not. Two groups that would be more than a
  /// kernel should hold are cut anew instead, where the fewest bytes cross; `b` is the later part.
  std::optional<std::string> merge(GroupId a, GroupId b);
  /// Lets the readers of `node` compute it themselves where that costs less than to read it.
  void copy_into_readers(std::uint32_t node);
  /// Makes `node`, a dynamic_update_slice, an output of the group that computes its block, which is
  /// then stored once, where it goes to; where that needs no copy of the array: nothing that the
  /// group computes is needed by what else reads the array. A group that reads the array elsewhere
  /// computes all of it anew, where the block is most of it. Else the update stays a group of its
  /// own.
  void merge_update(std::uint32_t node);
  /// Leaves out what no output of `group` needs; a group without readers dies.
  void trim(GroupId group);
  /// Nodes of all groups that have been planned so far: what the pass has done.
  std::size_t planned_members() const { return planned_members_; }

 private:
  struct Draft {
    FusionGroup group;
    std::optional<std::string> refusal;
    bool too_large = false;  ///< the only reason to refuse it
    bool updates = false;    ///< some outputs are blocks of operands
  };

  void measure_map(std::uint32_t node);
  void add_group(std::uint32_t node);
  bool is_index_map(std::uint32_t node) const;
  bool must_exist(std::uint32_t node) const;
  bool has_group(std::uint32_t node) const;
  Draft draft(std::vector<std::uint32_t> members, const std::vector<Value>& outputs) const;
  Draft draft(std::vector<std::uint32_t> members, std::vector<std::uint32_t> operands,
              const std::vector<Value>& outputs) const;
  Draft merged(GroupId a, GroupId b) const;
  bool cut(GroupId a, GroupId b, const FusionGroup& both);
  bool cut_at(std::size_t place, GroupId a, GroupId b, const FusionGroup& both);
  std::vector<std::uint32_t> with_index_maps(std::vector<std::uint32_t> nodes) const;
  std::vector<Value> outputs(GroupId a, GroupId b) const;
  std::vector<Value> outputs(const std::vector<std::uint32_t>& members, GroupId a, GroupId b) const;
  bool is_read_outside(Value value, GroupId a, GroupId b) const;
  bool is_reached_around(GroupId from, GroupId to) const;
  bool needs(GroupId group, GroupId from) const;
  std::uint32_t take_in_operands(std::uint32_t update);
  bool can_take(GroupId group, std::uint32_t update) const;
  bool is_read_by_then(GroupId group, std::uint32_t update) const;
  void absorb(GroupId into, GroupId group, FusionGroup both);
  void need_as_late(GroupId group, std::uint32_t node);
  std::optional<std::vector<std::uint32_t>> recipe(std::uint32_t node) const;
  std::optional<FusionGroup> trimmed(GroupId group, const std::vector<Value>& rest) const;
  void replace(GroupId group, FusionGroup by);
  void set_readers(GroupId group, bool reads);

  const Graph& graph_;
  std::vector<FusionGroup> groups_;
  std::vector<std::uint32_t> latest_;  // per group: nothing of it, or that it needs, is later
  std::vector<GroupId> owner_;         // per node
  std::vector<std::vector<GroupId>> readers_;  // per node
  std::vector<char> is_output_;                // per node: whether the graph returns it
  std::vector<char>
      is_read_in_memory_;            // per node: whether a dot, a made fusion or an alias reads it
  std::vector<std::uint32_t> part_;  // per node: which transfers are around it; empty: none do
  std::vector<int> map_size_;        // per node: what a copy of an index map would bring along
  mutable std::size_t planned_members_ = 0;
  mutable std::vector<std::uint32_t> seen_;  // per group: the last search that came there
  mutable std::uint32_t searches_ = 0;
};

}  // namespace anabranch
