// The code of a program's steps on CPU devices.
#pragma once

#include <string>

#include "anabranch/code_cache.h"
#include "anabranch/stage.h"
#include "ir/program/program.h"
#include "runtime/executor/executable.h"

namespace anabranch::cpu {

/// Gives the kernels, the dots, and the whole loops and branches on CPU devices their tasks.
/// Kernels are compiled together, equal ones once. See Backend::link.
void link_program(const Program& program, CodeCache* cache, LinkedCode& code);

/// The LLVM IR, or the assembly, of what `link_program` compiles: the kernels' module, then one for
/// each loop and each branch that is a function of its own.
std::string code_text(const Program& program, const LinkedCode& code, Stage stage);

}  // namespace anabranch::cpu
