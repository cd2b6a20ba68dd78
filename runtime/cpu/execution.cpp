#include "runtime/cpu/execution.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "runtime/cpu/frame.h"
#include "runtime/cpu/stream_run.h"
#include "runtime/cpu/thread_pool.h"

namespace anabranch::cpu {
namespace {

// What it needs on each of its devices, in one order for all executions.
std::vector<Leg> legs_of(const Executable& executable, DeviceState& device) {
  std::vector<Leg> legs;
  legs.reserve(1 + executable.further.size());
  legs.emplace_back(device.flights, executable.arena_bytes);
  for (const FurtherDevice& further : executable.further) {
    legs.emplace_back(device_state(further.device).flights, further.arena_bytes);
  }
  for (const Slot& slot : executable.slots) {
    const bool own = slot.kind == Slot::Kind::input || slot.kind == Slot::Kind::output;
    if (own) legs[slot.device].bytes += slot.type.bytes();
  }
  std::ranges::sort(legs, std::less<>(), &Leg::flights);
  return legs;
}

class Execution final : public Flight, Work, StreamRun {
 public:
  Execution(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs)
      : Flight(device.device, legs_of(*executable, device)),
        Work([](Work& work) { static_cast<Execution&>(work).begin(); }),
        StreamRun(device, *executable, frame_, static_cast<Flight*>(this)),
        executable_(std::move(executable)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        data_(executable_->slots.size()),
        frame_(*executable_, device, data_) {
    part_of = static_cast<Flight*>(this);
    for (const Buffer& output : outputs_) {
      if (output) output.ready().set_maker(part_of);
    }
  }

  /// Begins once every input is ready.
  void begin_when_ready();

 private:
  void input_is_ready();
  void begin();
  void begin_later() override { pool().post(*this); }
  ThreadPool& pool() const;
  void finish_output(std::uint32_t index, bool let_go) override;
  void ended() override;

  std::shared_ptr<const Executable> executable_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::vector<void*> data_;
  Frame frame_;
  std::atomic<std::size_t> missing_inputs_{0};
};

void Execution::begin_when_ready() {
  missing_inputs_.store(inputs_.size() + 1, std::memory_order_relaxed);
  for (const Buffer& input : inputs_) {
    if (input.ready().ready()) {
      missing_inputs_.fetch_sub(1, std::memory_order_relaxed);
    } else {
      input.ready().then([this] { input_is_ready(); });
    }
  }
  input_is_ready();
}

void Execution::input_is_ready() {
  if (missing_inputs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    pool().post(*this);
  }
}

// Where the first stream is, which `start` begins here.
ThreadPool& Execution::pool() const {
  const std::vector<Stream>& streams = executable_->streams;
  return ThreadPool::of(executable_->device_at(streams.empty() ? 0 : streams[0].device));
}

// Memory is taken only now, so that a queue of executions does not hold memory while it waits.
void Execution::begin() {
  if (!may_begin()) return;
  frame_.bind(inputs_, outputs_);
  LaunchTimes* times = executable_->times.get();
  if (times && times->wanted()) measure(times);
  if (start()) ended();
}

// Lets go of the output before it says that it is there, if it may: who then runs something on it
// can write over it.
void Execution::finish_output(std::uint32_t index, bool let_go) {
  const SlotId id = executable_->outputs[index];
  const Slot& slot = executable_->slots[id];
  if (slot.kind != Slot::Kind::output || !outputs_[slot.index]) return;
  const Event ready = outputs_[slot.index].ready();
  if (let_go) outputs_[slot.index] = {};
  ready.complete(frame_.error(id));
}

void Execution::ended() {
  ThreadPool::job_is_ending();
  if (times() && !frame_.has_failed()) times()->run_ended();
  // Memory first: who waits for an output may look at what is in use.
  frame_.unbind();
  inputs_.clear();
  for (std::uint32_t i = 0; i < executable_->outputs.size(); ++i) finish_output(i, true);
  land();  // may destroy this
}

}  // namespace

void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs) {
  auto execution = std::make_shared<Execution>(device, std::move(executable), std::move(inputs),
                                               std::move(outputs));
  // A worker must not wait for work that may be waiting for a worker.
  Flight::take_off(execution, ThreadPool::on_worker());
  execution->begin_when_ready();
}

}  // namespace anabranch::cpu
