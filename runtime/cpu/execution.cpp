#include "runtime/cpu/execution.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "runtime/cpu/frame.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/timeline.h"

namespace anabranch::cpu {
namespace {

class Execution;

timeline::Details details_of(const Launch& launch) {
  return {launch.cost.bytes_read + launch.cost.bytes_written, launch.cost.operations,
          launch.location};
}

timeline::Category category_of(const Launch& launch) {
  return launch.kind == Launch::Kind::kernel ? timeline::Category::kernel
                                             : timeline::Category::library;
}

bool can_be_cut(const HostTask& task) { return task.grain < task.extent; }

/// One stream of one execution.
struct Strand final : Work {
  Strand() : Work([](Work& work) { static_cast<Strand&>(work).advance(); }), shared(*this) {}

  // Walks on until the strand ends, waits, or leaves a launch to others to finish.
  void advance();

  Execution* execution = nullptr;
  std::uint32_t stream = 0;
  std::size_t position = 0;
  bool launched = false;  // the launch at `position` has run, on several workers
  Strand* next_waiting = nullptr;
  std::vector<void*> buffers;
  SharedTask shared;
  timeline::Clock::time_point step_begin{};
  int row = -1;  // of the timeline

 private:
  bool run(const Launch& launch);
  bool run(const Copy& copy);
  bool run(const Record& record);
  bool run(const Wait& wait);
  void finish(const Launch& launch);
  timeline::Track track();
};

class Execution final : public Flight, Work {
 public:
  Execution(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs)
      : Work([](Work& work) { static_cast<Execution&>(work).begin(); }),
        executable_(std::move(executable)),
        device_(device),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        data_(executable_->slots.size()),
        frame_(*executable_, device.allocator, data_),
        strands_(std::max<std::size_t>(1, executable_->streams.size())),
        running_(static_cast<std::uint32_t>(strands_.size())),
        events_(executable_->event_count) {}

  /// Begins once every input is ready.
  void begin_when_ready();

  const Executable& executable() const { return *executable_; }
  Frame& frame() { return frame_; }
  DeviceState& device() { return device_; }

  void finish_output(std::uint32_t index);
  void record(EventId event);
  /// Whether the event has happened; if not, the strand will be posted once it has.
  bool wait(EventId event, Strand& strand);
  void strand_ended();

 private:
  void input_is_ready();
  void begin();
  void end();

  std::shared_ptr<const Executable> executable_;
  DeviceState& device_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::vector<void*> data_;
  Frame frame_;
  std::vector<Strand> strands_;
  std::atomic<std::uint32_t> running_;
  std::atomic<std::size_t> missing_inputs_{0};
  std::vector<std::atomic<Strand*>> events_;  // who waits, or `happened`
};

Strand happened;  // its address alone matters

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
    ThreadPool::instance().post(*this);
  }
}

// Memory is taken only now, so that a queue of executions does not hold memory while it waits.
void Execution::begin() {
  frame_.bind(inputs_, outputs_);
  const auto streams = static_cast<std::uint32_t>(executable_->streams.size());
  if (streams == 0) return end();
  for (std::uint32_t i = 0; i < streams; ++i) {
    strands_[i].execution = this;
    strands_[i].stream = i;
  }
  for (std::uint32_t i = 1; i < streams; ++i) ThreadPool::instance().post(strands_[i]);
  strands_[0].advance();
}

void Execution::finish_output(std::uint32_t index) {
  const SlotId id = executable_->outputs[index];
  const Slot& slot = executable_->slots[id];
  if (slot.kind == Slot::Kind::output) outputs_[slot.index].ready().complete(frame_.error(id));
}

void Execution::record(EventId event) {
  Strand* waiting = events_[event].exchange(&happened, std::memory_order_acq_rel);
  while (waiting) ThreadPool::instance().post(*std::exchange(waiting, waiting->next_waiting));
}

