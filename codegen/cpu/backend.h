// The backend of CPUs: LLVM for kernels, loops and branches, oneDNN for dots.
#pragma once

#include "codegen/backend.h"

namespace anabranch::cpu {

const Backend& backend();

}  // namespace anabranch::cpu
