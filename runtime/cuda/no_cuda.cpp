// gpus.h in a build without the CUDA Toolkit.
#include "anabranch/error.h"
#include "runtime/cuda/gpus.h"

namespace anabranch::cuda {
namespace {

[[noreturn]] void throw_no_gpu() { throw Error("there is no GPU: " + why_no_gpu()); }

}  // namespace

int gpu_count() { return 0; }
std::string why_no_gpu() { return "this build has no CUDA"; }

GpuFacts gpu_facts(int) { return {}; }

StreamExecutor& stream_executor(int) { throw_no_gpu(); }

void copy_between_gpus(int, void*, int, const void*, std::size_t, DeviceStream&) { throw_no_gpu(); }

}  // namespace anabranch::cuda
