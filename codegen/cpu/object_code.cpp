#include "codegen/cpu/object_code.h"

#include <llvm-c/Core.h>
#include <llvm/Bitcode/BitcodeWriter.h>

#include <optional>
#include <utility>

#include "codegen/cache.h"
#include "codegen/cpu/jit.h"

namespace anabranch::cpu {
namespace {

// All that the code depends on: who makes it, for which CPU, and from what, in full. The module is
// asked and not the kernels: it takes a hundredth of the time of the code generation, and nothing
// of a kernel, nor of how it is emitted, can be forgotten.
std::string key_of(const llvm::Module& module, const llvm::TargetMachine& machine,
                   const Preparation& preparation) {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  std::string key = "anabranch " ANABRANCH_VERSION ", LLVM " + std::to_string(major) + "." +
                    std::to_string(minor) + "." + std::to_string(patch) + "\n" +
                    machine.getTargetTriple().str() + "\n" + machine.getTargetCPU().str() + "\n" +
                    machine.getTargetFeatureString().str() + "\n" + preparation.name + "\n";
  llvm::raw_string_ostream stream(key);
  llvm::WriteBitcodeToFile(module, stream);
  return key;
}

std::string generated(llvm::Module& module, llvm::TargetMachine& machine,
                      const Preparation& preparation) {
  if (preparation.run) preparation.run(module, machine);
  return generate(module, machine, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace

std::string object_of(llvm::Module& module, llvm::TargetMachine& machine, CodeCache* cache,
                      const Preparation& preparation) {
  if (!cache) return generated(module, machine, preparation);
  const std::string key = key_of(module, machine, preparation);
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string object = generated(module, machine, preparation);
  cache->keep(key, object);
  return object;
}

}  // namespace anabranch::cpu
