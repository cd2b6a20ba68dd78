// What a fusion may hold, and how its values hang on its loops: shared by the pass that makes
// fusions and by the lowering that turns them into loops, so that the two cannot disagree.
// plan_fusion.h makes such plans.
//
// An elementwise group has one domain: the shape of its outputs (all of the same shape). Every
// value is found by pulling: an output at (i, j) asks its operands at the places their index maps
// give.
//
// A reduction group has a domain that its reductions share: kept axes and reduced axes of one
// operand shape. Its values fall into stages. Stage k runs over the whole row once and folds the
// reductions of stage k; what depends on them runs in a later stage. Softmax over the last axis of
// f32[64,128]:
//
//   domain [64,128], reduced axes [1]
//   stage 0: reduce_max(x)            stage 1: reduce_sum(exp(x - max))        stage 2: exp(x -
//   max) / sum
//
// Another reduction that a group holds is of a few elements: it is computed where it is read, its
// elements written out, as an index op is. The least of 16 distances of a point:
//
//   %2: f32[n,16] = reduce_sum %1 axes=[2]     # of f32[n,16,3]: three terms, written out
//   %3: f32[n] = reduce_min %2 axes=[1]        # domain [n,16], reduced axes [1]
//
// Outputs have the kept axes' shape (row outputs; axes of size 1 do not count) or the domain's
// (element outputs).
//
// A dot group is one dot of two operands of the region, then an elementwise epilogue that uses the
// dot's result only at its own place; the domain is the result's shape.
//
// An output may be an update: a dynamic_update_slice of an operand. What the group computes at a
// place is then an element of the block, and the block alone is stored, in the operand's memory or
// in a copy of it. An elementwise group may read the operand at the place that it writes. One that
// reads it elsewhere, and knows where its blocks are, computes the whole array into other memory.
//
// A loop group is one pointwise loop (pointwise_loop.h), and what it begins with where that is not
// read from memory; the domain is its places.
//
// A region's constants are splats: any other array is an operand.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// An output that is an update, by its place among them, and the node whose block it writes: of a
/// region, the number of a parameter.
struct BlockUpdate {
  std::uint32_t output = 0;
  std::uint32_t array = 0;
};

struct FusionPlan {
  FusionKind kind = FusionKind::elementwise;
  Shape domain;
  std::vector<int> reduced_axes;  ///< ascending; empty unless the kind is `reduction`
  std::vector<int> stage;  ///< per node of the region: how many reductions are below it in a row
  int stages = 1;          ///< passes over a row, the one that stores element outputs included
  std::vector<BlockUpdate> updates;  ///< in the order of the outputs
  std::vector<char> is_row;  ///< per output: stored once per row, not at every place of the domain
  std::int64_t recompute = 1;   ///< how often a non-trivial node is computed per element, at most
  std::int64_t operations = 0;  ///< arithmetic of one run, weighed as in `Cost`; no dot's own
  /// Scalar instructions that lowering writes for one element, roughly: how large the code is.
  std::int64_t instructions = 0;
  /// Of a group that one thread runs from end to end: arithmetic that a second one could do
  /// meanwhile, if the group were several.
  std::int64_t side_by_side = 0;
};

/// The axes that a reduction reduces, ascending.
std::vector<int> reduced_axes(const Node& reduction);

/// Whether the loops of such a plan fold `node`: not where it is no reduction, or one whose
/// elements are written out.
bool is_folded(const FusionPlan& plan, const Graph& graph, const Node& node);

/// Places of a row: iterations of the reduced axes.
std::int64_t row_size(const FusionPlan& plan);

/// Values of a row that several stages need are kept from the first of them on if they are costly
/// and take no more than this: more scratch than a first-level cache holds is read no faster than
/// it is computed again.
constexpr std::int64_t largest_kept_row = 64 << 10;    // bytes
constexpr std::int64_t largest_kept_rows = 256 << 10;  // together
constexpr int kept_operations = 10;                    // of a value that is worth keeping

/// Whether rows can be kept at all: where the innermost loop is a kept one, each of its lanes would
/// need a row.
bool can_keep_rows(const FusionPlan& plan);

/// Whether the rows of a reduction group are so few and so long that several threads should share
/// each: lowering then cuts rows into chunks, which it can if there is one stage and no element
/// output.
bool has_few_long_rows(const FusionPlan& plan);

/// Arithmetic that one element of the op's result takes: 0 for leaves and index maps, 10 for an
/// approximate op, 1 for most others.
int operations_per_element(Op op);
/// What costs take for the turns of a loop that ends by a condition.
constexpr std::int64_t unknown_turns = 16;

}  // namespace anabranch
