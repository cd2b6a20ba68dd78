// Kernels as emitters want them, for tests that run no other pass.
#pragma once

#include "codegen/kernel/decompose.h"
#include "codegen/kernel/legalise_dtypes.h"

namespace anabranch {

inline Kernel legal(const Kernel& kernel, const Target& target = {}) {
  KernelContext context{.target = target};
  return legalise_dtypes(decompose(kernel, context), context);
}

}  // namespace anabranch
