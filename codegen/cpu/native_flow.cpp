#include "codegen/cpu/native_flow.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include "codegen/cpu/emit_flow.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/object_code.h"
#include "ir/error.h"

namespace anabranch::cpu {
namespace {

/// What a native function is given besides its buffers: an array of pointers, and what keeps alive
/// what they point to.
struct FlowContext {
  std::vector<const void*> pointers;
  std::vector<std::shared_ptr<const void>> owners;
};

HostTask compile(const std::string& symbol, CodeCache* cache,
                 const std::function<void(FlowEmitter&)>& emit) {
  const auto machine = lend_target_machine();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  set_target(module, *machine);
  FlowEmitter emitter(module, symbol);
  emit(emitter);
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) throw InternalError("llvm", stream.str());
  const std::string object = object_of(module, *machine, cache, {"optimized", &optimize});
  LoadedCode loaded = load(object, {symbol});
  auto flow = std::make_shared<FlowContext>();
  flow->pointers = emitter.pointers();
  flow->owners = emitter.owners();
  flow->owners.push_back(std::move(loaded.keep_alive));
  HostTask task;
  task.function = reinterpret_cast<HostTask::Function>(loaded.addresses[0]);
  task.context = std::shared_ptr<const void>(flow, flow->pointers.data());
  return task;
}

}  // namespace

HostTask native_loop(const std::string& name, const LoopTask& loop, const KernelOf& kernel_of,
                     CodeCache* cache) {
  return compile(name, cache, [&](FlowEmitter& emitter) { emitter.emit_loop(loop, kernel_of); });
}

HostTask native_branch(const std::string& name, const BranchTask& branch, const KernelOf& kernel_of,
                       CodeCache* cache) {
  return compile(name, cache,
                 [&](FlowEmitter& emitter) { emitter.emit_branch(branch, kernel_of); });
}

}  // namespace anabranch::cpu
