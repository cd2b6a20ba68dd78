// What this machine can do at most, measured.
#pragma once

namespace anabranch {

struct Ceiling {
  double bytes_per_second = 0;       ///< read and written by copies of memory on all cores
  double operations_per_second = 0;  ///< f32 multiplications and additions, fused, on all cores
};

/// Measures at the first call, on the workers, for a few hundredths of a second; then remembers.
/// Throws Error where there is no memory for it.
const Ceiling& measured_ceiling();

}  // namespace anabranch
