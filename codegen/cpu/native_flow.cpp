#include "codegen/cpu/native_flow.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/cpu/emit/flow.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/leaked_on_error.h"
#include "codegen/cpu/link.h"
#include "codegen/cpu/object_code.h"

namespace anabranch::cpu {
namespace {

// To go from step to step through the executor takes 0.2 us for each launch, and to hand a part to
// another core some more; a step that takes much longer gains by other cores what it loses.
constexpr double native_ns = 50'000;

/// What a native function is given besides its buffers: an array of pointers, and what keeps alive
/// what they point to.
struct FlowContext {
  std::vector<const void*> pointers;
  std::vector<std::shared_ptr<const void>> owners;
};

void emit(FlowEmitter& emitter, const LoopTask& loop, std::span<const Kernel> kernels) {
  emitter.emit_loop(loop, kernels);
}
void emit(FlowEmitter& emitter, const BranchTask& branch, std::span<const Kernel> kernels) {
  emitter.emit_branch(branch, kernels);
}

/// A module of one function, which `emitter` has written.
struct FlowModule {
  template <class Task>
  FlowModule(const std::string& symbol, const Task& task, std::span<const Kernel> kernels,
             const llvm::TargetMachine& machine)
      : module(symbol, *context), emitter(*module, symbol) {
    set_target(*module, machine);
    emit(emitter, task, kernels);
    verify(*module);
  }

  LeakedOnError<llvm::LLVMContext> context;
  LeakedOnError<llvm::Module> module;
  FlowEmitter emitter;
};

template <class Task>
HostTask compile(const std::string& symbol, const Task& task, std::span<const Kernel> kernels,
                 CodeCache* cache) {
  const auto machine = lend_target_machine();
  FlowModule made(symbol, task, kernels, *machine);
  const std::string object = object_of(*made.module, *machine, cache, {"optimized", &optimize});
  LoadedCode loaded = load(object, {symbol});
  auto flow = std::make_shared<FlowContext>();
  flow->pointers = made.emitter.pointers();
  flow->owners = made.emitter.owners();
  flow->owners.push_back(std::move(loaded.keep_alive));
  HostTask native;
  native.function = reinterpret_cast<HostTask::Function>(loaded.addresses[0]);
  native.context = std::shared_ptr<const void>(flow, flow->pointers.data());
  return native;
}

template <class Task>
std::string text(const std::string& symbol, const Task& task, std::span<const Kernel> kernels,
                 bool assembly) {
  const auto machine = lend_target_machine();
  FlowModule made(symbol, task, kernels, *machine);
  optimize(*made.module, *machine);
  if (assembly) return generate(*made.module, *machine, llvm::CodeGenFileType::AssemblyFile);
  return text_of(*made.module);
}

std::string text(const Launch& launch, std::span<const Kernel> kernels, bool assembly) {
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) {
    if (std::holds_alternative<HostTask>(loop->native))
      return text(launch.name, *loop, kernels, assembly);
  } else if (const auto* branch = std::get_if<BranchTask>(&launch.task)) {
    if (std::holds_alternative<HostTask>(branch->native))
      return text(launch.name, *branch, kernels, assembly);
  }
  return {};
}

}  // namespace

bool HostFlows::is_small(const Program& region) const {
  double ns = 0;
  for (const Launch& launch : region.launches) {
    if (!launch.one_task()) return false;
    ns += launch.predicted_ns;
  }
  return ns <= native_ns;
}

NativeTask HostFlows::task_of(const Launch& launch) {
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) {
    return native_loop(launch.name, *loop, kernels_, cache_);
  }
  return native_branch(launch.name, std::get<BranchTask>(launch.task), kernels_, cache_);
}

HostTask native_loop(const std::string& name, const LoopTask& loop, std::span<const Kernel> kernels,
                     CodeCache* cache) {
  return compile(name, loop, kernels, cache);
}

HostTask native_branch(const std::string& name, const BranchTask& branch,
                       std::span<const Kernel> kernels, CodeCache* cache) {
  return compile(name, branch, kernels, cache);
}

std::string flow_llvm_text(const Launch& launch, std::span<const Kernel> kernels) {
  return text(launch, kernels, false);
}

std::string flow_assembly_text(const Launch& launch, std::span<const Kernel> kernels) {
  return text(launch, kernels, true);
}

}  // namespace anabranch::cpu
