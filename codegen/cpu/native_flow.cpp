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

void emit(FlowEmitter& emitter, const LoopTask& loop, const KernelOf& kernel_of) {
  emitter.emit_loop(loop, kernel_of);
}
void emit(FlowEmitter& emitter, const BranchTask& branch, const KernelOf& kernel_of) {
  emitter.emit_branch(branch, kernel_of);
}

/// A module of one function, which `emitter` has written.
struct FlowModule {
  template <class Task>
  FlowModule(const std::string& symbol, const Task& task, const KernelOf& kernel_of,
             const llvm::TargetMachine& machine)
      : module(symbol, *context), emitter(*module, symbol) {
    set_target(*module, machine);
    emit(emitter, task, kernel_of);
    verify(*module);
  }

  LeakedOnError<llvm::LLVMContext> context;
  LeakedOnError<llvm::Module> module;
  FlowEmitter emitter;
};

template <class Task>
HostTask compile(const std::string& symbol, const Task& task, const KernelOf& kernel_of,
                 CodeCache* cache) {
  const auto machine = lend_target_machine();
  FlowModule made(symbol, task, kernel_of, *machine);
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
std::string text(const std::string& symbol, const Task& task, const KernelOf& kernel_of,
                 bool assembly) {
  const auto machine = lend_target_machine();
  FlowModule made(symbol, task, kernel_of, *machine);
  optimize(*made.module, *machine);
  if (assembly) return generate(*made.module, *machine, llvm::CodeGenFileType::AssemblyFile);
  return text_of(*made.module);
}

std::string text(const Launch& launch, const KernelOf& kernel_of, bool assembly) {
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) {
    if (std::holds_alternative<HostTask>(loop->native))
      return text(launch.name, *loop, kernel_of, assembly);
  } else if (const auto* branch = std::get_if<BranchTask>(&launch.task)) {
    if (std::holds_alternative<HostTask>(branch->native))
      return text(launch.name, *branch, kernel_of, assembly);
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
    return native_loop(launch.name, *loop, kernel_of_, cache_);
  }
  return native_branch(launch.name, std::get<BranchTask>(launch.task), kernel_of_, cache_);
}

HostTask native_loop(const std::string& name, const LoopTask& loop, const KernelOf& kernel_of,
                     CodeCache* cache) {
  return compile(name, loop, kernel_of, cache);
}

HostTask native_branch(const std::string& name, const BranchTask& branch, const KernelOf& kernel_of,
                       CodeCache* cache) {
  return compile(name, branch, kernel_of, cache);
}

std::string flow_llvm_text(const Launch& launch, const KernelOf& kernel_of) {
  return text(launch, kernel_of, false);
}

std::string flow_assembly_text(const Launch& launch, const KernelOf& kernel_of) {
  return text(launch, kernel_of, true);
}

}  // namespace anabranch::cpu
