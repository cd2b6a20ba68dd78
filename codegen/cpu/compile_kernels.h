// Kernels to native code of this machine, through LLVM.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "anabranch/code_cache.h"
#include "codegen/cpu/cpu_model.h"
#include "ir/kernel/kernel.h"
#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Entry points, one per kernel, and what keeps them in memory. Each takes pointers to the kernel's
/// read and write buffers and a range of its parallel loop (all of [0, 1) where it has none).
struct Code {
  std::vector<HostTask::Function> functions;
  std::shared_ptr<const void> keep_alive;
  std::size_t bytes = 0;  ///< of the object file
  /// Of LLVM IR that was compiled, to which compile time is proportional; 0 from the cache.
  std::size_t instructions = 0;
};

/// Compiles kernels that the CPU's passes are done with together, as one LLVM module, unless
/// `cache` (which may be null) has their code. `cpu` may leave out features that this machine has.
/// Throws InternalError, with the LLVM IR, if LLVM refuses it. Thread-safe.
Code compile_kernels(std::span<const Kernel* const> kernels, CodeCache* cache = nullptr,
                     const CpuModel& cpu = host_cpu());
Code compile_kernels(std::span<const Kernel> kernels, CodeCache* cache = nullptr,
                     const CpuModel& cpu = host_cpu());

/// The LLVM IR (after our optimisations) and the assembly of the same, for dumps.
std::string llvm_text(std::span<const Kernel* const> kernels);
std::string assembly_text(std::span<const Kernel* const> kernels);

}  // namespace anabranch::cpu
