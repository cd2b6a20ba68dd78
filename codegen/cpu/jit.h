// LLVM modules to object files for this machine.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "codegen/cpu/cpu_model.h"

namespace anabranch::cpu {

/// Makes this machine's code generator known to LLVM, once. Throws Error where memory ended in the
/// midst of that before.
void initialize_native_target();

/// A compiler for a CPU; for the host's lent from a pool: to make one takes as long as to compile a
/// small kernel. It goes back when the handle does, unless an exception passes then.
struct ReturnTargetMachine {
  bool is_pooled = true;
  int exceptions = std::uncaught_exceptions();  // those in flight while it is lent
  void operator()(llvm::TargetMachine* machine) const;
};
using LentTargetMachine = std::unique_ptr<llvm::TargetMachine, ReturnTargetMachine>;
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

}  // namespace anabranch::cpu
