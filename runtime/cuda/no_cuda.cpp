// gpus.h in a build without the CUDA Toolkit.
#include "runtime/cuda/gpus.h"

namespace anabranch::cuda {

int gpu_count() { return 0; }
std::string why_no_gpu() { return "this build has no CUDA"; }

}  // namespace anabranch::cuda
