// Loops and branches of small steps as one native function each.
//
//   while %i, %x                    void while3(pointers, buffers) {
//     condition: %i < 1000            i = *buffers[0]; x = *buffers[1];
//     body: %i + 1, %x * %x    ->     while (i < 1000) { i = i + 1; x = x * x; }
//                                     *buffers[2] = i; *buffers[3] = x;
//                                   }
#pragma once

#include <span>
#include <string>

#include "anabranch/code_cache.h"
#include "ir/program/program.h"
#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// Whether regions are so small that one function might as well run them from end to end.
bool is_small(std::span<const Program> regions, std::span<const Kernel> kernels);

/// The whole of `flow`, a loop or a branch, for one thread. Its regions have one stream, and each
/// of their steps is one task. Kernels over scalars and short vectors become part of the function,
/// whose small carries then stay in registers; the tasks of other steps, which `code` has and keeps
/// alive, are called.
HostTask native_flow(const Step& flow, const LinkedStep& code, std::span<const Kernel> kernels,
                     CodeCache* cache);

/// The LLVM IR (optimized) and the assembly of that function, for dumps.
std::string flow_llvm_text(const Step& flow, const LinkedStep& code,
                           std::span<const Kernel> kernels);
std::string flow_assembly_text(const Step& flow, const LinkedStep& code,
                               std::span<const Kernel> kernels);

}  // namespace anabranch::cpu
