// Loops and branches of small steps as one native function each.
//
//   while %i, %x                    void while3(pointers, buffers) {
//     condition: %i < 1000            i = *buffers[0]; x = *buffers[1];
//     body: %i + 1, %x * %x    ->     while (i < 1000) { i = i + 1; x = x * x; }
//                                     *buffers[2] = i; *buffers[3] = x;
//                                   }
#pragma once

#include <string>

#include "codegen/plan/control_flow.h"
#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// Loops and branches of a program with these kernels, which outlive it.
class HostFlows final : public NativeFlows {
 public:
  HostFlows(std::span<const Kernel> kernels, CodeCache* cache) : kernels_(kernels), cache_(cache) {}
  bool is_small(const Program& region) const override;
  NativeTask task_of(const Launch& launch) override;

 private:
  std::span<const Kernel> kernels_;
  CodeCache* cache_;
};

/// The whole of a loop for one thread, on the buffers of its launch. Condition and body have at
/// most one stream, and each of their launches has one task. Kernels over scalars and short vectors
/// become part of the function, whose small carries then stay in registers; other tasks are called.
HostTask native_loop(const std::string& name, const LoopTask& loop, std::span<const Kernel> kernels,
                     CodeCache* cache);

/// The same for a branch.
HostTask native_branch(const std::string& name, const BranchTask& branch,
                       std::span<const Kernel> kernels, CodeCache* cache);

/// The LLVM IR (optimized) and the assembly of a loop's or a branch's function, for dumps; empty
/// for any other launch.
std::string flow_llvm_text(const Launch& launch, std::span<const Kernel> kernels);
std::string flow_assembly_text(const Launch& launch, std::span<const Kernel> kernels);

}  // namespace anabranch::cpu
