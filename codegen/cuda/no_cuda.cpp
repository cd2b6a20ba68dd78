// compile_kernels.h and dot.h in a build without the CUDA Toolkit, where no program is for a GPU.
#include "anabranch/error.h"
#include "codegen/cuda/compile_kernels.h"
#include "codegen/cuda/dot/dot.h"
#include "codegen/cuda/nvrtc.h"

namespace anabranch::cuda {

Code compile_kernels(std::span<const KernelText>, int, CodeCache*) {
  throw Error("compile for CUDA: " + nvrtc_missing());
}

std::optional<std::int64_t> dot_workspace(const DotStep&, int) {
  throw Error("compile for CUDA: " + nvrtc_missing());
}

DeviceTask make_dot(const DotStep&, int) { throw Error("compile for CUDA: " + nvrtc_missing()); }

}  // namespace anabranch::cuda
