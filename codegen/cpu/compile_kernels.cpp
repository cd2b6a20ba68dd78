#include "codegen/cpu/compile_kernels.h"

#include <llvm-c/Core.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/TargetParser/Host.h>

#include "codegen/cpu/emit_kernel.h"
#include "codegen/cpu/jit.h"
#include "ir/error.h"

namespace anabranch::cpu {
namespace {

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

// One function per kernel, named after it.
std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine,
                                          std::span<const Kernel> kernels) {
  auto module = std::make_unique<llvm::Module>("kernels", context);
  set_target(*module, machine);
  for (const Kernel& kernel : kernels) emit_kernel(*module, kernel, kernel.name);
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module, &stream)) {
    throw InternalError("llvm", stream.str(), text_of(*module));
  }
  return module;
}

// All that the code depends on: who makes it, for which CPU, and from what, in full. The module is
// asked and not the kernels: it takes a hundredth of the time of the code generation, and nothing
// of a kernel, nor of how it is emitted, can be forgotten.
std::string key_of(const llvm::Module& module, const llvm::TargetMachine& machine) {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  std::string key = "anabranch " ANABRANCH_VERSION ", LLVM " + std::to_string(major) + "." +
                    std::to_string(minor) + "." + std::to_string(patch) + "\n" +
                    machine.getTargetTriple().str() + "\n" + machine.getTargetCPU().str() + "\n" +
                    machine.getTargetFeatureString().str() + "\n";
  llvm::raw_string_ostream stream(key);
  llvm::WriteBitcodeToFile(module, stream);
  return key;
}

std::string object_of(llvm::Module& module, llvm::TargetMachine& machine, CodeCache* cache) {
  if (!cache) return generate(module, machine, llvm::CodeGenFileType::ObjectFile);
  const std::string key = key_of(module, machine);
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string object = generate(module, machine, llvm::CodeGenFileType::ObjectFile);
  cache->keep(key, object);
  return object;
}

}  // namespace

Code compile_kernels(std::span<const Kernel> kernels, CodeCache* cache) {
  if (kernels.empty()) return {};
  const auto machine = lend_target_machine();
  llvm::LLVMContext context;
  auto module = make_module(context, *machine, kernels);
  std::vector<std::string> symbols;
  for (const Kernel& kernel : kernels) symbols.push_back(kernel.name);
  try {
    const std::string object = object_of(*module, *machine, cache);
    LoadedCode loaded = load(object, symbols);
    Code code{.functions = {}, .keep_alive = std::move(loaded.keep_alive), .bytes = object.size()};
    for (void* address : loaded.addresses) {
      code.functions.push_back(reinterpret_cast<HostTask::Function>(address));
    }
    return code;
  } catch (const InternalError& error) {
    throw InternalError(error.stage(), error.what(), text_of(*module));
  }
}

std::string llvm_text(std::span<const Kernel> kernels) {
  llvm::LLVMContext context;
  return text_of(*make_module(context, *lend_target_machine(), kernels));
}

std::string assembly_text(std::span<const Kernel> kernels) {
  llvm::LLVMContext context;
  const auto machine = lend_target_machine();
  auto module = make_module(context, *machine, kernels);
  return generate(*module, *machine, llvm::CodeGenFileType::AssemblyFile);
}

Target host_target() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  Target target;
  target.vector_bytes = features.lookup("avx512f") ? 64 : features.lookup("avx2") ? 32 : 16;
  return target;
}

}  // namespace anabranch::cpu
