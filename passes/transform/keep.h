// mark_kept: the values of a function that a checkpoint of it keeps, marked as a policy says.
//
//   %1: f32[8] = tanh %0                           %1: f32[8] = tanh %0
//   %2: f32[8] = composite %1 rule=named    ->     %2: f32[8] = composite %1 rule=kept
//     name=state ...                                 ...
//   %3: f32[8] = sine %2                           %3: f32[8] = sine %2
//
// A mark is an identity that no transform drops, so that it is there when `linearize` decides what
// goes from the forward pass to the backward one; the `inline` pass drops it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"
#include "passes/transform/marks.h"

namespace anabranch {

/// What a policy is asked about: a result of a node, or what a loop carries into a turn (a
/// parameter), and the name that it has; empty where it has none.
struct KeepCandidate {
  const Node& node;
  std::uint32_t result;
  std::string_view name;
};
using KeepPolicy = std::function<bool(const KeepCandidate&)>;

struct MarkedFunction {
  Graph graph;
  std::vector<std::string> names;  ///< of values of the function
};

/// Asks about each value of `function` and of its loops, branches and functions with rules of their
/// own, but for arguments, which are kept in any case, constants, and values of checkpoints inside
/// of it, which have a policy of their own. A value with several names is asked about with each.
/// Names are dropped, and marks that are there.
MarkedFunction mark_kept(const Graph& function, const KeepPolicy& policy);

/// `value` with a mark of this rule.
Value add_mark(GraphBuilder& graph, Value value, CompositeRule rule, SourceLocation location = {});

/// The region of a mark: what it is given.
Graph identity_of(const Type& type);

}  // namespace anabranch
