#include "runtime/executor/staged_run.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/staging.h"

namespace anabranch::executor {
namespace {

class StagedRun final : public InnerRun, Work {
 public:
  StagedRun(const Launch& launch, const HostTask& task, std::span<void* const> buffers,
            Strand& strand)
      : Work([](Work& work) { static_cast<StagedRun&>(work).run(); }),
        launch_(launch),
        task_(task),
        buffers_(buffers),
        strand_(strand),
        staged_(buffers.size()),
        on_host_(buffers.begin(), buffers.end()) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      Engine* engine = device_of(i).engine;
      if (!engine || !is_written(i)) continue;
      staged_[i] = stage(*engine, bytes(i));
      on_host_[i] = staged_[i].get();
    }
  }

  // Called once: `run` is its end.
  bool advance() override {
    missing_.store(buffers_.size() + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (device_of(i).engine && !is_written(i)) {
        fetch_operand(i);
      } else {
        one_is_there();
      }
    }
    one_is_there();
    return false;
  }

 private:
  Frame& frame() const { return strand_.owner().frame(); }
  const Slot& slot(std::size_t buffer) const {
    return strand_.owner().executable().slots[launch_.buffers[buffer]];
  }
  DeviceState& device_of(std::size_t buffer) const {
    return strand_.owner().device_at(slot(buffer).device);
  }
  std::size_t bytes(std::size_t buffer) const { return slot(buffer).type.bytes(); }
  bool is_written(std::size_t buffer) const {
    return std::ranges::find(launch_.writes, launch_.buffers[buffer]) != launch_.writes.end();
  }

  void fetch_operand(std::size_t buffer) {
    DeviceState& device = device_of(buffer);
    // A strand of the host's has waited for what made the operand.
    DeviceQueue& queue = strand_.queue() ? *strand_.queue() : device.engine->to_host();
    fetch(device, queue, buffers_[buffer], bytes(buffer),
          [this, buffer](std::shared_ptr<const void> data, const Failure& error) {
            if (error) {
              frame().fail_all(error);
              has_failed_.store(true, std::memory_order_relaxed);
            }
            staged_[buffer] = std::const_pointer_cast<void>(std::move(data));
            on_host_[buffer] = staged_[buffer].get();
            one_is_there();
          });
  }

  void one_is_there() {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) worker_pool().post(*this);
  }

  ThreadPool& worker_pool() const {
    if (strand_.pool()) return *strand_.pool();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!device_of(i).engine) return ThreadPool::of(device_of(i).device);
    }
    return ThreadPool::of(Device::cpu(0));
  }

  void run() {
    try {
      if (!has_failed_.load(std::memory_order_relaxed)) {
        task_.function(task_.context.get(), on_host_.data(), 0, task_.extent);
        put_results();
      }
    } catch (...) {
      frame().fail(launch_, std::current_exception());
    }
    strand_.advance();  // which destroys this
  }

  void put_results() {
    DeviceQueue* queue = strand_.queue();
    if (!queue) return;
    std::exception_ptr error;
    try {
      for (std::size_t i = 0; i < buffers_.size(); ++i) {
        if (is_written(i)) queue->copy(buffers_[i], on_host_[i], bytes(i));
      }
    } catch (...) {
      error = std::current_exception();
    }
    // The copies that are under way need their memory.
    strand_.device().completion.when_past(queue->mark(), [staged = staged_](const Failure&) {});
    if (error) std::rethrow_exception(error);
  }

  const Launch& launch_;
  const HostTask& task_;
  const std::span<void* const> buffers_;
  Strand& strand_;
  std::vector<std::shared_ptr<void>> staged_;  // page-locked copies, one per buffer that needs one
  std::vector<void*> on_host_;
  std::atomic<std::size_t> missing_{0};
  std::atomic<bool> has_failed_{false};
};

}  // namespace

std::unique_ptr<InnerRun> make_staged_run(const Launch& launch, const HostTask& task,
                                          std::span<void* const> buffers, Strand& strand) {
  return std::make_unique<StagedRun>(launch, task, buffers, strand);
}

}  // namespace anabranch::executor
