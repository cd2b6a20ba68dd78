#include "runtime/executor/execution.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/stream_run.h"
#include "runtime/timeline/record.h"

namespace anabranch::executor {
namespace {

// What it needs on each of its devices, in one order for all executions.
std::vector<Reservation> reservations_of(const Program& program) {
  std::vector<Reservation> reservations;
  reservations.reserve(program.devices.size());
  for (const ProgramDevice& used : program.devices) {
    reservations.emplace_back(device_state(used.device).admission, used.arena_bytes);
  }
  for (const Slot& slot : program.slots) {
    const bool own = slot.kind == Slot::Kind::input || slot.kind == Slot::Kind::output;
    if (own) reservations[slot.device].bytes += slot.type.bytes();
  }
  std::ranges::sort(reservations, std::less<>(), &Reservation::admission);
  return reservations;
}

bool has_stream_of_host(const Program& program) {
  return std::ranges::any_of(program.streams, [&](const Stream& stream) {
    return device_state(program.devices[stream.device].device).stream_executor == nullptr;
  });
}

// Whether those of all that it runs are there.
bool have_constants(const LinkedCode& code) {
  const auto is_there = [](const Buffer& constant) { return constant.ready().ready(); };
  if (!std::ranges::all_of(code.constants, is_there)) return false;
  return std::ranges::all_of(code.steps, [](const LinkedStep& step) {
    return std::ranges::all_of(step.regions, have_constants);
  });
}

class Execution final : public InFlightRun, Work, StreamRun {
 public:
  Execution(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::shared_ptr<ExecutionState> state, std::vector<Buffer> inputs,
            std::vector<Buffer> outputs)
      : InFlightRun(device.device, reservations_of(executable->program)),
        Work([](Work& work) { static_cast<Execution&>(work).begin(); }),
        StreamRun(device, executable->program, *executable->code, frame_,
                  static_cast<InFlightRun*>(this)),
        executable_(std::move(executable)),
        state_(std::move(state)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        data_(program().slots.size()),
        frame_(program(), code(), device, data_),
        has_host_(has_stream_of_host(program())),
        enqueued_(program().outputs.size()) {
    part_of = static_cast<InFlightRun*>(this);
    for (const Buffer& output : outputs_) {
      if (output) output.ready().set_maker(part_of);
    }
  }

  /// Begins once every input is ready.
  void begin_when_ready();

 private:
  void input_is_ready();
  void post();
  void begin();
  void begin_later() override { post(); }
  void wait_for_inputs();
  GraphCache* graph_cache() const { return state_ ? state_->graph_cache.get() : nullptr; }
  bool replay();
  std::shared_ptr<const CapturedGraph> captured_steps(GraphCache& graph_cache);
  bool is_observed();
  void finish_output(std::uint32_t index, bool let_go,
                     const std::shared_ptr<const DeviceEvent>& device_event) override;
  void ended() override;
  void finish_enqueued();
  void finish();

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<ExecutionState> state_;  // or null
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::vector<void*> data_;
  Frame frame_;
  std::atomic<std::size_t> missing_inputs_{0};
  const bool has_host_;
  DeviceTimes device_times_;
  std::atomic<std::size_t> reads_{0};
  std::shared_ptr<const CapturedGraph> captured_;  // while it runs
  std::vector<Event> enqueued_;                    // of outputs that are enqueued
  std::atomic<std::size_t> unfinished_devices_{0};
};

void Execution::begin_when_ready() {
  missing_inputs_.store(inputs_.size() + 1, std::memory_order_relaxed);
  for (const Buffer& input : inputs_) {
    if (input.ready().ready()) {
      missing_inputs_.fetch_sub(1, std::memory_order_relaxed);
    } else if (has_host_) {
      input.ready().then([this] { input_is_ready(); });
    } else {
      input.ready().when_enqueued([this] { input_is_ready(); });
    }
  }
  input_is_ready();
}

void Execution::input_is_ready() {
  if (missing_inputs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    post();
  }
}

// On a worker of the device where the first stream is, which `start` begins; what is enqueued
// alone takes no time to speak of.
void Execution::post() {
  if (uses_stream_executor() && !has_host_) return begin();
  for (const Stream& stream : program().streams) {
    const Device& device = program().devices[stream.device].device;
    if (!device_state(device).stream_executor) return ThreadPool::of(device).post(*this);
  }
  ThreadPool::of(device().device).post(*this);  // there are no streams
}

// Memory is taken only now, so that a queue of executions does not hold memory while it waits.
void Execution::begin() {
  if (!may_begin()) return;
  frame_.bind(inputs_, outputs_);
  if (uses_stream_executor()) wait_for_inputs();
  LaunchTimes* times = state_ ? state_->times.get() : nullptr;
  if (times && times->wanted()) measure(times);
  if (uses_stream_executor()) note_enqueued(&device_times_, &reads_);
  if (replay()) return finish_enqueued();
  if (start()) ended();
}

// Whether what an earlier run left captured, or this one, has been launched in place of the steps.
bool Execution::replay() {
  GraphCache* known = graph_cache();
  if (!known || !uses_stream_executor() || frame_.has_failed() || is_observed()) return false;
  captured_ = known->find(data_);
  if (!captured_ && have_constants(code()) && known->is_due(data_)) {
    captured_ = captured_steps(*known);
  }
  if (captured_) guard([&] { captured_->launch(device().stream_executor->main()); });
  return captured_ != nullptr;
}

// Where the device refuses the capture, the steps are enqueued one by one, now and later: whatever
// is wrong with a step comes up there again.
std::shared_ptr<const CapturedGraph> Execution::captured_steps(GraphCache& graph_cache) {
  std::shared_ptr<const CapturedGraph> graph;
  begin_on(StreamSet::capture);
  try {
    graph = device().stream_executor->capture([this] {
      start();
      frame_.check();
    });
    graph_cache.keep(data_, graph);
  } catch (...) {
    graph = nullptr;
    frame_.forget_errors();
    graph_cache.give_up();
  }
  begin_on(StreamSet::run);
  return graph;
}

// Whether single steps are measured, drawn or made to fail.
bool Execution::is_observed() {
  return times() || timeline::recording() ||
         device().launches_until_failure.load(std::memory_order_relaxed) != UINT64_MAX;
}

// On their main streams, where everything begins.
void Execution::wait_for_inputs() {
  for (const Buffer& input : inputs_) {
    const std::shared_ptr<const DeviceEvent> device_event = input.ready().device_event();
    if (!device_event || input.ready().ready()) continue;
    guard([&] { device_state(input.device()).stream_executor->main().wait(*device_event); });
  }
}

// Releases the output before it says that it is there, if it may: what then runs on it can write
// over it.
void Execution::finish_output(std::uint32_t index, bool let_go,
                              const std::shared_ptr<const DeviceEvent>& device_event) {
  const SlotId id = program().outputs[index];
  const Slot& slot = program().slots[id];
  if (slot.kind != Slot::Kind::output || !outputs_[slot.index]) return;
  const Event ready = outputs_[slot.index].ready();
  if (device_event) outputs_[slot.index].set_written_until(device_event);
  if (let_go) outputs_[slot.index] = {};
  // What has failed already may have no memory: nothing may continue with it.
  const Failure error = frame_.error(id);
  if (!device_event || error) return ready.complete(error);
  if (ready.device_event()) return;
  ready.enqueued(device_event, device_at(slot.device).completion);
  enqueued_[index] = ready;
}

// What has no stream of the host begins and ends in the midst of whatever the thread does.
void Execution::ended() {
  if (has_host_) ThreadPool::job_is_ending();
  if (has_device_streams()) return finish_enqueued();
  finish();
}

// All is on the streams. What the host has no part in may go back in their order; the rest has to
// wait until the devices are done.
void Execution::finish_enqueued() {
  if (!has_host_) {
    frame_.unbind();
    inputs_.clear();
  }
  std::vector<std::pair<DeviceState*, std::shared_ptr<const DeviceEvent>>> ends;
  for (DeviceIndex i = 0; i < program().devices.size(); ++i) {
    DeviceState& state = device_at(i);
    if (state.stream_executor) ends.emplace_back(&state, record_on(state.stream_executor->main()));
  }
  for (std::uint32_t i = 0; i < program().outputs.size(); ++i) {
    const Slot& slot = program().slots[program().outputs[i]];
    for (const auto& [state, end] : ends) {
      if (&device_at(slot.device) == state) finish_output(i, true, end);
    }
  }
  unfinished_devices_.store(ends.size(), std::memory_order_relaxed);
  const auto completed = [this](const Failure& error) {
    if (error) frame_.fail_all(error);
    if (unfinished_devices_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish();
  };
  for (const auto& [state, end] : ends) {
    end ? state->completion.when_complete(end, completed) : completed(Failure());
  }
}

void Execution::finish() {
  if (uses_stream_executor()) device_times_.report();
  if (graph_cache()) graph_cache()->went_stepwise(reads_);
  if (times() && !frame_.has_failed()) times()->run_ended();
  // Memory first: a thread that waits for an output may ask what is in use.
  frame_.unbind();
  inputs_.clear();
  for (std::uint32_t i = 0; i < program().outputs.size(); ++i) {
    enqueued_[i].complete(frame_.error(program().outputs[i]));
    finish_output(i, true, nullptr);
  }
  complete();  // may destroy this
}

}  // namespace

void make_threads(const Program& program) {
  for (const ProgramDevice& used : program.devices) {
    if (used.device.kind() == DeviceKind::cpu) ThreadPool::of(used.device);
  }
}

void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::shared_ptr<ExecutionState> state, std::vector<Buffer> inputs,
            std::vector<Buffer> outputs) {
  make_threads(executable->program);
  auto execution = std::make_shared<Execution>(device, std::move(executable), std::move(state),
                                               std::move(inputs), std::move(outputs));
  // A worker must not wait for work that may be waiting for a worker.
  InFlightRun::admit(execution, ThreadPool::on_worker());
  execution->begin_when_ready();
}

}  // namespace anabranch::executor
