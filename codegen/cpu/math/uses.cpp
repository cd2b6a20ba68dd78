#include "codegen/cpu/math/uses.h"

#include <variant>

namespace anabranch::cpu {

void count_math(const Kernel& kernel, MathUses& uses) {
  for (const Instruction& instruction : kernel.instructions) {
    const auto* compute = std::get_if<Compute>(&instruction.operation);
    if (compute && info(compute->op).has(OpInfo::approximate)) ++uses[compute->op];
  }
}

}  // namespace anabranch::cpu
