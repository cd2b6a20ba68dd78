// GraphBuilder: makes graphs, node by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// Appends nodes to a new graph, inferring each node's types and reusing an equal node where there
/// is one (hash-consing).
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "main");

  /// Nodes that come without a location have this one from now on, as what is made for a node of
  /// another graph has that node's.
  void at(SourceLocation location) { location_ = location; }

  /// Throws InternalError once another node has been added.
  Value parameter(Type type, SourceLocation location = {});

  /// A parameter that is found while other nodes are there already, as a value from outside that a
  /// region turns out to need: `build` puts it behind the other parameters.
  Value late_parameter(Type type, SourceLocation location = {});

  /// Result 0 of `op` applied to `inputs`. Ops flagged `typed` need `stated`, their result's type;
  /// for others it must be absent. Throws Error, with the op, the operand types and the location,
  /// where the op does not take them.
  Value add(Op op, std::vector<Value> inputs, Attributes attributes = NoAttributes{},
            std::optional<Type> stated = std::nullopt, std::vector<Graph> regions = {},
            SourceLocation location = {});

  Value constant(Literal literal, SourceLocation location = {});

  /// Result 0 of a node whose types are known to be right, as when it is copied from another graph
  /// and its inputs are renamed: nothing is inferred or checked.
  Value append(Node node);

  const Type& type(Value value) const { return node(value).types[value.result]; }
  const Node& node(Value value) const { return nodes_[value.node]; }
  std::size_t size() const { return nodes_.size(); }
  /// Makes room for so many nodes in all.
  void reserve(std::size_t nodes) { nodes_.reserve(nodes); }

  /// The finished graph; the builder is left empty. Throws InternalError on an unknown value.
  Graph build(std::vector<Value> outputs);

 private:
  void put_parameters_first(std::span<Value> outputs);

  std::string name_;
  std::vector<Node> nodes_;
  std::size_t parameter_count_ = 0;
  SourceLocation location_;
  bool has_late_parameters_ = false;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace anabranch
