// What a GPU can do at most.
#pragma once

#include "anabranch/ceiling.h"
#include "runtime/cuda/gpu_facts.h"

namespace anabranch {

/// By its clocks.
Ceiling ceiling_of(const cuda::GpuFacts& gpu);

}  // namespace anabranch
