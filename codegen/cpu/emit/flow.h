// Loops and branches to LLVM IR: control flow around the kernels and the calls of their steps.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/plan/control_flow.h"
#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// Writes one function of the type HostTask::Function, whose context is an array of pointers.
class FlowEmitter {
 public:
  FlowEmitter(llvm::Module& module, const std::string& symbol);

  void emit_loop(const LoopTask& loop, std::span<const Kernel> kernels);
  void emit_branch(const BranchTask& branch, std::span<const Kernel> kernels);

  /// What the context is to hold, once the function is written, and what keeps that alive.
  const std::vector<const void*>& pointers() const { return pointers_; }
  const std::vector<std::shared_ptr<const void>>& owners() const { return owners_; }

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::Value* given(const void* pointer);
  llvm::Value* buffer(std::size_t index);
  llvm::Value* local(std::size_t bytes);
  void copy(llvm::Value* to, llvm::Value* from, std::size_t bytes);
  void copy_unless_same(llvm::Value* to, llvm::Value* from, std::size_t bytes);

  Values emit_steps(const Executable& executable, const Values& inputs, const Values& outputs,
                    llvm::Value* arena, std::span<const Kernel> kernels);
  void emit_launch(const Executable& executable, const Launch& launch, const Values& slots,
                   std::span<const Kernel> kernels);
  llvm::Function* inlined(const Kernel& kernel);
  void come_home(const LoopTask& loop, Values places, const Values& home);

  llvm::Module& module_;
  llvm::Function* function_;
  llvm::IRBuilder<> entry_;  // allocas and what is loaded once
  llvm::IRBuilder<> builder_;
  std::vector<const void*> pointers_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::map<const Kernel*, llvm::Function*> inlined_;
};

/// Makes kernels part of the functions that call them, and keeps in registers what need not be in
/// memory.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace anabranch::cpu
