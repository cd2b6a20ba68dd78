// Functions that say what reverse mode keeps: marks, identities around values of which a policy
// spoke, and checkpoints.
#pragma once

#include "ir/graph/graph.h"

namespace anabranch {

inline bool is_mark(const Node& node) {
  return node.op == Op::composite && is_mark(node.as<CompositeAttributes>().rule);
}

inline bool is_checkpoint(const Node& node) {
  return node.op == Op::composite &&
         node.as<CompositeAttributes>().rule == CompositeRule::checkpoint;
}

}  // namespace anabranch
