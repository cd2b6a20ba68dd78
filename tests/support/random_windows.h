// Random dimension numbers of gather and scatter: every case that StableHLO has, batches and all.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/attributes.h"
#include "tests/support/random_literal.h"

namespace anabranch {

struct RandomGather {
  GatherAttributes attributes;
  Shape indices;
};
struct RandomScatter {
  ScatterAttributes attributes;
  Shape indices, updates;
};

/// Of an array of that shape; the result, or the updates, have at most about `limit` elements.
RandomGather random_gather(Random& random, const Shape& operand, std::int64_t limit);
RandomScatter random_scatter(Random& random, const Shape& operand, std::int64_t limit,
                             ScatterCombiner combiner);

/// Indices into axes of at most that size: most of them inside, some just outside, few of any bits.
Literal random_indices(Random& random, Dtype dtype, const Shape& shape, std::int64_t size);

}  // namespace anabranch
