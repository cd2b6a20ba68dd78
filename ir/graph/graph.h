// Graph: a traced program as a value. Nodes in topological order; edges are small typed indices.
//
//   graph layer(%0: f32[64,128], %1: f32[128,32]) {
//     %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]    # model.cpp:12
//     %3: f32[64,32] = tanh %2
//     return %3
//   }
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/op.h"
#include "ir/source_location.h"
#include "ir/type.h"

namespace anabranch {

/// Result `result` of node `node` of the graph at hand.
struct Value {
  std::uint32_t node = 0;
  std::uint32_t result = 0;

  auto operator<=>(const Value&) const = default;
};

class Graph;

/// One application of an op. `types` has one entry per result.
struct Node {
  Op op = Op::parameter;
  std::vector<Type> types;
  std::vector<Value> inputs;
  Attributes attributes;
  std::vector<Graph> regions;
  SourceLocation location;

  template <class A>
  const A& as() const {
    return std::get<A>(attributes);
  }
};

/// Parameters are the first nodes; every input of a node comes before it. Made by GraphBuilder or
/// parse, changed by making another.
class Graph {
 public:
  Graph() = default;

  const std::string& name() const { return name_; }
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(std::uint32_t index) const { return nodes_[index]; }
  const Node& node(Value value) const { return nodes_[value.node]; }
  const Type& type(Value value) const { return nodes_[value.node].types[value.result]; }
  std::span<const Value> outputs() const { return outputs_; }
  /// The number of parameters; they are nodes 0 to parameter_count() - 1.
  std::size_t parameter_count() const { return parameter_count_; }
  const Type& parameter_type(std::size_t index) const { return nodes_[index].types[0]; }

  /// Same name, nodes and outputs; source locations do not count.
  bool operator==(const Graph& other) const;
  /// Equal graphs have equal hashes; the name does not count.
  std::uint64_t hash() const;

 private:
  friend class GraphBuilder;
  friend struct BrokenGraph;  // the tests of `verify` make what no builder makes
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Value> outputs_;
  std::size_t parameter_count_ = 0;
};

/// Same op, types, inputs, attributes and regions; locations do not count.
bool same_computation(const Node& a, const Node& b);
/// Of its computation.
std::uint64_t hash_of(const Node& node);

}  // namespace anabranch
