// What one run of a kernel moves and computes, counted from its loops.
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Each element of a buffer counts once however often it is read; index arithmetic does not count.
Cost measure(const Kernel& kernel);

}  // namespace anabranch
