// canonicalize: one way of writing each thing, so that later passes need to know only that one.
//
//   %1: f32[4,1] = reshape %0
//   %2: f32[4,8] = broadcast_in_dim %1 axes=[0,1]      ->    %1: f32[4,8] = broadcast_in_dim %0
//   axes=[0] return %2                                                return %1
#pragma once

#include "passes/rewrite.h"

namespace anabranch {

/// `graph` with constants on the right of commutative ops, constants of one value as broadcasts,
/// index maps merged and trivial ones gone, reductions over nothing gone, and transposes before a
/// dot in the dot's attributes.
Graph canonicalize(const Graph& graph, PassContext& context);

/// The table that it applies.
const RuleTable& canonicalize_rules();

/// The part of it that concerns reshape, broadcast_in_dim and transpose.
std::vector<Rule> layout_rules();
/// The part that concerns slice, pad, reverse and concatenate.
std::vector<Rule> slice_and_pad_rules();
/// The part that concerns reductions and dot.
std::vector<Rule> contraction_rules();

}  // namespace anabranch
