#include "runtime/cpu/execution.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/cpu/frame.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/timeline.h"

namespace anabranch::cpu {
namespace {

class Execution;

bool can_be_cut(const HostTask& task) { return task.grain < task.extent; }

/// One stream of one execution.
struct Strand final : Work {
  Strand() : Work([](Work& work) { static_cast<Strand&>(work).advance(); }), shared(*this) {}

  // Walks on until the strand ends, waits, or leaves a launch to others to finish.
  void advance();

  Execution* execution = nullptr;
  std::uint32_t stream = 0;
  std::size_t position = 0;
  bool begun = false;  // others were handed the step at `position`, and are done when this goes on
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

  // Between these two lies the step's event on the timeline.
  void start_clock();
  void stop_clock(std::string_view name, timeline::Category category,
                  const timeline::Details& details);
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
  ThreadPool::instance().job_is_ending();
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

void Strand::start_clock() {
  step_begin = timeline::recording() ? timeline::Clock::now() : timeline::Clock::time_point{};
}

void Strand::stop_clock(std::string_view name, timeline::Category category,
                        const timeline::Details& details) {
  if (step_begin == timeline::Clock::time_point{} || !timeline::recording()) return;
  timeline::add(track(), name, category, step_begin, timeline::Clock::now(), details);
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
  ThreadPool& pool = ThreadPool::instance();
  if (!begun) {
    start_clock();
    buffers.resize(launch.buffers.size());
    const bool alone = pool.size() == 1 || ThreadPool::current_worker() < 0;
    if (alone || !can_be_cut(launch.task) || frame.error_before(launch)) {
      timeline::Span span(launch.name, timeline::category_of(launch), ThreadPool::worker_track());
      frame.run(launch, buffers.data());
    } else {
      frame.gather(launch, buffers.data());
      shared.name = launch.name;
      shared.task = &launch.task;
      shared.buffers = buffers.data();
      begun = true;
      if (!pool.run_shared(shared)) return false;
    }
  }
  if (std::exchange(begun, false) && shared.error) {
    frame.fail(launch.writes, std::exchange(shared.error, nullptr));
  }
  stop_clock(launch.name, timeline::category_of(launch), timeline::details_of(launch));
  // Who waits for an output may submit more at once; this worker can take it up.
  if (position + 1 == execution->executable().streams[stream].size()) pool.job_is_ending();
  for (std::uint32_t output : launch.finishes) execution->finish_output(output);
  return true;
}

bool Strand::run(const Copy& copy) {
  start_clock();
  execution->frame().run(copy);
  const std::size_t bytes = execution->executable().slots[copy.from].type.bytes();
  stop_clock("copy", timeline::Category::copy, {static_cast<std::int64_t>(bytes), 0, {}});
  return true;
}

bool Strand::run(const Record& record) {
  execution->record(record.event);
  return true;
}

bool Strand::run(const Wait& wait) {
  if (!begun) {
    start_clock();
    begun = true;
    if (!execution->wait(wait.event, *this)) return false;
  }
  begun = false;
  stop_clock("wait", timeline::Category::wait, {});
  return true;
}

}  // namespace

void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::vector<Buffer> inputs, std::vector<Buffer> outputs) {
  auto execution = std::make_shared<Execution>(device, std::move(executable), std::move(inputs),
                                               std::move(outputs));
  // A worker must not wait for work that may be waiting for a worker.
  device.flights.take_off(execution, ThreadPool::current_worker() >= 0);
  execution->begin_when_ready();
}

}  // namespace anabranch::cpu
