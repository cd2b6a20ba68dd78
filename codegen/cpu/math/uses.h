// MathUses: which functions of math.h several kernels share.
#pragma once

#include <map>

#include "ir/kernel/kernel.h"
#include "ir/op.h"

namespace anabranch::cpu {

/// How often each approximate op occurs.
using MathUses = std::map<Op, int>;
void count_math(const Kernel& kernel, MathUses& uses);

}  // namespace anabranch::cpu
