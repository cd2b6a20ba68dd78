// Kernel to LLVM IR, already in vector form: no vectoriser runs after it.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/cpu/math/uses.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// The function that generated code calls for scratch memory too large for the stack (64-byte
/// aligned; throws std::bad_alloc), and the one that gives it back.
inline constexpr const char* allocate_scratch_name = "anabranch_allocate_scratch";
inline constexpr const char* release_scratch_name = "anabranch_release_scratch";

/// Adds to `module` a function `symbol` of the type HostTask::Function: iterations [begin, end) of
/// the kernel's parallel loop. Inside a vector loop every value is one scalar shared by the lanes
/// or `unroll` independent vectors; what is left over at the ends runs under a mask, with the same
/// instructions, so that how a range is cut never shows in the results.
///
/// Of an approximate op that occurs often, in the kernel or among `together` with it in one module
/// (`kernel` included), each use is a call of one function.
void emit_kernel(llvm::Module& module, const Kernel& kernel, const std::string& symbol,
                 const MathUses& together = {});

}  // namespace anabranch::cpu
