#include "runtime/cuda/gpu.h"

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <array>

#include "anabranch/error.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/gpus.h"

namespace anabranch::cuda {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int most_gpus = 64;
// The clocks of host and GPU drift apart by a few millionths.
constexpr std::chrono::seconds anchor_life{1};

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

CUstream stream_of(const DeviceStream& stream) { return static_cast<CUstream>(stream.native()); }

}  // namespace

GpuFacts facts_from(const std::function<int(CUdevice_attribute)>& attribute) {
  const GpuFacts h100;
  GpuFacts facts;
  facts.architecture = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                       attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  constexpr double khz_per_cycle_per_ns = 1e6;
  if (const int khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE); khz > 0) {
    facts.cycles_per_ns = khz / khz_per_cycle_per_ns;
  }
  // Memory moves two words a cycle.
  const int memory_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const int bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  const double bytes_per_ns = 2 * memory_khz / khz_per_cycle_per_ns * bus_bits / 8;
  facts.bytes_per_ns = bytes_per_ns > 0
                           ? bytes_per_ns
                           : h100.bytes_per_ns / h100.multiprocessors * facts.multiprocessors;
  return facts;
}

class Module {
 public:
  Module(Gpu& gpu, CUmodule module) : gpu(gpu), module(module) {}
  ~Module() {
    try {
      gpu.enter();
      driver().cuModuleUnload(module);
    } catch (const Error&) {
      // The GPU is lost, and the module with it.
    }
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Gpu& gpu;
  const CUmodule module;
};

class CudaEvent final : public DeviceEvent {
 public:
  CudaEvent(Gpu& gpu, CUevent event, const DeviceStream& stream)
      : gpu(gpu), event(event), stream_(stream) {}
  ~CudaEvent() override { gpu.events_.give_back(event); }

  bool is_complete() const override {
    try {
      gpu.enter();
      const CUresult result = driver().cuEventQuery(event);
      if (result == CUDA_ERROR_NOT_READY) return false;
      check(result, "query of an event");
      return true;
    } catch (...) {
      driver().cuEventSynchronize(event);
      throw;
    }
  }
  void wait() const override {
    gpu.enter();
    check(driver().cuEventSynchronize(event), "wait for an event");
  }
  const DeviceStream& stream() const override { return stream_; }

  Gpu& gpu;
  const CUevent event;

 private:
  const DeviceStream& stream_;
};

/// A moment that both the GPU and the host know.
struct Gpu::Anchor {
  Gpu& gpu;
  const CUevent event;
  Clock::time_point time;

  ~Anchor() { gpu.timed_events_.give_back(event); }
};

class CudaTimingEvent final : public TimingEvent {
 public:
  CudaTimingEvent(Gpu& gpu, CUevent event, std::shared_ptr<const Gpu::Anchor> anchor)
      : gpu_(gpu), event_(event), anchor_(std::move(anchor)) {}
  ~CudaTimingEvent() override { gpu_.timed_events_.give_back(event_); }

  Clock::time_point time() const override {
    gpu_.enter();
    float ms = 0;
    check(driver().cuEventElapsedTime(&ms, anchor_->event, event_), "time of an event");
    return anchor_->time + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double, std::milli>(ms));
  }

 private:
  Gpu& gpu_;
  const CUevent event_;
  const std::shared_ptr<const Gpu::Anchor> anchor_;
};

class CudaStream final : public DeviceStream {
 public:
  explicit CudaStream(Gpu& gpu) : gpu_(gpu) {
    gpu_.enter();
    // Non-blocking: not ordered with what others do on the default stream.
    check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream");
  }
  ~CudaStream() override {
    try {
      gpu_.enter();
      driver().cuStreamDestroy(stream_);  // which ends once what is on it is done
    } catch (const Error&) {
      // The GPU is lost, and the stream with it.
    }
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    gpu_.enter();
    check(driver().cuMemcpyAsync(address(to), address(from), bytes, stream_), "copy");
  }

  void wait(const DeviceEvent& other) override {
    const CUevent event = static_cast<const CudaEvent&>(other).event;
    try {
      gpu_.enter();
      check(driver().cuStreamWaitEvent(stream_, event, CU_EVENT_WAIT_DEFAULT), "wait of a stream");
    } catch (...) {
      driver().cuEventSynchronize(event);
      throw;
    }
  }

  std::shared_ptr<const DeviceEvent> record() override {
    try {
      gpu_.enter();
      auto recorded = std::make_shared<const CudaEvent>(gpu_, gpu_.events_.take(), *this);
      check(driver().cuEventRecord(recorded->event, stream_), "record of an event");
      return recorded;
    } catch (...) {
      driver().cuStreamSynchronize(stream_);
      throw;
    }
  }

