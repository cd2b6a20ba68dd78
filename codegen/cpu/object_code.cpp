#include "codegen/cpu/object_code.h"

#include <llvm-c/Core.h>
#include <llvm/Bitcode/BitcodeWriter.h>

#include <optional>
#include <utility>

#include "anabranch/code_cache.h"
#include "anabranch/detail/key.h"
#include "codegen/cpu/jit.h"

namespace anabranch::cpu {
namespace {

// All that the code depends on: what makes it, for which CPU, and from what, in full. The module is
// asked and not the kernels: it takes a hundredth of the time of the code generation, and nothing
// of a kernel, nor of how it is emitted, can be forgotten.
Key key_of(const llvm::Module& module, const llvm::TargetMachine& machine,
           const Preparation& preparation) {
  Key key;
  key.text("anabranch").text(ANABRANCH_VERSION);
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  key.text("LLVM").value(major).value(minor).value(patch);
  key.text(machine.getTargetTriple().str()).text(machine.getTargetCPU().str());
  key.text(machine.getTargetFeatureString().str()).text(preparation.name);
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return key.text(bitcode);
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
  const std::string key = key_of(module, machine, preparation).bytes();
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string object = generated(module, machine, preparation);
  cache->keep(key, object);
  return object;
}

}  // namespace anabranch::cpu
