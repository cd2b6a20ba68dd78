// The GPU without Anabranch: its driver, opened as the library opens it, for what a copy takes.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace bench {

/// There is no GPU to measure; says why.
struct NoGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// clang-format off
#define BENCH_DRIVER(X)                                                                       \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuDeviceGetCount) X(cuDeviceGet)        \
  X(cuDeviceGetName) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent)       \
  X(cuStreamCreate) X(cuStreamSynchronize) X(cuMemPoolCreate) X(cuMemAllocFromPoolAsync)      \
  X(cuMemFreeAsync) X(cuMemcpyAsync)
// clang-format on

// cuda.h renames functions to their newest versions; a macro's argument is renamed only when it
// goes through another macro.
#define BENCH_TEXT(name) #name
#define BENCH_NAME(name) BENCH_TEXT(name)

struct DriverCalls {
#define BENCH_MEMBER(name) decltype(&::name) name = nullptr;
  BENCH_DRIVER(BENCH_MEMBER)
#undef BENCH_MEMBER

  DriverCalls() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw NoGpu(std::string("there is no NVIDIA driver (") + dlerror() + ")");
#define BENCH_FIND(name)                                                        \
  name = reinterpret_cast<decltype(&::name)>(dlsym(library, BENCH_NAME(name))); \
  if (!name) throw NoGpu("the NVIDIA driver has no " BENCH_NAME(name));
    BENCH_DRIVER(BENCH_FIND)
#undef BENCH_FIND
  }
};

/// The first GPU, in the context that the library uses too, with a stream and memory of its own.
class Gpu {
 public:
  /// Throws NoGpu.
  Gpu() {
    int count = 0;
    if (const CUresult result = calls_.cuInit(0);
        result != CUDA_SUCCESS || calls_.cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) {
      throw NoGpu("the NVIDIA driver finds no GPU (" + name_of(result) + ")");
    }
    check(calls_.cuDriverGetVersion(&driver_version_), "version");
    CUdevice device = 0;
    check(calls_.cuDeviceGet(&device, 0), "device");
    char name[256] = {};
    check(calls_.cuDeviceGetName(name, sizeof name, device), "name");
    name_ = name;
    check(calls_.cuDeviceTotalMem(&memory_bytes_, device), "memory");
    check(calls_.cuDevicePrimaryCtxRetain(&context_, device), "context");
    enter();
    check(calls_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "stream");
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
    check(calls_.cuMemPoolCreate(&pool_, &properties), "memory pool");
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const std::string& name() const { return name_; }
  /// The newest CUDA that the driver knows, as 13000.
  int driver_version() const { return driver_version_; }
  std::size_t memory_bytes() const { return memory_bytes_; }
  CUstream stream() const { return stream_; }

  CUdeviceptr allocate(std::size_t bytes) {
    enter();
    CUdeviceptr data = 0;
    check(calls_.cuMemAllocFromPoolAsync(&data, bytes, pool_, stream_), "memory");
    return data;
  }
  void free(CUdeviceptr data) noexcept {
    calls_.cuCtxSetCurrent(context_);
    calls_.cuMemFreeAsync(data, stream_);
    calls_.cuStreamSynchronize(stream_);
  }
  void copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    enter();
    check(calls_.cuMemcpyAsync(to, from, bytes, stream_), "copy");
  }
  void wait() {
    enter();
    check(calls_.cuStreamSynchronize(stream_), "waiting for a stream");
  }

 private:
  void enter() { check(calls_.cuCtxSetCurrent(context_), "entering the context"); }
  std::string name_of(CUresult result) const {
    const char* name = nullptr;
    calls_.cuGetErrorName(result, &name);
    return name ? name : "unknown error";
  }
  void check(CUresult result, const char* what) const {
    if (result == CUDA_SUCCESS) return;
    throw std::runtime_error(std::string(what) + ": " + name_of(result));
  }

  DriverCalls calls_;
  std::string name_;
  int driver_version_ = 0;
  std::size_t memory_bytes_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmemoryPool pool_ = nullptr;
};

/// Memory of a GPU.
class GpuMemory {
 public:
  GpuMemory(Gpu& gpu, std::size_t bytes) : gpu_(gpu), data_(gpu.allocate(bytes)) {}
  ~GpuMemory() { gpu_.free(data_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  CUdeviceptr data() const { return data_; }

 private:
  Gpu& gpu_;
  CUdeviceptr data_;
};

}  // namespace bench