bool Execution::wait(EventId event, Strand& strand) {
  std::atomic<Strand*>& waiting = events_[event];
  Strand* head = waiting.load(std::memory_order_acquire);
  while (head != &happened) {
    strand.next_waiting = head;
    if (waiting.compare_exchange_weak(head, &strand, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      return false;
    }
  }
  return true;
}

void Execution::strand_ended() {
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
}

void Execution::end() {
  ThreadPool::job_is_ending();
  // Memory first: who waits for an output may look at what is in use.
  frame_.unbind();
  inputs_.clear();
  for (std::uint32_t i = 0; i < executable_->outputs.size(); ++i) finish_output(i);
  outputs_.clear();
  device_.flights.land(*this);  // may destroy this
}

timeline::Track Strand::track() {
  if (row < 0) {
    // Executions overlap, so a row of the timeline is held by one strand at a time.
    std::atomic<std::uint64_t>& rows = execution->device().timeline_streams;
    std::uint64_t taken = rows.load(std::memory_order_relaxed);
    do {
      row = std::min(63, std::countr_one(taken));
    } while (!rows.compare_exchange_weak(taken, taken | std::uint64_t{1} << row));
  }
  return {timeline::Track::Kind::stream, execution->executable().device,
          static_cast<std::uint32_t>(row)};
}

void Strand::advance() {
  const std::vector<Step>& steps = execution->executable().streams[stream];
  for (; position < steps.size(); ++position) {
    if (!std::visit([this](const auto& step) { return run(step); }, steps[position])) return;
  }
  if (row >= 0) execution->device().timeline_streams.fetch_and(~(std::uint64_t{1} << row));
  execution->strand_ended();
}

bool Strand::run(const Launch& launch) {
  Frame& frame = execution->frame();
  if (!launched) {
    if (timeline::recording()) step_begin = timeline::Clock::now();
    buffers.resize(launch.buffers.size());
    if (!can_be_cut(launch.task) || ThreadPool::instance().size() == 1 ||
        ThreadPool::current_worker() < 0) {
      frame.run(launch, buffers.data());
    } else if (std::exception_ptr error = frame.error_before(launch)) {
      frame.fail(launch.writes, error);
    } else {
      frame.gather(launch, buffers.data());
      shared.task = &launch.task;
      shared.buffers = buffers.data();
      launched = true;
      if (!ThreadPool::instance().run_shared(shared)) return false;
    }
  }
  if (std::exchange(launched, false) && shared.error) {
    frame.fail(launch.writes, std::exchange(shared.error, nullptr));
  }
  finish(launch);
  return true;
}

void Strand::finish(const Launch& launch) {
  if (timeline::recording()) {
    timeline::add(track(), launch.name, category_of(launch), step_begin, timeline::Clock::now(),
                  details_of(launch));
  }
  for (std::uint32_t output : launch.finishes) execution->finish_output(output);
}

bool Strand::run(const Copy& copy) {
  timeline::Details details;
  if (timeline::recording()) {
    details.bytes =
        static_cast<std::int64_t>(execution->executable().slots[copy.from].type.bytes());
    timeline::Span span("copy", timeline::Category::copy, track(), details);
    execution->frame().run(copy);
  } else {
    execution->frame().run(copy);
  }
  return true;
}

bool Strand::run(const Record& record) {
  execution->record(record.event);
  return true;
}

bool Strand::run(const Wait& wait) {
  if (launched) {  // back after the event
    launched = false;
    return true;
  }
  launched = true;
  if (!execution->wait(wait.event, *this)) return false;
  launched = false;
  return true;
}

}  // namespace

namespace {

// Handing over costs about this much, with the wake-up of a worker and of the reader.
constexpr double inline_ns = 2000;
constexpr double copy_ns_per_byte = 0.05;
constexpr std::size_t inline_slots = 32;
constexpr std::size_t inline_buffers = 32;

bool is_small(const Executable& executable) {
  if (executable.streams.size() > 1 || executable.slots.size() > inline_slots) return false;
  if (executable.streams.empty()) return true;
  double predicted_ns = 0;
  for (const Step& step : executable.streams[0]) {
    if (const auto* launch = std::get_if<Launch>(&step)) {
      if (launch->buffers.size() > inline_buffers) return false;
      predicted_ns += launch->predicted_ns;
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
      predicted_ns +=
          copy_ns_per_byte * static_cast<double>(executable.slots[copy->from].type.bytes());
    }
    if (predicted_ns > inline_ns) return false;
  }
  return true;
}

}  // namespace

bool run_inline(DeviceState& device, const Executable& executable, std::span<const Buffer> inputs,
                std::vector<Buffer>& outputs) {
  for (const Buffer& input : inputs) {
    if (!input.ready().ready()) return false;
  }
  if (!is_small(executable)) return false;
  std::array<void*, inline_slots> data;
  std::array<void*, inline_buffers> buffers;
  Frame frame(executable, device.allocator, std::span(data).first(executable.slots.size()));
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    outputs[slot.index] = Buffer::deferred(executable.device, slot.type.bytes(), Event());
  }
  frame.bind(inputs, outputs);
  for (const std::vector<Step>& steps : executable.streams) {
    for (const Step& step : steps) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        timeline::Span span(launch->name, category_of(*launch), {}, details_of(*launch));
        frame.run(*launch, buffers.data());
      } else if (const auto* copy = std::get_if<Copy>(&step)) {
        frame.run(*copy);
      }
    }
  }
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output) continue;
    if (std::exception_ptr error = frame.error(id)) {
      outputs[slot.index] = Buffer::failed(executable.device, error);
    }
  }
  return true;
}

void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs) {
  auto execution = std::make_shared<Execution>(device, std::move(executable), std::move(inputs),
                                               std::move(outputs));
  // A worker must not wait for work that may be waiting for a worker.
  device.flights.take_off(execution, ThreadPool::current_worker() >= 0);
  execution->begin_when_ready();
}

}  // namespace anabranch::cpu
