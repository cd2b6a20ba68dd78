// What this machine can do at most.
#pragma once

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

struct Ceiling {
  double bytes_per_second = 0;       ///< of memory, read and written
  double operations_per_second = 0;  ///< f32 multiplications and additions, fused
  double f64_operations_per_second = 0;
};

/// Of the CPU: copies and arithmetic on all cores. Measures at the first call, on the workers, for
/// a few hundredths of a second; then remembers. Throws Error where there is no memory for it.
const Ceiling& measured_ceiling();

}  // namespace anabranch
