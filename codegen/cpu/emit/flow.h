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

#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// Writes one function of the type HostTask::Function, whose context is an array of pointers.
class FlowEmitter {
 public:
  FlowEmitter(llvm::Module& module, const std::string& symbol);

  /// `code` is that of the step: of its regions.
  void emit_loop(const LoopStep& loop, const LinkedStep& code, std::span<const Kernel> kernels);
  void emit_branch(const BranchStep& branch, const LinkedStep& code,
                   std::span<const Kernel> kernels);

  /// What the context is to hold, once the function is written, and what keeps alive that of it
  /// which `code` does not.
  const std::vector<const void*>& pointers() const { return pointers_; }
  const std::vector<std::shared_ptr<const void>>& owners() const { return owners_; }
  /// Whether it is worth a team (runtime/cpu/hot_team.h), whose leader calls it.
  bool gains_by_team() const { return gains_by_team_; }

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::Value* given(const void* pointer);
  llvm::Value* buffer(std::size_t index);
  llvm::Value* local(std::size_t bytes);
  llvm::Value* number(std::int64_t value);
  void copy(llvm::Value* to, llvm::Value* from, std::size_t bytes);
  void copy_unless_same(llvm::Value* to, llvm::Value* from, std::size_t bytes);

  Values emit_program(const Program& program, const LinkedCode& code, const Values& inputs,
                      const Values& outputs, llvm::Value* arena, std::span<const Kernel> kernels);
  void emit_step(const Program& program, const Step& step, const LinkedStep& code,
                 const Values& slots, std::span<const Kernel> kernels);
  void emit_call(const Kernel* kernel, const HostTask& task, llvm::Value* buffers);
  llvm::Function* inlined(const Kernel& kernel);
  void copy_back(const LoopStep& loop, Values places, const Values& base);

  llvm::Module& module_;
  llvm::Function* function_;
  llvm::IRBuilder<> entry_;  // allocas and what is loaded once
  llvm::IRBuilder<> builder_;
  std::vector<const void*> pointers_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::map<const Kernel*, llvm::Function*> inlined_;
  bool shares_parts_ = false, gains_by_team_ = false;
};

/// Makes kernels part of the functions that call them, and keeps in registers what need not be in
/// memory.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace anabranch::cpu
