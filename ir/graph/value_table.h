// ValueTable: something for each value of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// One entry for each result of each node, parameters included.
template <class T>
class ValueTable {
 public:
  explicit ValueTable(const Graph& graph, const T& initial = T()) {
    first_.reserve(graph.nodes().size() + 1);
    first_.push_back(0);
    for (const Node& node : graph.nodes()) first_.push_back(first_.back() + node.types.size());
    entries_.assign(first_.back(), initial);
  }

  T& operator[](Value value) { return entries_[first_[value.node] + value.result]; }
  const T& operator[](Value value) const { return entries_[first_[value.node] + value.result]; }

  /// Those of a node's results.
  std::span<T> of(std::size_t node) {
    return std::span(entries_).subspan(first_[node], count(node));
  }
  std::span<const T> of(std::size_t node) const {
    return std::span(entries_).subspan(first_[node], count(node));
  }

 private:
  std::size_t count(std::size_t node) const { return first_[node + 1] - first_[node]; }

  std::vector<std::size_t> first_;  // per node: where its results are in what follows; then the end
  std::vector<T> entries_;
};

}  // namespace anabranch
