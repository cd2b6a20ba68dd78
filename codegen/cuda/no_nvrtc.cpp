// nvrtc.h in a build without the CUDA Toolkit.
#include "anabranch/error.h"
#include "codegen/cuda/nvrtc.h"

namespace anabranch::cuda {

std::string nvrtc_missing() { return "this build has no CUDA"; }

std::string nvrtc_version() { return {}; }
std::vector<std::string> nvrtc_options(int) { return {}; }

Cubin compile_cubin(const std::string&, int) {
  throw Error("compile for CUDA: " + nvrtc_missing());
}

}  // namespace anabranch::cuda
