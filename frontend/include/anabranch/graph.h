// Graph: a traced program as a value.
//
//   graph layer(%0: f32[64,128], %1: f32[128,32]) {
//     %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]    # model.cpp:12
//     %3: f32[64,32] = tanh %2
//     return %3
//   }
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/type.h"

namespace anabranch {  // of the library alone, so not exported
struct Node;           // one application of an op: ir/graph/graph.h
class GraphBuilder;
}  // namespace anabranch

namespace ANABRANCH_API anabranch {

/// Result `result` of node `node` of the graph at hand.
struct Value {
  std::uint32_t node = 0;
  std::uint32_t result = 0;

  auto operator<=>(const Value&) const = default;
};

/// Nodes in topological order; edges are small typed indices. Parameters are the first nodes; every
/// input of a node comes before it. Made by `trace`, GraphBuilder or `parse`, changed by making
/// another: copies share their nodes.
class Graph {
 public:
  Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  ~Graph();
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;

  const std::string& name() const { return name_; }
  std::span<const Value> outputs() const { return outputs_; }
  /// The number of parameters; they are nodes 0 to parameter_count() - 1.
  std::size_t parameter_count() const { return parameter_count_; }
  const Type& parameter_type(std::size_t index) const;
  const Type& output_type(std::size_t index) const;

  // Templates, since only the library knows what a Node is.
  template <class N = Node>
  std::span<const N> nodes() const {
    return nodes_ ? std::span<const N>(*nodes_) : std::span<const N>();
  }
  template <class N = Node>
  const N& node(std::uint32_t index) const {
    return nodes<N>()[index];
  }
  template <class N = Node>
  const N& node(Value value) const {
    return nodes<N>()[value.node];
  }
  template <class N = Node>
  const Type& type(Value value) const {
    return nodes<N>()[value.node].types[value.result];
  }

  /// Same name, nodes and outputs; source locations do not count.
  bool operator==(const Graph& other) const;
  /// Equal graphs have equal hashes; the name does not count.
  std::uint64_t hash() const;

 private:
  friend class GraphBuilder;
  friend struct BrokenGraph;  // the tests of `verify` make what no builder makes

  std::string name_;
  std::shared_ptr<const std::vector<Node>> nodes_;  // null for none
  std::vector<Value> outputs_;
  std::size_t parameter_count_ = 0;
};

/// The text form, the same in logs, golden tests, bug reports and the command's input; `parse`
/// reads it back to an equal graph. With `locations`, source lines follow as comments.
std::string to_string(const Graph& graph, bool locations = true);
std::ostream& operator<<(std::ostream& out, const Graph& graph);

/// The one graph in `text`. Throws Error with the line and column, what was found and what was
/// expected; types are inferred again and must agree with what the text states. Where the text's
/// `file` is named, nodes carry it with their line.
Graph parse(std::string_view text, std::string_view file = {});

/// A digraph of Graphviz: a box per node (op, type, source line), fusions as clusters.
std::string to_dot(const Graph& graph);

}  // namespace anabranch
