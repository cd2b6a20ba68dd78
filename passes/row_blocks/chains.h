// Chains: convex sets of nodes around large values, which might as well be computed row by row.
//
//   %2 = dot %0, %1        large, and read by what follows alone
//   %3 = reduce_max %2
//   %4 = subtract %2, %3   a chain of four nodes; it has to have %3, which is between them
//   %5 = dot %4, %1
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/row_blocks/block_costs.h"

namespace anabranch {

struct Chain {
  std::vector<std::uint32_t> members;  ///< ascending: nodes that it has instead of the graph
  std::vector<std::uint32_t> copies;   ///< nodes that it computes for itself
  std::vector<Value> inputs, outputs;  ///< of the graph
  Graph graph;                         ///< what it computes, from inputs to outputs
  std::vector<bool> is_copy;           ///< per node of `graph`; empty: none is

  /// What may depend on it, and it on, is between these.
  std::uint32_t first() const { return members.front(); }
  std::uint32_t last() const { return members.back(); }
};

/// Finds chains in one graph.
class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const BlockCosts& costs);

  /// Nodes that a chain may grow from: each gives a large value, and a dot is beside it. The
  /// largest first, and of equal ones the last: what a chain computes for itself none before it has
  /// to give.
  std::vector<std::uint32_t> seeds() const;
  /// The chain around a seed, none of whose nodes is `taken`; nothing where there are no rows.
  std::optional<Chain> around(std::uint32_t seed, const std::vector<char>& taken) const;

 private:
  friend class ChainGrowth;
  bool is_seed(std::uint32_t node) const;
  // What depends on no parameter is on no device yet, and may be read on several: chains copy it.
  bool can_be_member(std::uint32_t node) const { return can_be_cut_[node] && depends_[node]; }

  const Graph& graph_;
  const BlockCosts& costs_;
  std::vector<std::vector<std::uint32_t>> readers_;  // per node
  std::vector<char> is_output_;                      // per node
  std::vector<char> can_be_cut_;                     // per node: has axis roles
  std::vector<char> depends_;                        // per node: on a parameter or a transfer
};

}  // namespace anabranch
