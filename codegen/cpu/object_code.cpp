#include "codegen/cpu/object_code.h"

#include <llvm-c/Core.h>

#include <optional>
#include <utility>

#include "anabranch/code_cache.h"
#include "anabranch/detail/key.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/source_digest.h"

namespace anabranch::cpu {
namespace {

// All that the code depends on: what makes it, for which CPU, and from what, in full.
Key key_of(const ModuleSource& source, const llvm::TargetMachine& machine) {
  Key key;
  key.text("anabranch").text(source_digest());
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  key.text("LLVM").value(major).value(minor).value(patch);
  key.text(machine.getTargetTriple().str()).text(machine.getTargetCPU().str());
  key.text(machine.getTargetFeatureString().str()).text(source.preparation.name);
  return key.text(source.key);
}

std::string generated(const ModuleSource& source, CodeGenerator& generator) {
  llvm::Module& module = source.module();
  if (source.preparation.run) source.preparation.run(module, generator.machine());
  return generator.object(module);
}

}  // namespace

std::string object_of(const ModuleSource& source, CodeGenerator& generator, CodeCache* cache) {
  if (!cache) return generated(source, generator);
  const std::string key = key_of(source, generator.machine()).bytes();
  if (std::optional<std::string> known = cache->find(key)) return std::move(*known);
  std::string object = generated(source, generator);
  cache->keep(key, object);
  return object;
}

}  // namespace anabranch::cpu