  std::shared_ptr<const TimingEvent> record_time() override {
    gpu_.enter();
    std::shared_ptr<const Gpu::Anchor> anchor = gpu_.anchor();
    const CUevent event = gpu_.timed_events_.take();
    auto recorded = std::make_shared<const CudaTimingEvent>(gpu_, event, std::move(anchor));
    check(driver().cuEventRecord(event, stream_), "record of an event");
    return recorded;
  }

  void enqueue_loop(DeviceStream& inside, const SetCondition& set,
                    const std::function<void()>& body) override {
    gpu_.enter();
    const Conditional loop(gpu_.context_, stream_);
    set(loop.condition(), *this);
    const CUgraph graph = loop.add(CU_GRAPH_COND_TYPE_WHILE, 1)[0];
    capture_to(graph, stream_of(inside), [&] {
      body();
      set(loop.condition(), inside);
    });
  }

  void enqueue_branches(DeviceStream& inside, std::size_t count, const SetCondition& set,
                        const std::function<void(std::size_t)>& branch) override {
    gpu_.enter();
    const Conditional branches(gpu_.context_, stream_);
    set(branches.condition(), *this);
    const std::span<const CUgraph> graphs =
        branches.add(CU_GRAPH_COND_TYPE_SWITCH, static_cast<unsigned>(count));
    for (std::size_t i = 0; i < count; ++i) {
      capture_to(graphs[i], stream_of(inside), [&] { branch(i); });
    }
  }

  void begin_range(const std::string& name) override { nvtxRangePushA(name.c_str()); }
  void end_range() override { nvtxRangePop(); }

  void* native() const override { return stream_; }

 private:
  Gpu& gpu_;
  CUstream stream_ = nullptr;
};

int gpu_count() {
  static const int count = [] {
    int found = 0;
    if (driver().missing.empty() && driver().cuDeviceGetCount(&found) != CUDA_SUCCESS) found = 0;
    return std::min(found, most_gpus);
  }();
  return count;
}

std::string why_no_gpu() { return driver().missing; }

Gpu& Gpu::of(int index) {
  static std::mutex mutex;
  static std::array<Gpu*, most_gpus> gpus{};
  if (index < 0 || index >= gpu_count()) {
    throw Error(fmt::format("there is no GPU {}{}", index, gpu_count() ? "" : ": " + why_no_gpu()));
  }
  std::lock_guard lock(mutex);
  Gpu*& gpu = gpus[static_cast<std::size_t>(index)];
  if (!gpu) gpu = new Gpu(index);
  return *gpu;
}

Gpu::Gpu(int index) {
  try {
    open(index);
  } catch (...) {
    close();
    throw;
  }
}

void Gpu::open(int index) {
  check_not_forked();
  check(driver().cuDeviceGet(&device_, index), "opening a GPU");
  check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "opening a GPU");
  enter();
  char name[256] = {};
  check(driver().cuDeviceGetName(name, sizeof name, device_), "asking a GPU for its name");
  name_ = name;
  const auto attribute = [this](CUdevice_attribute which) {
    int value = 0;
    check(driver().cuDeviceGetAttribute(&value, which, device_), "asking a GPU what it can do");
    return value;
  };
  facts_ = facts_from(attribute);
  check(driver().cuDeviceTotalMem(&memory_bytes_, device_), "asking a GPU for its memory");

  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device_;
  check(driver().cuMemPoolCreate(&pool_, &properties), "making a memory pool");
  // What is freed is kept; `trim` gives it back.
  cuuint64_t keep = UINT64_MAX;
  check(driver().cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
        "making a memory pool");
  from_host_ = std::make_unique<CudaStream>(*this);
  to_host_ = std::make_unique<CudaStream>(*this);
  anchor_stream_ = std::make_unique<CudaStream>(*this);
  LibraryCall::end_before_library();  // what a context has made as well
}

// What `open` has come to, where it does not come to its end.
void Gpu::close() noexcept {
  from_host_.reset();
  to_host_.reset();
  if (pool_) driver().cuMemPoolDestroy(pool_);
  if (context_) driver().cuDevicePrimaryCtxRelease(device_);
}

GpuFacts gpu_facts(int index) { return index < gpu_count() ? Gpu::of(index).facts() : GpuFacts{}; }

StreamExecutor& stream_executor(int index) { return Gpu::of(index); }

void copy_between_gpus(int target, void* to, int source, const void* from, std::size_t bytes,
                       DeviceStream& stream) {
  Gpu::of(target).copy_from(Gpu::of(source), to, from, bytes, stream);
}

void Gpu::enter() const { cuda::enter(context_); }

