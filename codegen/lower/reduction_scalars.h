// The scalars of a reduction in a loop: what it starts from, what an element adds, and what it
// comes to.
#pragma once

#include <vector>

#include "codegen/lower/combiner.h"
#include "codegen/lower/inline_producers.h"
#include "ir/graph/graph.h"
#include "ir/kernel/builder.h"

namespace anabranch {

/// The scalars to begin with. `scalar_place` is the Point of rank 0.
std::vector<Ref> initial_scalars(const Combiner& combiner, const Node& reduction,
                                 InlineProducers& producers, KernelBuilder& builder);

/// The scalars that one element adds, at `place`; `position` is its place along the reduced axis.
std::vector<Ref> element_scalars(const Combiner& combiner, const Node& reduction, Point place,
                                 Index position, Ref mask, InlineProducers& producers,
                                 KernelBuilder& builder);

/// The reduction, ready for close_loop. A carry's body goes into the innermost open loop.
Reduction make_reduction(const Combiner& combiner, const Node& reduction, std::vector<Ref> initial,
                         std::vector<Ref> values, KernelBuilder& builder);

/// Makes the carried scalars known to `producers` as the reduction's results at `row`.
void bind_results(const Combiner& combiner, std::uint32_t node, const Node& reduction, Point row,
                  const std::vector<Ref>& carried, InlineProducers& producers,
                  KernelBuilder& builder);

}  // namespace anabranch
