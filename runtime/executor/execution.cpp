#include "runtime/executor/execution.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {
namespace {

// What it needs on each of its devices, in one order for all executions.
std::vector<Leg> legs_of(const Program& program) {
  std::vector<Leg> legs;
  legs.reserve(program.devices.size());
  for (const ProgramDevice& used : program.devices) {
    legs.emplace_back(device_state(used.device).flights, used.arena_bytes);
  }
  for (const Slot& slot : program.slots) {
    const bool own = slot.kind == Slot::Kind::input || slot.kind == Slot::Kind::output;
    if (own) legs[slot.device].bytes += slot.type.bytes();
  }
  std::ranges::sort(legs, std::less<>(), &Leg::flights);
  return legs;
}

bool has_stream_of_host(const Program& program) {
  return std::ranges::any_of(program.streams, [&](const Stream& stream) {
    return device_state(program.devices[stream.device].device).engine == nullptr;
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

class Execution final : public Flight, Work, StreamRun {
 public:
  Execution(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::shared_ptr<ExecutionState> state, std::vector<Buffer> inputs,
            std::vector<Buffer> outputs)
      : Flight(device.device, legs_of(executable->program)),
        Work([](Work& work) { static_cast<Execution&>(work).begin(); }),
        StreamRun(device, executable->program, *executable->code, frame_,
                  static_cast<Flight*>(this)),
        executable_(std::move(executable)),
        state_(std::move(state)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        data_(program().slots.size()),
        frame_(program(), code(), device, data_),
        has_host_(has_stream_of_host(program())),
        queued_(program().outputs.size()) {
    part_of = static_cast<Flight*>(this);
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
  Replays* replays() const { return state_ ? state_->replays.get() : nullptr; }
  bool replay();
  std::shared_ptr<const CapturedWork> captured_steps(Replays& replays);
  bool is_watched();
  void finish_output(std::uint32_t index, bool let_go,
                     const std::shared_ptr<const Mark>& mark) override;
  void ended() override;
  void leave_queues();
  void finish();

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<ExecutionState> state_;  // or null
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::vector<void*> data_;
  Frame frame_;
  std::atomic<std::size_t> missing_inputs_{0};
  const bool has_host_;
  QueueTimes queue_times_;
  std::atomic<std::size_t> looks_{0};
  std::shared_ptr<const CapturedWork> captured_;  // while it runs
  std::vector<Event> queued_;                     // of outputs that a queue will have made
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
      input.ready().when_queued([this] { input_is_ready(); });
    }
  }
  input_is_ready();
}

void Execution::input_is_ready() {
  if (missing_inputs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    post();
  }
}

// On a worker of the device where the first stream is, which `start` begins; what is put on queues
// alone takes no time to speak of.
void Execution::post() {
  if (has_engine() && !has_host_) return begin();
  for (const Stream& stream : program().streams) {
    const Device& device = program().devices[stream.device].device;
    if (!device_state(device).engine) return ThreadPool::of(device).post(*this);
  }
  ThreadPool::of(Device::cpu(0)).post(*this);
}

// Memory is taken only now, so that a queue of executions does not hold memory while it waits.
void Execution::begin() {
  if (!may_begin()) return;
  frame_.bind(inputs_, outputs_);
  if (has_engine()) wait_for_inputs();
  LaunchTimes* times = state_ ? state_->times.get() : nullptr;
  if (times && times->wanted()) measure(times);
  if (has_engine()) note_queued(&queue_times_, &looks_);
  if (replay()) return leave_queues();
  if (start()) ended();
}

// Whether what an earlier run left captured, or this one, has been put in place of the steps.
bool Execution::replay() {
  Replays* known = replays();
  if (!known || !has_engine() || frame_.has_failed() || is_watched()) return false;
  captured_ = known->find(data_);
  if (!captured_ && have_constants(code()) && known->is_due(data_)) {
    captured_ = captured_steps(*known);
  }
  if (captured_) guard([&] { captured_->put(device().engine->main()); });
  return captured_ != nullptr;
}

// What the device will not have captured goes step by step, now and later: whatever is wrong with
// it comes up there again, or else was nobody's business.
std::shared_ptr<const CapturedWork> Execution::captured_steps(Replays& replays) {
  std::shared_ptr<const CapturedWork> work;
  begin_on(QueueSet::capture);
  try {
    work = device().engine->capture([this] {
      start();
      frame_.check();
    });
    replays.keep(data_, work);
  } catch (...) {
    work = nullptr;
    frame_.forget_errors();
    replays.give_up();
  }
  begin_on(QueueSet::run);
  return work;
}

// Whether somebody wants to know of single steps.
bool Execution::is_watched() {
  return times() || timeline::recording() ||
         device().launches_until_failure.load(std::memory_order_relaxed) != UINT64_MAX;
}

// On their engines' main queues, where everything begins.
void Execution::wait_for_inputs() {
  for (const Buffer& input : inputs_) {
    const std::shared_ptr<const Mark> mark = input.ready().mark();
    if (!mark || input.ready().ready()) continue;
    guard([&] { device_state(input.device()).engine->main().wait(*mark); });
  }
}

// Lets go of the output before it says that it is there, if it may: who then runs something on it
// can write over it.
void Execution::finish_output(std::uint32_t index, bool let_go,
                              const std::shared_ptr<const Mark>& mark) {
  const SlotId id = program().outputs[index];
  const Slot& slot = program().slots[id];
  if (slot.kind != Slot::Kind::output || !outputs_[slot.index]) return;
  const Event ready = outputs_[slot.index].ready();
  if (mark) outputs_[slot.index].set_written_until(mark);
  if (let_go) outputs_[slot.index] = {};
  // What has failed already may have no memory: nobody may go on with it.
  const Failure error = frame_.error(id);
  if (!mark || error) return ready.complete(error);
  if (ready.mark()) return;
  ready.queued(mark, device_at(slot.device).completion);
  queued_[index] = ready;
}

void Execution::ended() {
  ThreadPool::job_is_ending();
  if (has_queues()) return leave_queues();
  finish();
}

// All is on the queues. What the host has no part in may go back in their order; the rest has to
// wait until the devices are done.
void Execution::leave_queues() {
  if (!has_host_) {
    frame_.unbind();
    inputs_.clear();
  }
  std::vector<std::pair<DeviceState*, std::shared_ptr<const Mark>>> ends;
  for (DeviceIndex i = 0; i < program().devices.size(); ++i) {
    DeviceState& state = device_at(i);
    if (state.engine) ends.emplace_back(&state, mark(state.engine->main()));
  }
  for (std::uint32_t i = 0; i < program().outputs.size(); ++i) {
    const Slot& slot = program().slots[program().outputs[i]];
    for (const auto& [state, end] : ends) {
      if (&device_at(slot.device) == state) finish_output(i, true, end);
    }
  }
  unfinished_devices_.store(ends.size(), std::memory_order_relaxed);
  const auto past = [this](const Failure& error) {
    if (error) frame_.fail_all(error);
    if (unfinished_devices_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish();
  };
  for (const auto& [state, end] : ends) {
    end ? state->completion.when_past(end, past) : past(Failure());
  }
}

void Execution::finish() {
  if (has_engine()) queue_times_.report();
  if (replays()) replays()->went_stepwise(looks_);
  if (times() && !frame_.has_failed()) times()->run_ended();
  // Memory first: who waits for an output may look at what is in use.
  frame_.unbind();
  inputs_.clear();
  for (std::uint32_t i = 0; i < program().outputs.size(); ++i) {
    queued_[i].complete(frame_.error(program().outputs[i]));
    finish_output(i, true, nullptr);
  }
  land();  // may destroy this
}

}  // namespace

void submit(DeviceState& device, std::shared_ptr<const Executable> executable,
            std::shared_ptr<ExecutionState> state, std::vector<Buffer> inputs,
            std::vector<Buffer> outputs) {
  auto execution = std::make_shared<Execution>(device, std::move(executable), std::move(state),
                                               std::move(inputs), std::move(outputs));
  // A worker must not wait for work that may be waiting for a worker.
  Flight::take_off(execution, ThreadPool::on_worker());
  execution->begin_when_ready();
}

}  // namespace anabranch::executor
