// How long a kernel is expected to take on one core.
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// In nanoseconds, of a kernel whose loops are final: a vector of lanes takes as long as one. What
/// fits in a core's own cache is taken to be there.
double kernel_ns(const Kernel& kernel);

}  // namespace anabranch::cpu
