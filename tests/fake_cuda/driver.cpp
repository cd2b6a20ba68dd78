// libcuda.so.1 on the GPU of gpu.h, as far as Anabranch calls it. Kernels are what fake NVRTC has
// made of them: shared libraries.
//
// FAKE_CUDA_DEVICES (1 at first) and FAKE_CUDA_VERSION (that of the header) say what it pretends to
// be; `fake_cuda_fail(name, after)` lets a call fail.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "gpu.h"

using fake_cuda::gpu;

struct CUstream_st : fake_cuda::Stream {};
struct CUevent_st : fake_cuda::Event {};
struct CUgraph_st {
  std::shared_ptr<fake_cuda::Graph> graph;
};
struct CUgraphExec_st {
  std::shared_ptr<const fake_cuda::Graph> graph;
};
struct CUmod_st {
  void* library;
};
struct CUfunc_st {
  const char* (*launch)(void** arguments, unsigned blocks, unsigned threads);
  const unsigned* sizes;  // of the arguments, up to a 0
};
struct CUctx_st {};

constexpr std::size_t memory_bytes = std::size_t{4} << 30;
struct CUmemPoolHandle_st {
  std::size_t most_bytes = memory_bytes;
};

namespace {

int setting(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

struct Failing {
  std::string name;
  std::uint64_t after = 0;
};
Failing& failing() {
  static auto* failing = new Failing;
  return *failing;
}

// How many there are of what was made and has to be given back, by name.
std::map<std::string, std::int64_t>& alive() {
  static auto* alive = new std::map<std::string, std::int64_t>;
  return *alive;
}

// How often each function has been called.
std::map<std::string, std::int64_t>& calls() {
  static auto* calls = new std::map<std::string, std::int64_t>;
  return *calls;
}

thread_local bool has_context = false;
CUctx_st context;

/// Every call goes through here: `call`, with the GPU's mutex held, unless something has failed.
template <class Call>
CUresult guarded(const char* name, bool needs_context, Call call) {
  std::unique_lock lock(gpu().mutex);
  Failing& failing = ::failing();
  // cuda.h renames some functions to their newest versions.
  const std::string_view plain =
      std::string_view(name).substr(0, std::string_view(name).find("_v"));
  ++calls()[std::string(plain)];
  if (failing.name == plain && failing.after-- == 0) {
    failing.name.clear();
    return CUDA_ERROR_UNKNOWN;
  }
  if (needs_context && !has_context) return CUDA_ERROR_INVALID_CONTEXT;
  if (needs_context && !gpu().failure.empty()) return CUDA_ERROR_LAUNCH_FAILED;
  return call(lock);
}

#define GUARDED_IN(needs_context, ...)                                           \
  guarded(__func__, needs_context,                                               \
          [&]([[maybe_unused]] std::unique_lock<std::mutex>& lock) -> CUresult { \
            __VA_ARGS__                                                          \
            return CUDA_SUCCESS;                                                 \
          })
#define GUARDED(...) GUARDED_IN(true, __VA_ARGS__)
#define GUARDED_ANYWHERE(...) GUARDED_IN(false, __VA_ARGS__)

}  // namespace

extern "C" {

/// Of the calls of `name`, the one after `after` more fails.
void fake_cuda_fail(const char* name, std::uint64_t after) {
  std::lock_guard lock(gpu().mutex);
  failing() = {name, after};
}
std::int64_t fake_cuda_calls(const char* name) {
  std::lock_guard lock(gpu().mutex);
  return calls()[name];
}
/// Whether memory that was freed is given out again, as a real pool does.
void fake_cuda_reuse(bool reuse) {
  std::lock_guard lock(gpu().mutex);
  gpu().reuses_memory = reuse;
}
/// Whether that call is still to come.
bool fake_cuda_will_fail() {
  std::lock_guard lock(gpu().mutex);
  return !failing().name.empty();
}
/// How many "modules", "pools", "contexts", "streams", "events", "blocks" of memory and "host
/// blocks" there are that nobody has given back.
std::int64_t fake_cuda_alive(const char* what) {
  std::lock_guard lock(gpu().mutex);
  return alive()[what];
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
    *made = &context;
    ++alive()["contexts"];
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return GUARDED_ANYWHERE({ --alive()["contexts"]; });
}
CUresult cuCtxSetCurrent(CUcontext given) {
  return GUARDED_ANYWHERE({ has_context = given != nullptr; });
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return GUARDED({
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = new CUstream_st;
    gpu().streams.insert(*stream);
    ++alive()["streams"];
  });
}
CUresult cuStreamDestroy(CUstream stream) {
  return GUARDED({
    gpu().changed.wait(lock, [&] { return stream->operations.empty() && !stream->is_busy; });
    gpu().streams.erase(stream);
    delete stream;
    --alive()["streams"];
  });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return GUARDED({ gpu().wait(*stream, *event); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return GUARDED({
    gpu().changed.wait(lock, [&] { return stream->operations.empty() && !stream->is_busy; });
    if (!gpu().failure.empty()) return CUDA_ERROR_LAUNCH_FAILED;
  });
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  return GUARDED({
    *event = new CUevent_st;
    ++alive()["events"];
  });
}
CUresult cuEventDestroy(CUevent event) {
  return GUARDED({
    gpu().changed.wait(lock, [&] { return event->coming.empty(); });
    delete event;
    --alive()["events"];
  });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return GUARDED({ gpu().record(*stream, *event); });
}
CUresult cuEventQuery(CUevent event) {
  return GUARDED({ return event->has_happened() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; });
}
CUresult cuEventSynchronize(CUevent event) {
  return GUARDED({
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
    ++alive()["pools"];
    if (properties->maxSize != 0) (*pool)->most_bytes = properties->maxSize;
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return GUARDED({
    delete pool;
    --alive()["pools"];
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
    ++alive()["blocks"];
  });
}
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream stream) {
  return GUARDED({
    gpu().free(*stream, reinterpret_cast<void*>(data));
    --alive()["blocks"];
  });
}
CUresult cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
  return GUARDED({
    *data = std::malloc(bytes);
    ++alive()["host blocks"];
  });
}
CUresult cuMemFreeHost(void* data) {
  return GUARDED({
    std::free(data);
    --alive()["host blocks"];
  });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return GUARDED({
    gpu().put(*stream, [=] {
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    });
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return GUARDED({
    std::uint64_t bytes = 0;  // fake NVRTC puts them first
    std::memcpy(&bytes, image, sizeof bytes);
    std::string file = "/tmp/fake_cuda_XXXXXX";
    const int descriptor = mkstemp(file.data());
    if (descriptor < 0) return CUDA_ERROR_FILE_NOT_FOUND;
    const char* begin = static_cast<const char*>(image) + sizeof bytes;
    const bool written = write(descriptor, begin, bytes) == static_cast<ssize_t>(bytes);
    close(descriptor);
    void* library = written ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(file.c_str());
    if (!library) return CUDA_ERROR_INVALID_IMAGE;
    *module = new CUmod_st{library};
    ++alive()["modules"];
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return GUARDED({
    dlclose(module->library);
    delete module;
    --alive()["modules"];
  });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return GUARDED({
    auto* launch = dlsym(module->library, (std::string("launch_") + name).c_str());
    auto* sizes = dlsym(module->library, (std::string("sizes_") + name).c_str());
    if (!launch || !sizes) return CUDA_ERROR_NOT_FOUND;
    *function = new CUfunc_st{reinterpret_cast<decltype(CUfunc_st::launch)>(launch),
                              static_cast<const unsigned*>(sizes)};
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

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  return GUARDED({
    if (stream->graph) return CUDA_ERROR_ILLEGAL_STATE;
    stream->graph = std::make_shared<fake_cuda::Graph>();
    stream->before.clear();
  });
}
// All that was captured must come before the end of the stream that it began on.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* made) {
  return GUARDED({
    const std::shared_ptr<fake_cuda::Graph> graph = stream->graph;
    if (!graph) return CUDA_ERROR_ILLEGAL_STATE;
    std::set<std::size_t> joined = stream->before;
    for (std::size_t i = graph->nodes.size(); i-- > 0;) {
      if (joined.count(i))
        joined.insert(graph->nodes[i].before.begin(), graph->nodes[i].before.end());
    }
    for (fake_cuda::Stream* other : gpu().streams) {
      if (other->graph == graph) other->graph = nullptr;
    }
    if (joined.size() < graph->nodes.size()) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *made = new CUgraph_st{graph};
  });
}
CUresult cuGraphInstantiate(CUgraphExec* made, CUgraph graph, unsigned long long) {
  return GUARDED({ *made = new CUgraphExec_st{graph->graph}; });
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return GUARDED({ gpu().launch(*stream, graph->graph); });
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  return GUARDED({ delete graph; });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return GUARDED({ delete graph; });
}

}  // extern "C"
