// Object code of an LLVM module, from the cache where it has been made before.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <string>

namespace anabranch {

class CodeCache;

namespace cpu {

class CodeGenerator;

/// What is done to a module before its code is generated. It has a name, so that code made with it
/// is never taken for code made without.
struct Preparation {
  const char* name = "";
  void (*run)(llvm::Module& module, llvm::TargetMachine& machine) = nullptr;
};

/// A module, made when it is first asked for.
struct ModuleSource {
  std::string key;  ///< all that the module depends on but the CPU and this library's sources
  std::function<llvm::Module&()> module;
  Preparation preparation = {};
};

/// The module as an object file; it is not made where `cache`, which may be null, has the object.
/// Throws InternalError.
std::string object_of(const ModuleSource& source, CodeGenerator& generator, CodeCache* cache);

}  // namespace cpu
}  // namespace anabranch
