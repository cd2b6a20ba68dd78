// A loop or a branch of small steps as one CUDA kernel, which one block runs from end to end.
//
//   while %i, %x                    __global__ void while3(i, x, results) {
//     condition: %i < 1000            for (;;) {
//     body: %i + 1, %x * %x    ->       condition(i, goes_on); __syncthreads();
//                                       if (!goes_on) break;
//                                       body(i, x); __syncthreads(); } }
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "ir/literal.h"
#include "ir/program/program.h"

namespace anabranch::cuda {

struct FlowText {
  /// The functions that the kernel calls, then `extern "C" __global__ void NAME(pointers to the
  /// step's buffers, then to the constants)`.
  std::string text;
  int threads = 1;                        ///< of its one block
  std::vector<const Literal*> constants;  ///< in the programs that run inside
  std::int64_t shared_bytes = 0;          ///< of the block's shared memory, at most
};

/// A kernel of the program, by its number.
using KernelAt = std::function<const Kernel&(std::uint32_t)>;

/// The threads that one block needs to run `step`, a loop or a branch: one for each of the most
/// iterations that a kernel inside has, within bounds.
int block_threads(const Step& step, std::span<const Kernel> kernels);

/// `step` is a loop or a branch, whose kernels have their threads of that block. What runs inside
/// has one stream of kernels, copies, and loops and branches of the same kind. All threads take
/// each step of these together, with a barrier after it; small values are in shared memory, or,
/// where no kernel needs more than one thread, in that thread's registers.
FlowText emit_flow(const Step& step, const KernelAt& kernel_at);

}  // namespace anabranch::cuda
