// GraphCopier: nodes of one graph written into another, with what they read renamed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"
#include "ir/graph/value_table.h"

namespace anabranch {

/// Says what each value of `from` is in `to`. Both outlive it.
class GraphCopier {
 public:
  GraphCopier(const Graph& from, GraphBuilder& to);

  /// What a value of `from` is in `to`. Throws InternalError where that has not been said.
  Value operator()(Value value) const;
  std::vector<Value> operator()(std::span<const Value> values) const;

  /// The results of a node are `first` and those after it.
  void rename(std::uint32_t node, Value first);
  /// Result `value` is `as`.
  void rename(Value value, Value as) { renamed_[value] = as; }

  /// A node as it reads in `to`; nothing is added.
  Node renamed(std::uint32_t node) const;
  /// Adds a node as it is; a parameter becomes a parameter. Its result 0 there.
  Value copy(std::uint32_t node);
  /// Adds all that are no parameters; those have been renamed.
  void copy_body();

 private:
  const Graph& from_;
  GraphBuilder& to_;
  ValueTable<Value> renamed_;
};

/// The outputs of `graph` where its parameters are these values of `to`: its nodes are added to it.
std::vector<Value> inlined(const Graph& graph, GraphBuilder& to, std::span<const Value> inputs);

}  // namespace anabranch
