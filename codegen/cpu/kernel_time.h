// How long a kernel is expected to take on one core.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// The most bytes that the kernels of a program find in the cache of one core. Kernels that hand
/// arrays to each other run on the core that has these; the only one of a program finds its arrays
/// where its last run left them, which may be both cores' caches.
double cached_bytes(std::span<const Kernel> kernels);

/// Bytes of a core's own cache, the second; none where the system does not say.
std::int64_t own_cache_bytes();

/// Bytes that the last level of caches holds from one run of a program to the next: half of it,
/// since other programs use it, too.
std::int64_t kept_bytes();

/// In nanoseconds, of a kernel whose loops are final: a vector of lanes takes as long as one.
/// Arrays of up to `cached` bytes are taken to be in a core's own cache.
double kernel_ns(const Kernel& kernel, double cached);

}  // namespace anabranch::cpu
