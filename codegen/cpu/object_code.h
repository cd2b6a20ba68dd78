// Object code of an LLVM module, from the cache where it has been made before.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace anabranch {

class CodeCache;

namespace cpu {

/// What is done to a module before its code is generated. It has a name, so that code made with it
/// is never taken for code made without.
struct Preparation {
  const char* name = "";
  void (*run)(llvm::Module& module, llvm::TargetMachine& machine) = nullptr;
};

/// The module as an object file. `cache` may be null. Throws InternalError.
std::string object_of(llvm::Module& module, llvm::TargetMachine& machine, CodeCache* cache,
                      const Preparation& preparation = {});

}  // namespace cpu
}  // namespace anabranch
