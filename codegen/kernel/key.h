// All that a kernel's code depends on, as bytes: kernels with equal keys can share one function.
#pragma once

#include <string>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Neither the names nor where instructions come from count.
std::string code_key(const Kernel& kernel);

}  // namespace anabranch
