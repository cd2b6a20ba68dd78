// The CUDA driver, opened when the first question about a GPU is asked: the library runs on
// machines without one. The names and types are those of cuda.h.
#pragma once

#include <cuda.h>

#include <new>
#include <string>

#include "runtime/library_call.h"

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
  X(cuMemcpyAsync) X(cuMemcpyPeerAsync) X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction)         \
  X(cuLaunchKernel) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) \
  X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)                              \
  X(cuStreamBeginCaptureToGraph) X(cuStreamGetCaptureInfo)                              \
  X(cuStreamUpdateCaptureDependencies) X(cuGraphConditionalHandleCreate)                \
  X(cuGraphAddNode)
// clang-format on

/// What functions return that are called no more.
template <class Status>
inline constexpr Status closed_status = {};
template <>
inline constexpr CUresult closed_status<CUresult> = CUDA_ERROR_DEINITIALIZED;

/// A function of the driver, or of a library on top of it: a LibraryCall. Once the process leaves
/// main it does nothing but return its `closed_status`.
template <class Function>
class Entry;
template <class Status, class... Arguments>
class Entry<Status (*)(Arguments...)> {
 public:
  using Function = Status (*)(Arguments...);

  Entry& operator=(Function function) {
    function_ = function;
    return *this;
  }
  explicit operator bool() const { return function_ != nullptr; }

  Status operator()(Arguments... arguments) const {
    const LibraryCall call(std::nothrow);
    return call.is_allowed() ? function_(arguments...) : closed_status<Status>;
  }

 private:
  Function function_ = nullptr;
};

struct Driver {
  /// Why there is none that can be used, in words; empty where there is one.
  std::string missing;
#define ANABRANCH_CUDA_MEMBER(name) Entry<decltype(&::name)> name;
  ANABRANCH_CUDA_DRIVER(ANABRANCH_CUDA_MEMBER)
#undef ANABRANCH_CUDA_MEMBER
};

/// Opened and initialised at the first call.
const Driver& driver();

/// Throws Error in a child that was forked after the driver was opened: it works in none.
void check_not_forked();

/// What the calling thread puts on streams from now on is of that context. Throws Error where the
/// driver refuses it, and as `check_not_forked`.
void enter(CUcontext context);

/// Throws Error, "WHAT: CUDA_ERROR_...: the driver's words", unless `result` is success. Out of
/// memory is for callers to tell apart first.
void check(CUresult result, const char* what);

}  // namespace anabranch::cuda
