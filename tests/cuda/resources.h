// What ptxas says of kernels: registers, shared memory, spills.
#pragma once

#include <string>
#include <vector>

namespace anabranch::testing {

/// Compute capabilities, times 10.
inline constexpr int tested_architectures[] = {80, 90};

/// Sums and maxima over all kernels.
struct Resources {
  int kernels = 0;
  int most_registers = 0;
  int most_shared_bytes = 0;
  std::vector<std::string> spills;  ///< kernels that spill

  /// `log`: the compiler's, of one program.
  void add(const std::string& log);
  void print(int architecture) const;
};

}  // namespace anabranch::testing
