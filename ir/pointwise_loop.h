// Pointwise loops: loops of which each place can be computed by itself, from the first turn to the
// last. One kernel runs them, its threads and lanes taking places, the carries in registers.
//
//   while %i, %x, %ys graph(...) {             for each place p:
//     %row = dynamic_slice %xs, %i, 0            x = x0[p]
//     %next = %x * %a + %row            ->       for i < turns:
//     %out = dynamic_update_slice                  x = x * a[p] + xs[i, p]
//                %ys, %next, %i, 0                 ys[i, p] = x
//   }                                            result[p] = x
//
// Arrays that are not carried may have a few elements for each place, and sums of those: a point in
// space, say, and its length.
//
// A loop that ends at each place by itself (ir/masked_loop.h) has a `while` there.
//
// Dr.Jit calls this a recorded loop (Jakob et al., "Dr.Jit: A Just-In-Time Compiler for
// Differentiable Rendering", 2022, section 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/counted_loop.h"
#include "ir/fusion_plan.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// What a carried value of such a loop is.
enum class CarryRole : std::uint8_t {
  counter,  ///< counts the turns
  uniform,  ///< a scalar: at all places the same
  element,  ///< an array of the domain's shape, but for axes of size 1: each place has its own
  stack     ///< an array of which each turn stores a block, an element at each place; none reads it
};

/// A place takes turns as long as its element of a carried array is true.
struct TurnsWhile {
  std::uint32_t mask = 0;  ///< which carried value that is
};

struct PointwiseLoop {
  Shape domain;
  std::variant<KnownTurns, TurnsWhile> turns;
  std::vector<CarryRole> roles;  ///< per carried value
  /// Per carried value: a stack of which some turn stores each element, so that what it was at
  /// first does not matter.
  std::vector<bool> is_covered;
  std::int64_t operations = 0;    ///< of one place in one turn, weighed as in `Cost`
  std::int64_t instructions = 0;  ///< as in FusionPlan

  const KnownTurns* counted() const { return std::get_if<KnownTurns>(&turns); }
};

/// Of how many elements `node` of `graph` is a sum or the like, if so few that a body may hold it:
/// the kernel has their combination written out. Nothing of any other op.
std::optional<std::int64_t> elements_written_out(const Graph& graph, const Node& node);

/// The `while` of `graph` as such a loop, or in words why it is none.
std::variant<PointwiseLoop, std::string> pointwise_loop(const Graph& graph, const Node& loop);

/// The `while` of a region that is that, and what it begins with, computed element by element; null
/// of any other region.
const Node* whole_loop(const Graph& region);

/// The plan of a region that is a `whole_loop`, or why it cannot be one kernel.
std::variant<FusionPlan, std::string> plan_loop(const Graph& region);

}  // namespace anabranch
