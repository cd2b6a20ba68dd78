// What ptxas says of kernels: registers, shared memory, stack frames, spills.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace anabranch::testing {

/// Compute capabilities, times 10.
inline constexpr int tested_architectures[] = {80, 90};

/// A driver sets a thread's stack aside for every thread that a GPU can hold.
inline constexpr int allowed_stack_bytes = 2 << 10;

/// Sums and maxima over all kernels.
struct Resources {
  int kernels = 0;
  int most_registers = 0;
  int most_shared_bytes = 0;
  int most_stack_bytes = 0;         ///< of a thread
  std::vector<std::string> spills;  ///< kernels that spill

  /// `log`: the compiler's, of one program.
  void add(const std::string& log);
  /// A line about the kernels of `count` things ("forms"), for tools/test to add up.
  void report(int architecture, std::size_t count, const char* things) const;
};

}  // namespace anabranch::testing