CUevent Gpu::Events::take() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const CUevent event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, flags_), "making an event");
  return event;
}

void Gpu::Events::give_back(CUevent event) noexcept {
  try {
    std::lock_guard lock(mutex_);
    free_.push_back(event);
  } catch (...) {  // no memory even for the list
    driver().cuEventDestroy(event);
  }
}

std::size_t Gpu::Events::idle() {
  std::lock_guard lock(mutex_);
  return free_.size();
}

std::size_t Gpu::idle_events() { return events_.idle() + timed_events_.idle(); }

std::shared_ptr<const Gpu::Anchor> Gpu::anchor() {
  std::lock_guard lock(anchor_mutex_);
  if (anchor_ && Clock::now() - anchor_->time < anchor_life) return anchor_;
  const std::shared_ptr<Anchor> made(new Anchor{*this, timed_events_.take(), {}});
  // On a stream where nothing is, so that the host waits for nothing else.
  const auto stream = stream_of(*anchor_stream_);
  check(driver().cuEventRecord(made->event, stream), "record of an event");
  check(driver().cuEventSynchronize(made->event), "wait for an event");
  made->time = Clock::now();
  anchor_ = made;
  return made;
}

DeviceStream& Gpu::stream(unsigned index, StreamSet set) {
  const auto number = static_cast<std::size_t>(set);
  std::lock_guard lock(mutex_);
  if (streams_.size() <= number) streams_.resize(number + 1);
  auto& streams = streams_[number];
  while (streams.size() <= index) streams.push_back(std::make_unique<CudaStream>(*this));
  return *streams[index];
}

std::shared_ptr<const CapturedGraph> Gpu::capture(const std::function<void()>& enqueue) {
  std::lock_guard lock(capture_mutex_);
  return captured(context_, stream_of(stream(0, StreamSet::capture)), enqueue);
}

void* Gpu::allocate(std::size_t bytes) {
  const auto stream = stream_of(main());
  enter();
  CUdeviceptr data = 0;
  const CUresult result = driver().cuMemAllocFromPoolAsync(&data, bytes, pool_, stream);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(result, "allocation");
  return reinterpret_cast<void*>(data);
}

void Gpu::free(void* data) {
  if (!data) return;
  const auto stream = stream_of(main());
  enter();
  check(driver().cuMemFreeAsync(address(data), stream), "freeing memory");
}

std::size_t Gpu::cached() const {
  enter();
  cuuint64_t reserved = 0, used = 0;
  const auto get = [this](CUmemPool_attribute which, cuuint64_t& value) {
    check(driver().cuMemPoolGetAttribute(pool_, which, &value), "asking for a pool's memory");
  };
  get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, reserved);
  get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, used);
  return reserved > used ? reserved - used : 0;
}

// The pool keeps what was freed until the host has seen that its stream has come so far.
void Gpu::release_cached() {
  const auto stream = stream_of(main());
  enter();
  check(driver().cuStreamSynchronize(stream), "wait for a stream");
  check(driver().cuMemPoolTrimTo(pool_, 0), "trimming a memory pool");
}

ModulePtr Gpu::load(const std::string& cubin) {
  enter();
  CUmodule module = nullptr;
  check(driver().cuModuleLoadData(&module, cubin.data()), "loading kernels");
  return std::make_shared<const Module>(*this, module);
}

CUfunction Gpu::function(const Module& module, const std::string& name) {
  enter();
  CUfunction function = nullptr;
  check(driver().cuModuleGetFunction(&function, module.module, name.c_str()),
        ("looking for kernel " + name).c_str());
  return function;
}

void Gpu::launch(CUfunction kernel, unsigned blocks, unsigned threads, void** arguments,
                 const DeviceStream& stream) {
  enter();
  check(driver().cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream_of(stream),
                                arguments, nullptr),
        "launch");
}

// Memory of a pool can be copied so without access from GPU to GPU, which a plain copy needs.
void Gpu::copy_from(const Gpu& other, void* to, const void* from, std::size_t bytes,
                    const DeviceStream& stream) {
  if (bytes == 0) return;
  enter();
  check(driver().cuMemcpyPeerAsync(address(to), context_, address(from), other.context_, bytes,
                                   stream_of(stream)),
        "copy from another GPU");
}

void* Gpu::allocate_host(std::size_t bytes) {
  enter();
  void* data = nullptr;
  const CUresult result = driver().cuMemHostAlloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(result, "allocation of page-locked memory");
  return data;
}

void Gpu::free_host(void* data) noexcept {
  driver().cuCtxSetCurrent(context_);
  driver().cuMemFreeHost(data);
}

}  // namespace anabranch::cuda
