// Gpu: one NVIDIA GPU, through its driver.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/gpu_facts.h"
#include "runtime/device/stream_executor.h"

namespace anabranch::cuda {

/// Code on a GPU; it is unloaded with the last handle.
class Module;
using ModulePtr = std::shared_ptr<const Module>;

/// What a driver's answers come to. What it does not say, as newer ones may not of clocks, is as an
/// H100 has it: the clock, and the memory's bytes per multiprocessor.
GpuFacts facts_from(const std::function<int(CUdevice_attribute)>& attribute);

class Gpu final : public StreamExecutor {
 public:
  /// Made at the first call for it, and never destroyed. Throws Error where there is no such GPU.
  static Gpu& of(int index);

  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const std::string& name() const { return name_; }
  /// Its compute capability: 90 for 9.0.
  int architecture() const { return facts_.architecture; }
  const GpuFacts& facts() const { return facts_; }

  /// Events that have been made and are not in use now.
  std::size_t idle_events();

  /// The driver, and libraries on top of it, work on the GPU whose context the calling thread has:
  /// to be called before all else. The rest of this class does so itself.
  void enter() const;

  DeviceStream& stream(unsigned index, StreamSet set = StreamSet::run) override;
  DeviceStream& from_host() override { return *from_host_; }
  DeviceStream& to_host() override { return *to_host_; }

  std::shared_ptr<const CapturedGraph> capture(const std::function<void()>& enqueue) override;

  std::size_t memory_bytes() const override { return memory_bytes_; }
  void* allocate(std::size_t bytes) override;
  void free(void* data) override;
  std::size_t cached() const override;
  void release_cached() override;

  /// Enqueues a copy from another GPU's memory to this one's, on a stream of either.
  void copy_from(const Gpu& other, void* to, const void* from, std::size_t bytes,
                 const DeviceStream& stream);

  void* allocate_host(std::size_t bytes) override;
  void free_host(void* data) noexcept override;

  /// Throws Error where the driver refuses the cubin.
  ModulePtr load(const std::string& cubin);
  /// Throws Error where the module has none of that name. It lives as long as the module.
  CUfunction function(const Module& module, const std::string& name);
  /// Enqueues a run of a kernel on a stream of this GPU. `arguments`: a pointer to each.
  void launch(CUfunction kernel, unsigned blocks, unsigned threads, void** arguments,
              const DeviceStream& stream);

 private:
  friend class CudaStream;
  friend class CudaEvent;
  friend class CudaTimingEvent;
  friend class Module;
  struct Anchor;

  /// Events that are not in use. Thread-safe; the GPU must have been entered.
  class Events {
   public:
    explicit Events(unsigned flags) : flags_(flags) {}
    CUevent take();
    void give_back(CUevent event) noexcept;
    std::size_t idle();

   private:
    const unsigned flags_;
    std::mutex mutex_;
    std::vector<CUevent> free_;
  };

  explicit Gpu(int index);
  void open(int index);
  void close() noexcept;

  std::shared_ptr<const Anchor> anchor();

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmemoryPool pool_ = nullptr;
  std::string name_;
  GpuFacts facts_;
  std::size_t memory_bytes_ = 0;

  std::unique_ptr<DeviceStream> from_host_, to_host_, anchor_stream_;
  mutable std::mutex mutex_;
  std::vector<std::vector<std::unique_ptr<DeviceStream>>> streams_;  // by StreamSet
  Events events_{CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC}, timed_events_{CU_EVENT_DEFAULT};
  std::mutex capture_mutex_;  // one at a time
  std::mutex anchor_mutex_;
  std::shared_ptr<const Anchor> anchor_;
};

}  // namespace anabranch::cuda
