// What a graph is made of: its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/graph.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"
#include "ir/attributes.h"
#include "ir/op.h"

namespace anabranch {

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

/// Same op, types, inputs, attributes and regions; locations do not count.
bool same_computation(const Node& a, const Node& b);
/// Of its computation.
std::uint64_t hash_of(const Node& node);

}  // namespace anabranch
