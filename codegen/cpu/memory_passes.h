// What the caches are told: rows that are read next, results that are not read soon.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// While a row that is in the cache by now is worked on, memory would rest: the last loop over it
/// fetches the next row.
Kernel prefetch_rows(const Kernel& kernel, KernelContext& context);

/// Marks loads of a loop down the rows of a matrix, several sums of which are under way, to fetch
/// what the next turn of the loop along the columns reads: each row is on a page of its own, which
/// is what a processor does not foresee. Where there is but one sum it is fast enough to wait.
Kernel prefetch_columns(const Kernel& kernel, KernelContext& context);

/// Contiguous stores of vectors go past the caches where none would hold the results until they are
/// read.
Kernel store_past_caches(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
