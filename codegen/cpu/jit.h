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
/// small kernel. It goes back with this, unless an exception passes then. A process that leaves
/// main waits for it, since it takes static objects of LLVM apart.
class LentTargetMachine {
 public:
  /// Throws Error where the process has left main.
  explicit LentTargetMachine(const CpuModel& cpu = host_cpu());
  ~LentTargetMachine();
  LentTargetMachine(const LentTargetMachine&) = delete;
  LentTargetMachine& operator=(const LentTargetMachine&) = delete;

  llvm::TargetMachine& operator*() const { return *machine_; }

 private:
  struct Stay {
    Stay();
    ~Stay();
  };

  const Stay stay_;
  const bool is_pooled_;
  const int exceptions_ = std::uncaught_exceptions();  // those in flight while it is lent
  llvm::TargetMachine* const machine_;
};

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
