// A host's task on memory of devices that work by themselves: a custom call, or a copy between such
// a device and the host.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/executor/stall.h"
#include "runtime/executor/stream_run.h"
#include "runtime/memory/staging.h"

namespace anabranch::executor {
namespace {

class StagedRun final : public InnerRun, Work {
 public:
  StagedRun(const Step& step, const HostTask& task, std::span<void* const> buffers, Strand& strand)
      : Work([](Work& work) { static_cast<StagedRun&>(work).run(); }),
        step_(step),
        task_(task),
        buffers_(buffers),
        strand_(strand),
        worker_pool_(worker_pool()),
        staged_(buffers.size()),
        on_host_(buffers.begin(), buffers.end()) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (!device_of(i).stream_executor || is_transfer()) continue;
      staged_[i] = Buffer::allocate(Device::cpu(), bytes(i));
      on_host_[i] = staged_[i].data();
    }
  }

  // Called once: `run` is its end.
  bool advance() override {
    missing_.store(buffers_.size() + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (device_of(i).stream_executor && !is_written(i)) {
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
    return strand_.owner().program().slots[step_.buffers[buffer]];
  }
  DeviceState& device_of(std::size_t buffer) const {
    return strand_.owner().device_at(slot(buffer).device);
  }
  std::size_t bytes(std::size_t buffer) const { return slot(buffer).type.bytes(); }
  bool is_transfer() const { return std::holds_alternative<TransferStep>(step_.work); }
  bool is_written(std::size_t buffer) const {
    return std::ranges::find(step_.writes, step_.buffers[buffer]) != step_.writes.end();
  }

  void fetch_operand(std::size_t buffer) {
    DeviceState& device = device_of(buffer);
    // A strand of the host's has waited for what made the operand.
    DeviceStream& stream =
        strand_.device_stream() ? *strand_.device_stream() : device.stream_executor->to_host();
    auto* to = static_cast<std::byte*>(on_host_[is_transfer() ? 1 : buffer]);
    const auto read = [to](std::span<const std::byte> piece) mutable {
      std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
    };
    const auto then = [this](const Failure& error) {
      if (error) {
        frame().fail_all(error);
        has_failed_.store(true, std::memory_order_relaxed);
      }
      one_is_there();
    };
    enqueue_to_host(device, stream, to_host_ring(*device.stream_executor), buffers_[buffer],
                    bytes(buffer), read, then);
  }

  void one_is_there() {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) worker_pool_.post(*this);
  }

  ThreadPool& worker_pool() const {
    if (strand_.pool()) return *strand_.pool();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!device_of(i).stream_executor) return ThreadPool::of(device_of(i).device);
    }
    return ThreadPool::of(Device::cpu(0));
  }

  void run() {
    try {
      if (!has_failed_.load(std::memory_order_relaxed)) {
        if (!is_transfer()) run_task();
        put_results();
      }
    } catch (...) {
      frame().fail(step_, std::current_exception());
    }
    strand_.advance();  // which destroys this
  }

  void run_task() {
    std::optional<InUserCall> in_user_call;
    if (calls_user(step_)) in_user_call.emplace();
    task_.function(task_.context.get(), on_host_.data(), 0, task_.extent);
  }

  void put_results() {
    if (!strand_.device_stream()) return;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_written(i)) continue;
      DeviceState& device = strand_.device();
      const auto* from = static_cast<const std::byte*>(on_host_[is_transfer() ? 0 : i]);
      // An error of the device is reported when the run ends.
      enqueue_from_host(device, *strand_.device_stream(), from_host_ring(*device.stream_executor),
                        buffers_[i], {from, bytes(i)}, [](const Failure&) {});
    }
  }

  const Step& step_;
  const HostTask& task_;
  const std::span<void* const> buffers_;
  Strand& strand_;
  ThreadPool& worker_pool_;     // made first, which may throw
  std::vector<Buffer> staged_;  // the host's copies, one per buffer that needs one
  std::vector<void*> on_host_;
  std::atomic<std::size_t> missing_{0};
  std::atomic<bool> has_failed_{false};
};

}  // namespace

std::unique_ptr<InnerRun> make_staged_run(const Step& step, const HostTask& task,
                                          std::span<void* const> buffers, Strand& strand) {
  return std::make_unique<StagedRun>(step, task, buffers, strand);
}

}  // namespace anabranch::executor
