// LLVM modules to object files for this machine.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
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

/// LLVM's code generator for one CPU. The list of its passes is made once: that takes a fourth of
/// the time in which they compile a small kernel.
class CodeGenerator {
 public:
  explicit CodeGenerator(const CpuModel& cpu);

  llvm::TargetMachine& machine() const { return *machine_; }

  /// The module as an object file, or as assembly. What throws leaves it unfit for use.
  std::string object(llvm::Module& module);
  std::string assembly(llvm::Module& module);

 private:
  void start();
  void add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                  llvm::CodeGenFileType type);
  std::string run_object_passes(llvm::Module& module);

  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> object_bytes_;
  llvm::raw_svector_ostream object_stream_{object_bytes_};
  std::unique_ptr<llvm::legacy::PassManager> object_passes_;  // none before the first object file
};

/// A code generator; for the host's CPU lent from a pool: to make one takes as long as to compile a
/// small kernel. It goes back with this, unless an exception passes then. A process that leaves
/// main waits for it, since it takes static objects of LLVM apart.
class LentCodeGenerator {
 public:
  /// Throws Error where the process has left main.
  explicit LentCodeGenerator(const CpuModel& cpu = host_cpu());
  ~LentCodeGenerator();
  LentCodeGenerator(const LentCodeGenerator&) = delete;
  LentCodeGenerator& operator=(const LentCodeGenerator&) = delete;

  CodeGenerator& operator*() const { return *generator_; }
  CodeGenerator* operator->() const { return generator_; }

 private:
  struct Stay {
    Stay();
    ~Stay();
  };

  const Stay stay_;
  const bool is_pooled_;
  const int exceptions_ = std::uncaught_exceptions();  // those in flight while it is lent
  CodeGenerator* const generator_;
};

/// Gives the module this machine's triple and data layout.
void set_target(llvm::Module& module, const llvm::TargetMachine& machine);

/// The module's LLVM IR.
std::string text_of(const llvm::Module& module);

/// Throws InternalError, with what is wrong and the module's text, unless it is well-formed.
void verify(const llvm::Module& module);

}  // namespace anabranch::cpu
