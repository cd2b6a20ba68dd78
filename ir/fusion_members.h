// The nodes of a fusion group in their graph, by their positions in the group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

class FusionMembers {
 public:
  static constexpr std::size_t outside = SIZE_MAX;

  /// `members` ascending; both must outlive this.
  FusionMembers(const Graph& graph, std::span<const std::uint32_t> members)
      : graph_(graph), members_(members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      first_operand_.push_back(operands_.size());
      for (Value input : (*this)[i].inputs) operands_.push_back(position(input.node, i));
    }
  }

  std::size_t size() const { return members_.size(); }
  const Node& operator[](std::size_t i) const { return graph_.node(members_[i]); }
  std::uint32_t node(std::size_t i) const { return members_[i]; }

  /// Where `node` is among the members before `end`; `outside` if it is none of them.
  std::size_t position(std::uint32_t node, std::size_t end) const {
    if (end > 0 && members_[end - 1] == node) return end - 1;  // as along a chain
    const auto last = members_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto found = std::lower_bound(members_.begin(), last, node);
    return found == last || *found != node ? outside
                                           : static_cast<std::size_t>(found - members_.begin());
  }
  std::size_t position(std::uint32_t node) const { return position(node, size()); }

  /// The position of operand `i` of a member.
  std::size_t operand(std::size_t member, std::size_t i) const {
    return operands_[first_operand_[member] + i];
  }

 private:
  const Graph& graph_;
  std::span<const std::uint32_t> members_;
  std::vector<std::size_t> operands_;       // of all members: their positions, in order
  std::vector<std::size_t> first_operand_;  // per member: where its operands begin
};

}  // namespace anabranch
