// The passes that a kernel for a CPU goes through.
#pragma once

#include <span>

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

std::span<const KernelPass> kernel_passes();

}  // namespace anabranch::cpu
