// Updates of a scatter combined into the array, one loop per dtype and combiner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/dtype.h"
#include "ir/attributes.h"

namespace anabranch {

constexpr std::int64_t cache_line = 64;       // bytes
constexpr std::int64_t near_bytes = 1 << 19;  // a second-level cache keeps so many

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

/// Updates of one element each: update positions[i] goes to element offsets[i] * stride.
struct PlacedElements {
  const std::uint32_t* offsets;
  const std::uint32_t* positions;
  std::size_t count;
  std::int64_t stride;
  bool is_near;  ///< caches hold the array
};

using CombineElements = void (*)(void* array, const void* updates, const PlacedElements& elements);

CombineElements combine_elements(Dtype dtype, ScatterCombiner combiner);

/// Whether updates may be combined with each other first: what comes out is the same, bit for bit.
bool combines_in_any_order(Dtype dtype, ScatterCombiner combiner);

/// Whether it is the same but for rounding: sums and products of f32 and f64.
bool combines_in_parts(Dtype dtype, ScatterCombiner combiner);

/// Writes what combines to the other operand, bit for bit, for a combiner of either kind.
void fill_with_identity(void* array, std::int64_t count, Dtype dtype, ScatterCombiner combiner);

}  // namespace anabranch
