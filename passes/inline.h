// inline: puts what a composite computes in its place. Its rule has been of use to the transforms,
// which come before.
//
//   %1: f32[8] = composite %0 rule=checkpoint ... graph f(%0: f32[8]) {
//     %1: f32[8] = tanh %0
//     return %1                                     ->    %1: f32[8] = tanh %0
//   }
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// `graph` without composites, in regions too. Returns it unchanged where there is none. Throws
/// Error for the derivative of a custom_vjp that is asked for in forward mode.
Graph inline_(const Graph& graph, PassContext& context);

/// Whether a node is a composite, or one is in its regions.
bool has_composite(const Node& node);

}  // namespace anabranch
