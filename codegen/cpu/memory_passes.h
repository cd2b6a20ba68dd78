// What the caches are told: rows that are read next, results that are not read soon.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// While a row that is in the cache by now is worked on, memory would rest: the last loop over it
/// fetches the next row.
Kernel prefetch_rows(const Kernel& kernel, KernelContext& context);

/// Contiguous stores of vectors go past the caches where none would hold the results until they are
/// read.
/// Marks loads of vectors, each of which is a page or more behind the one before, to prefetch those
/// of rows to come: the processor by itself does not.
Kernel prefetch_columns(const Kernel& kernel, KernelContext& context);

Kernel store_past_caches(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
