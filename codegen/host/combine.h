// Updates of a scatter combined into the array, one loop per dtype and combiner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/dtype.h"
#include "ir/attributes.h"

namespace anabranch {

constexpr std::int64_t cache_line = 64;  // bytes

/// A run of updates, by its number, and where its first element goes.
struct PlacedRun {
  std::int64_t target;
  std::int64_t number;
};

/// Runs of `run` elements each, in this order, as far as they are in [begin, end) of the array.
struct PlacedRuns {
  const PlacedRun* list;
  std::size_t count;
  std::int64_t run;
  std::int64_t begin, end;
};

using CombineRuns = void (*)(void* array, const void* updates, const PlacedRuns& runs);

/// Throws InternalError where the combiner does not take the dtype.
CombineRuns combine_runs(Dtype dtype, ScatterCombiner combiner);

}  // namespace anabranch
