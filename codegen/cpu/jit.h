// LLVM modules to callable code of this machine (ORC).
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/cpu/cpu_model.h"

namespace anabranch::cpu {

/// A compiler for a CPU; for the host's lent from a pool: to make one takes as long as to compile a
/// small kernel. It goes back when the handle does.
using LentTargetMachine = std::unique_ptr<llvm::TargetMachine, void (*)(llvm::TargetMachine*)>;
LentTargetMachine lend_target_machine(const CpuModel& cpu = host_cpu());

/// Gives the module this machine's triple and data layout.
void set_target(llvm::Module& module, const llvm::TargetMachine& machine);

/// The module's LLVM IR.
std::string text_of(const llvm::Module& module);

/// Throws InternalError, with what is wrong and the module's text, unless it is well-formed.
void verify(const llvm::Module& module);

/// The machine code or the assembly of a module.
std::string generate(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType type);

/// Machine code linked into this process; given back when the last handle goes.
struct LoadedCode {
  std::vector<void*> addresses;  ///< one per symbol asked for
  std::shared_ptr<const void> keep_alive;
};

/// Links an object file; other object files do not see its symbols. Throws InternalError.
/// Thread-safe.
LoadedCode load(const std::string& object, const std::vector<std::string>& symbols);

}  // namespace anabranch::cpu
