// The CUDA driver, opened when the first question about a GPU is asked: the library runs on
// machines without one. The names and types are those of cuda.h.
#pragma once

#include <cuda.h>

#include <string>

namespace anabranch::cuda {

// clang-format off
#define ANABRANCH_CUDA_DRIVER(X)                                                        \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                 \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute)         \
  X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)          \
  X(cuCtxSetCurrent)                                                                    \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamWaitEvent) X(cuStreamSynchronize)      \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery)                   \
  X(cuEventSynchronize) X(cuEventElapsedTime)                                           \
  X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolSetAttribute)                       \
  X(cuMemPoolGetAttribute) X(cuMemPoolTrimTo)                                           \
  X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) X(cuMemHostAlloc) X(cuMemFreeHost)       \
  X(cuMemcpyAsync) X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction)         \
  X(cuLaunchKernel) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) \
  X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)                              \
  X(cuStreamBeginCaptureToGraph) X(cuStreamGetCaptureInfo)                              \
  X(cuStreamUpdateCaptureDependencies) X(cuGraphConditionalHandleCreate)                \
  X(cuGraphAddNode)
// clang-format on

struct Driver {
  /// Why there is none that can be used, in words; empty where there is one.
  std::string missing;
#define ANABRANCH_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  ANABRANCH_CUDA_DRIVER(ANABRANCH_CUDA_MEMBER)
#undef ANABRANCH_CUDA_MEMBER
};

/// Opened and initialised at the first call.
const Driver& driver();

/// What the calling thread puts on streams from now on is of that context. Throws Error where the
/// driver refuses it.
void enter(CUcontext context);

/// Throws Error, "WHAT: CUDA_ERROR_...: the driver's words", unless `result` is success. Out of
/// memory is for callers to tell apart first.
void check(CUresult result, const char* what);

}  // namespace anabranch::cuda
