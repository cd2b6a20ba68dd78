// The pieces that random graphs are put together from.
#pragma once

#include <span>

#include "tests/support/random_builder.h"

namespace anabranch {

/// Adds at most `nodes` nodes, or none where nothing fits; drawn in proportion to `weight`.
struct Recipe {
  int weight;
  int nodes;
  void (*add)(RandomBuilder& builder);
};

/// One op each (with the operands it needs), of every kind.
std::span<const Recipe> op_recipes();
/// Index maps and reductions, one each.
std::span<const Recipe> shape_recipes();
/// What fusion is for: softmax, layernorm, dot with bias and activation ...
std::span<const Recipe> pattern_recipes();
/// Loops and branches, nested up to three deep, and slices at places known later.
std::span<const Recipe> control_recipes();
/// Functions of the user, and values sent to another device.
std::span<const Recipe> call_recipes();

/// The function, also inside regions, that gives its operand's elements in reverse.
CustomCallAttributes turned_call(const Type& type);

}  // namespace anabranch
