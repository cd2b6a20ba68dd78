// Graphs whose shape tempts a compiler to do more than is in proportion to their size.
#pragma once

#include "ir/graph/graph.h"

namespace anabranch::families {

/// A concatenation of a value with itself, `count` times over: twice as long at each step.
Graph joined_with_itself(int count);
Graph unary_chain(Op op, int count);
/// One concatenation of `count` slices of one array, in mixed order.
Graph slices_of_one(int count);
/// One concatenation of `count` parameters.
Graph parameters_in_one(int count);
/// Layers alike, but for a number of their own.
Graph dots(int count);
/// Reductions of one array, each scaled by a number of its own.
Graph small_reductions(int count);
/// One polynomial of degree `count` in three arrays by turns, by Horner's scheme.
Graph arithmetic(int count);
/// Reductions in a row; then each of their results is added, the last first.
Graph ladder(int count);

}  // namespace anabranch::families
