// Combiners of reduction ops: what each carries, and what changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// The scalars that a reduction op carries from element to element.
struct Combiner {
  Combine combine = Combine::sum;
  std::vector<Dtype> dtypes;  ///< one, n for `reduce`, value and position for argmax and argmin
};

/// A sum or product of f16 or bf16 is carried in f32; sums of bool are `any`.
Combiner combiner_of(const Node& reduction, const Graph& graph);

/// The bits that combining with changes nothing: -inf or the least integer for `maximum`.
std::uint64_t identity(Combine combine, Dtype dtype);

}  // namespace anabranch
