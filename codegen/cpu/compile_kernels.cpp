#include "codegen/cpu/compile_kernels.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "anabranch/detail/key.h"
#include "anabranch/error.h"
#include "codegen/cpu/emit/kernel.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/leaked_on_error.h"
#include "codegen/cpu/link.h"
#include "codegen/cpu/object_code.h"
#include "codegen/kernel/key.h"

namespace anabranch::cpu {
namespace {

/// One function per kernel, named after it.
struct KernelModule {
  KernelModule(const llvm::TargetMachine& machine, std::span<const Kernel* const> kernels)
      : module("kernels", *context) {
    set_target(*module, machine);
    MathUses uses;
    for (const Kernel* kernel : kernels) count_math(*kernel, uses);
    for (const Kernel* kernel : kernels) emit_kernel(*module, *kernel, kernel->name, uses);
    verify(*module);
  }

  LeakedOnError<llvm::LLVMContext> context;
  LeakedOnError<llvm::Module> module;
};

// The kernels and not their module: to emit one takes as long as all else that a start from the
// cache does for it.
std::string key_of(std::span<const Kernel* const> kernels) {
  Key key;
  key.list(kernels.size());
  for (const Kernel* kernel : kernels) key.list(2).text(kernel->name).text(code_key(*kernel));
  return key.bytes();
}

}  // namespace

Code compile_kernels(std::span<const Kernel* const> kernels, CodeCache* cache,
                     const CpuModel& cpu) {
  if (kernels.empty()) return {};
  const LentCodeGenerator generator(cpu);
  std::optional<KernelModule> made;
  Code code;
  const auto module = [&]() -> llvm::Module& {
    llvm::Module& module = *made.emplace(generator->machine(), kernels).module;
    code.instructions = module.getInstructionCount();
    return module;
  };
  std::vector<std::string> symbols;
  for (const Kernel* kernel : kernels) symbols.push_back(kernel->name);
  try {
    const std::string object = object_of({key_of(kernels), module}, *generator, cache);
    LoadedCode loaded = load(object, symbols);
    code.keep_alive = std::move(loaded.keep_alive);
    code.bytes = object.size();
    for (void* address : loaded.addresses) {
      code.functions.push_back(reinterpret_cast<HostTask::Function>(address));
    }
    return code;
  } catch (const InternalError& error) {
    if (!made) throw;
    throw InternalError(error.stage(), error.what(), text_of(*made->module));
  }
}

Code compile_kernels(std::span<const Kernel> kernels, CodeCache* cache, const CpuModel& cpu) {
  std::vector<const Kernel*> all;
  for (const Kernel& kernel : kernels) all.push_back(&kernel);
  return compile_kernels(all, cache, cpu);
}

std::string llvm_text(std::span<const Kernel* const> kernels) {
  const LentCodeGenerator generator;
  return text_of(*KernelModule(generator->machine(), kernels).module);
}

std::string assembly_text(std::span<const Kernel* const> kernels) {
  const LentCodeGenerator generator;
  return generator->assembly(*KernelModule(generator->machine(), kernels).module);
}

}  // namespace anabranch::cpu
