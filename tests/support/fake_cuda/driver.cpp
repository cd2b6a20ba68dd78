// libcuda.so.1 on the GPU of gpu.h, as far as Anabranch calls it. Kernels are what fake NVRTC has
// made of them: shared libraries.
//
// FAKE_CUDA_DEVICES (1 at first) and FAKE_CUDA_VERSION (that of the header) say what it pretends to
// be; `fake_cuda_fail(name, after)` lets a call fail.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "guarded.h"

using namespace fake_cuda;

struct CUfunc_st {
  const char* (*launch)(void** arguments, unsigned blocks, unsigned threads);
  const unsigned* sizes;  // of the arguments, up to a 0
};
struct CUmod_st {
  void* library;
  std::deque<CUfunc_st> functions;  // none moves
};

constexpr std::size_t memory_bytes = std::size_t{4} << 30;
struct CUmemPoolHandle_st {
  std::size_t most_bytes = memory_bytes;
  int device = 0;
};

namespace {

/// Which device's memory begins where, with the GPU's mutex held.
struct Owned {
  std::size_t bytes = 0;
  int device = 0;
};
std::map<CUdeviceptr, Owned>& owned() {
  static auto* owned = new std::map<CUdeviceptr, Owned>;
  return *owned;
}
constexpr int no_device = -1;  // the host
int device_of(CUdeviceptr address) {
  const auto after = owned().upper_bound(address);
  if (after == owned().begin()) return no_device;
  const auto& [begin, block] = *std::prev(after);
  return address < begin + block.bytes ? block.device : no_device;
}

int setting(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

}  // namespace

Calls& fake_cuda::calls() {
  static auto* calls = new Calls;
  return *calls;
}
CUctx_st& fake_cuda::context() {
  static CUctx_st context;
  return context;
}

extern "C" {

/// Of the calls of `name`, the one after `after` more fails.
void fake_cuda_fail(const char* name, std::uint64_t after) {
  std::lock_guard lock(gpu().mutex);
  calls().failing = {name, after};
}
std::int64_t fake_cuda_calls(const char* name) {
  std::lock_guard lock(gpu().mutex);
  return calls().made[name];
}
/// Whether memory that was freed is given out again, as a real pool does.
void fake_cuda_reuse(bool reuse) {
  std::lock_guard lock(gpu().mutex);
  gpu().reuses_memory = reuse;
}
/// Whether that call is still to come.
bool fake_cuda_will_fail() {
  std::lock_guard lock(gpu().mutex);
  return !calls().failing.name.empty();
}
/// How many "modules", "pools", "contexts", "streams", "events", "graphs", "launchable graphs",
/// "blocks" of memory and "host blocks" there are that nobody has given back.
std::int64_t fake_cuda_alive(const char* what) {
  std::lock_guard lock(gpu().mutex);
  return calls().alive[what];
}
/// For the libraries that stand on the driver: work of theirs on a stream.
CUresult fake_cuda_put(CUstream stream, const fake_cuda::Work& work) {
  return GUARDED({ gpu().put(*stream, work); });
}
const char* fake_cuda_failure() {
  std::lock_guard lock(gpu().mutex);
  return gpu().failure.c_str();
}

CUresult cuInit(unsigned) {
  std::atexit([] { has_ended = true; });
  return setting("FAKE_CUDA_DEVICES", 1) > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuDriverGetVersion(int* version) {
  *version = setting("FAKE_CUDA_VERSION", CUDA_VERSION);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CUDA_ERROR_LAUNCH_FAILED:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case CUDA_ERROR_INVALID_IMAGE:
      *name = "CUDA_ERROR_INVALID_IMAGE";
      break;
    case CUDA_ERROR_NOT_READY:
      *name = "CUDA_ERROR_NOT_READY";
      break;
    default:
      *name = "CUDA_ERROR_UNKNOWN";
  }
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = gpu().failure.empty() ? "made to fail" : gpu().failure.c_str();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = setting("FAKE_CUDA_DEVICES", 1);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return GUARDED_ANYWHERE({ *device = ordinal; });
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  return GUARDED_ANYWHERE(
      { std::snprintf(name, static_cast<std::size_t>(bytes), "a CPU that plays a GPU"); });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  return GUARDED_ANYWHERE({
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 8;
        break;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 4;
        break;
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = 2048;
        break;
      default:
        *value = 0;
    }
  });
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  return GUARDED_ANYWHERE({ *bytes = memory_bytes; });
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* made, CUdevice) {
  return GUARDED_ANYWHERE({
    *made = &context();
    ++calls().alive["contexts"];
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return GUARDED_ANYWHERE({ --calls().alive["contexts"]; });
}
CUresult cuCtxSetCurrent(CUcontext given) {
  return GUARDED_ANYWHERE({ has_context = given == &context(); });
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return GUARDED({
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = new CUstream_st;
    gpu().streams.insert(*stream);
    ++calls().alive["streams"];
  });
}
CUresult cuStreamDestroy(CUstream stream) {
  return GUARDED({
    gpu().changed.wait(lock, [&] { return stream->operations.empty() && !stream->is_busy; });
    gpu().streams.erase(stream);
    delete stream;
    --calls().alive["streams"];
  });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return GUARDED({
    if (gpu().wait(*stream, *event)) return CUDA_SUCCESS;
    if (!event->graph) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    return event->graph->is_captured ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_ERROR_CAPTURED_EVENT;
  });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return GUARDED({
    if (stream->graph) {
      stream->graph->is_given_up = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    gpu().changed.wait(lock, [&] { return stream->operations.empty() && !stream->is_busy; });
    if (!gpu().failure.empty()) return CUDA_ERROR_LAUNCH_FAILED;
  });
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  return GUARDED({
    *event = new CUevent_st;
    ++calls().alive["events"];
  });
}
CUresult cuEventDestroy(CUevent event) {
  return GUARDED({
    gpu().changed.wait(lock, [&] { return event->coming.empty(); });
    delete event;
    --calls().alive["events"];
  });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return GUARDED({ gpu().record(*stream, *event); });
}
CUresult cuEventQuery(CUevent event) {
  return GUARDED({
    if (event->graph) return CUDA_ERROR_CAPTURED_EVENT;
    return event->has_happened() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}
CUresult cuEventSynchronize(CUevent event) {
  return GUARDED({
    if (event->graph) return CUDA_ERROR_CAPTURED_EVENT;
    gpu().changed.wait(lock, [&] { return event->has_happened(); });
    if (!gpu().failure.empty()) return CUDA_ERROR_LAUNCH_FAILED;
  });
}
CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return GUARDED({
    if (!begin->has_happened() || !end->has_happened()) {
      return CUDA_ERROR_NOT_READY;
    }
    *ms = static_cast<float>(end->ms - begin->ms);
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return GUARDED({
    *pool = new CUmemPoolHandle_st;
    ++calls().alive["pools"];
    if (properties->maxSize != 0) (*pool)->most_bytes = properties->maxSize;
    (*pool)->device = properties->location.id;
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return GUARDED({
    delete pool;
    --calls().alive["pools"];
  });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) { return GUARDED({}); }
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute attribute, void* value) {
  return GUARDED({
    const bool most = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    *static_cast<cuuint64_t*>(value) = most ? gpu().most_bytes_in_use : gpu().bytes_in_use;
  });
}
CUresult cuMemPoolTrimTo(CUmemoryPool, std::size_t) { return GUARDED({}); }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* data, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return GUARDED({
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->graph) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (bytes > pool->most_bytes - std::min(pool->most_bytes, gpu().bytes_in_use)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *data = reinterpret_cast<CUdeviceptr>(gpu().allocate(*stream, bytes));
    owned()[*data] = {bytes, pool->device};
    ++calls().alive["blocks"];
  });
}
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream stream) {
  return GUARDED({
    if (stream->graph) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    owned().erase(data);
    gpu().free(*stream, reinterpret_cast<void*>(data));
    --calls().alive["blocks"];
  });
}
CUresult cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
  return GUARDED({
    *data = std::malloc(bytes);
    ++calls().alive["host blocks"];
  });
}
CUresult cuMemFreeHost(void* data) {
  return GUARDED({
    std::free(data);
    --calls().alive["host blocks"];
  });
}
// A GPU has no access to the pool of another.
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return GUARDED({
    const int source = device_of(from);
    const int target = device_of(to);
    if (source != no_device && target != no_device && source != target) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    gpu().put(*stream, [=] {
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    });
  });
}
// There is one context for all GPUs.
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  return GUARDED({
    if (to_context != &context() || from_context != &context()) return CUDA_ERROR_INVALID_CONTEXT;
    gpu().put(*stream, [=] {
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    });
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return GUARDED({
    std::uint64_t bytes = 0;  // fake NVRTC puts them first
    std::memcpy(&bytes, image, sizeof bytes);
    std::string file = (std::filesystem::temp_directory_path() / "fake_cuda_XXXXXX").string();
    const int descriptor = mkstemp(file.data());
    if (descriptor < 0) return CUDA_ERROR_FILE_NOT_FOUND;
    const char* begin = static_cast<const char*>(image) + sizeof bytes;
    const bool written = write(descriptor, begin, bytes) == static_cast<ssize_t>(bytes);
    close(descriptor);
    void* library = written ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(file.c_str());
    if (!library) return CUDA_ERROR_INVALID_IMAGE;
    using Set = void (*)(std::uint64_t, unsigned);
    if (auto* set = static_cast<Set*>(dlsym(library, "set_conditional"))) {
      *set = [](std::uint64_t handle, unsigned value) { gpu().set_condition(handle, value); };
    }
    *module = new CUmod_st{library, {}};
    ++calls().alive["modules"];
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return GUARDED({
    dlclose(module->library);
    delete module;
    --calls().alive["modules"];
  });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return GUARDED({
    auto* launch = dlsym(module->library, (std::string("launch_") + name).c_str());
    auto* sizes = dlsym(module->library, (std::string("sizes_") + name).c_str());
    if (!launch || !sizes) return CUDA_ERROR_NOT_FOUND;
    *function = &module->functions.emplace_back(
        CUfunc_st{reinterpret_cast<decltype(CUfunc_st::launch)>(launch),
                  static_cast<const unsigned*>(sizes)});
  });
}
CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                        unsigned threads, unsigned threads_y, unsigned threads_z, unsigned,
                        CUstream stream, void** arguments, void**) {
  return GUARDED({
    const bool is_flat = blocks_y == 1 && blocks_z == 1 && threads_y == 1 && threads_z == 1;
    if (!is_flat || blocks == 0 || threads == 0 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::vector<unsigned char>> copies;  // arguments are read at the call
    for (const unsigned* size = function->sizes; *size; ++size) {
      const auto* begin = static_cast<const unsigned char*>(arguments[copies.size()]);
      copies.emplace_back(begin, begin + *size);
    }
    gpu().put(*stream, [function, blocks, threads, copies = std::move(copies)]() mutable {
      std::vector<void*> pointers;
      for (auto& copy : copies) pointers.push_back(copy.data());
      const char* wrong = function->launch(pointers.data(), blocks, threads);
      if (!wrong) return;
      std::lock_guard lock(gpu().mutex);
      gpu().fail(wrong);
    });
  });
}

}  // extern "C"
