// Combiners of reduction ops: what each carries, what it starts from, and what it comes to.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/lower/inline_producers.h"
#include "ir/graph/graph.h"
#include "ir/kernel/builder.h"

namespace anabranch {

/// The scalars that a reduction op carries from element to element.
struct Combiner {
  Combine combine = Combine::sum;
  std::vector<Dtype> dtypes;  ///< one, two for argmax and argmin, n for `reduce`
};

/// A sum or product of f16 or bf16 is carried in f32; sums of bool are `any`.
Combiner combiner_of(const Node& reduction, const Graph& graph);

/// The bits that combining with changes nothing: -inf or the least integer for `maximum`.
std::uint64_t identity(Combine combine, Dtype dtype);

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
