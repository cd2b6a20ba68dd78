// The lines by which tests of CUDA kernels say how much they looked at. tools/test adds them up.
#pragma once

#include <cstddef>
#include <cstdio>

namespace anabranch::testing {

/// So many kernels of `count` things ("forms") were run by the CPU, thread by thread.
inline void report_run(std::size_t kernels, std::size_t count, const char* things) {
  std::printf("ring 2: %zu kernels of %zu %s\n", kernels, count, things);
}

}  // namespace anabranch::testing
