#include "codegen/cuda/emit/conditional.h"

#include <utility>

#include "codegen/cuda/emit/text.h"

namespace anabranch::cuda {
namespace {

// `cudaGraphSetConditional` is declared in the toolkit's headers, which NVRTC programs do without,
// and defined by the driver, which finds it when it loads the code: no library is linked for it.
ConditionalText conditional(std::string name, std::string_view pointer, std::string_view value) {
  Text text;
  text.line("extern \"C\" __device__ void cudaGraphSetConditional(u64 condition, u32 value);");
  text.open("extern \"C\" __global__ void {}(u64 condition, {}) {{", name, pointer);
  text.line("cudaGraphSetConditional(condition, {});", value);
  text.close();
  return {std::move(name), text.take()};
}

}  // namespace

ConditionalText emit_loop_conditional() {
  return conditional("set_condition_of_loop", "const u8* goes_on", "*goes_on != 0");
}

ConditionalText emit_branch_conditional(std::size_t branches) {
  return conditional(fmt::format("set_condition_of_branch_of_{}", branches), "const u32* number",
                     fmt::format("*number < {0}u ? *number : {0}u", branches - 1));
}

}  // namespace anabranch::cuda
