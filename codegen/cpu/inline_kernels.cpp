#include "codegen/cpu/inline_kernels.h"

#include <algorithm>

namespace anabranch::cpu {
namespace {

// Larger kernels gain nothing by being part of a loop, which they make slow to compile.
constexpr std::size_t most_inlined = 256;

}  // namespace

// Loops that take one turn leave straight-line code.
bool may_be_inlined(const Kernel& kernel) {
  return kernel.instructions.size() <= most_inlined &&
         std::all_of(kernel.instructions.begin(), kernel.instructions.end(), [](const auto& i) {
           const auto* loop = std::get_if<Loop>(&i.operation);
           return !loop || loop->extent <= std::int64_t{loop->vector_width} * loop->unroll;
         });
}

}  // namespace anabranch::cpu
