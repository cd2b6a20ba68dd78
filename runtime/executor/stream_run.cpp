#include "runtime/executor/stream_run.h"

#include <algorithm>
#include <utility>

#include "runtime/executor/launch_event.h"
#include "runtime/no_destructor.h"
#include "runtime/timeline/record.h"

namespace anabranch::executor {
namespace {

// A helping waiter may be kept this much longer than what it waits for takes.
constexpr double waiter_ns = 20'000;

bool can_be_cut(const HostTask& task) { return task.grain < task.extent; }

NoDestructor<Strand> happened;  // its address alone matters

}  // namespace

StreamRun::StreamRun(DeviceState& device, const Program& program, const LinkedCode& code,
                     Frame& frame, const void* whole)
    : device_(device),
      program_(program),
      code_(code),
      frame_(frame),
      whole_(whole),
      strands_(program.streams.size()),
      events_(program.event_count),
      streams_taken_(program.devices.size()),
      uses_stream_executor_(std::ranges::any_of(program.devices, [](const ProgramDevice& used) {
        return device_state(used.device).stream_executor != nullptr;
      })) {}

void StreamRun::begin_on(const Strand& strand) {
  device_streams_ = strand.streams_inside();
  device_times_ = strand.owner_->device_times_;
  reads_ = strand.owner_->reads_;
}

bool StreamRun::start() {
  if (strands_.empty()) return true;
  for (EventState& event : events_) {
    event.waiting.store(nullptr, std::memory_order_relaxed);
    event.recorded = nullptr;
  }
  if (timeline::recording()) first_arrow_ = timeline::take_arrows(events_.size());
  for (std::uint32_t i = 0; i < strands_.size(); ++i) {
    strands_[i].owner_ = this;
    strands_[i].part_of = whole_;
    strands_[i].stream_ = i;
    strands_[i].position_ = 0;
  }
  take_device_streams();
  if (uses_stream_executor_) fork();
  running_.store(strands_.size() + 1, std::memory_order_relaxed);  // this call counts as one
  starting_.store(true, std::memory_order_relaxed);
  for (std::size_t i = 1; i < strands_.size(); ++i) resume(strands_[i]);
  strands_[0].advance();
  starting_.store(false, std::memory_order_relaxed);
  return one_has_ended();
}

// The first stream of a device is its main stream; the others have streams of their own.
void StreamRun::take_device_streams() {
  std::ranges::fill(streams_taken_, 0);
  for (std::uint32_t i = 0; i < strands_.size(); ++i) {
    const DeviceIndex device = program_.streams[i].device;
    StreamExecutor* stream_executor = device_of(i).stream_executor;
    if (stream_executor) {
      const unsigned number = streams_taken_[device]++;
      strands_[i].device_stream_ =
          number == 0
              ? &main_of(i)
              : &stream_executor->stream(device_streams_.first + number, device_streams_.set);
    } else {
      strands_[i].pool_ = &ThreadPool::of(program_.devices[device].device);
    }
    has_device_streams_ |= stream_executor != nullptr;
  }
}

DeviceStream& StreamRun::main_of(std::uint32_t stream) {
  return device_streams_.main ? *device_streams_.main
                              : device_of(stream).stream_executor->stream(0, device_streams_.set);
}

// A stream may read what is on other devices: all main streams are its.
template <class Visit>
void StreamRun::for_each_stream_and_main(const Visit& visit) {
  std::vector<DeviceStream*> mains;
  if (device_streams_.main) {
    mains = {device_streams_.main};
  } else {
    for (DeviceIndex i = 0; i < program_.devices.size(); ++i) {
      StreamExecutor* stream_executor = device_at(i).stream_executor;
      if (stream_executor) mains.push_back(&stream_executor->stream(0, device_streams_.set));
    }
  }
  for (const Strand& strand : strands_) {
    for (DeviceStream* main : mains) {
      DeviceStream* stream = strand.device_stream_;
      if (stream && stream != main) guard([&] { visit(*stream, *main); });
    }
  }
}

// What was enqueued on the main streams before, memory among it, comes before what is enqueued on
// others.
void StreamRun::fork() {
  wait_for_constants();
  for_each_stream_and_main(
      [](DeviceStream& stream, DeviceStream& main) { stream.wait(*main.record()); });
}

// They are copied from the host when a program is compiled.
void StreamRun::wait_for_constants() {
  for (const Buffer& constant : code_.constants) {
    const std::shared_ptr<const DeviceEvent> device_event = constant.ready().device_event();
    if (!device_event || constant.ready().ready()) continue;
    guard([&] {
      DeviceStream* main = device_streams_.main;
      (main ? *main : device_state(constant.device()).stream_executor->main()).wait(*device_event);
    });
  }
}

// What is on the streams now comes before what is enqueued on their main stream next.
void StreamRun::join() {
  for_each_stream_and_main(
      [](DeviceStream& stream, DeviceStream& main) { main.wait(*stream.record()); });
}

std::shared_ptr<const DeviceEvent> StreamRun::record_on(DeviceStream& stream) {
  std::shared_ptr<const DeviceEvent> made;
  guard([&] { made = stream.record(); });
  return made;
}

void StreamRun::resume(Strand& strand) {
  if (strand.device_stream_) return strand.advance();
  strand.pool_->post(strand);
}

void StreamRun::record(EventId id, DeviceStream* stream) {
  EventState& event = events_[id];
  if (stream) event.recorded = record_on(*stream);
  Strand* waiting = event.waiting.exchange(happened.get(), std::memory_order_acq_rel);
  while (waiting) {
    Strand& next = *std::exchange(waiting, waiting->next_waiting_);
    if (next.pool_) next.pool_->expect_no_more();
    if (pass(event, next)) resume(next);
  }
}

bool StreamRun::wait(EventId id, Strand& strand) {
  EventState& event = events_[id];
  Strand* head = event.waiting.load(std::memory_order_acquire);
  if (head == happened.get()) return pass(event, strand);
  if (strand.pool_) strand.pool_->expect();
  while (head != happened.get()) {
    strand.next_waiting_ = head;
    if (event.waiting.compare_exchange_weak(head, &strand, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
      return false;
    }
  }
  if (strand.pool_) strand.pool_->expect_no_more();
  return pass(event, strand);
}

bool StreamRun::pass(EventState& event, Strand& strand) {
  if (!event.recorded) return true;
  bool may_go_on = true;
  guard([&] {
    if (strand.device_stream_) {
      strand.device_stream_->wait(*event.recorded);
    } else {
      may_go_on = event.recorded->is_complete();
    }
  });
  if (may_go_on) return true;
  strand.pool_->expect();
  device_.completion.when_complete(event.recorded, [this, &strand](const Failure& error) {
    if (error) frame_.fail_all(error);
    strand.pool_->expect_no_more();
    strand.pool_->post(strand);
  });
  return false;
}

// May say no where it is so, while `start` returns. In this order: `start` says that it is over
// before it is no longer counted, so that it is not taken off a count in which it is not.
bool StreamRun::is_on_last_strand() const {
  const std::size_t running = running_.load(std::memory_order_acquire);
  const std::size_t others = starting_.load(std::memory_order_relaxed) ? 1 : 0;
  return running - others == 1;
}

void StreamRun::strand_ended() {
  if (one_has_ended()) ended();
}

// Whether it was the last.
bool StreamRun::one_has_ended() {
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  if (has_device_streams_) join();
  return true;
}

timeline::Track Strand::track() {
  if (row_ < 0) {
    // Executions overlap, so a row of the timeline is held by one strand at a time: that of its own
    // number where it is free.
    row_ = static_cast<int>(device().timeline_streams.take(stream_));
  }
  return {timeline::Track::Kind::stream, device().device, static_cast<std::uint32_t>(row_)};
}

void Strand::start_clock() {
  command_begin_ = {};
  if (device_stream_) {
    device_begin_ = nullptr;
    if (is_device_timed()) owner_->guard([&] { device_begin_ = device_stream_->record_time(); });
    return;
  }
  if (!timeline::recording()) return;
  track();
  command_begin_ = timeline::Clock::now();
}

bool Strand::is_device_timed() const {
  return owner_->device_times_ && (owner_->times() || timeline::recording());
}

void Strand::report_enqueued(std::string_view name, timeline::Category category,
                             const timeline::Details& details, std::optional<StepId> step) {
  if (!device_begin_) return;
  owner_->guard([&] {
    owner_->device_times_->add({track(), std::string(name), category, details, step.value_or(0),
                                step ? owner_->times() : nullptr, std::move(device_begin_),
                                device_stream_->record_time()});
  });
}

void Strand::stop_clock(std::string_view name, timeline::Category category,
                        const timeline::Details& details) {
  if (device_stream_) return report_enqueued(name, category, details);
  if (command_begin_ == timeline::Clock::time_point{} || !timeline::recording()) return;
  timeline::add(track(), name, category, command_begin_, timeline::Clock::now(), details);
}

// What is alone on its stream comes before the result that a helping waiter waits for; of other
// streams it does what is short.
bool Strand::is_for_worker(const Command& command) const {
  if (device_stream_ || !ThreadPool::is_helping_waiter()) return false;
  if (ThreadPool::waiter_may_leave()) return true;
  const auto* launch = std::get_if<Launch>(&command);
  if (!launch) return false;
  const Step& step = owner_->program().steps[launch->step];
  if (calls_user(step)) return true;
  if (owner_->program().streams.size() == 1) return false;
  return !owner_->code().steps[launch->step].host_task() || step.predicted_ns > waiter_ns;
}

void Strand::advance() {
  const Stream& commands = owner_->program().streams[stream_];
  if (!ThreadPool::is_helping_waiter()) part_of = owner_->whole_;
  for (; position_ < commands.size(); ++position_) {
    if (!begun_ && is_for_worker(commands[position_])) {
      part_of = nullptr;
      return pool_->post(*this);
    }
    if (!std::visit([this](const auto& command) { return run(command); }, commands[position_])) {
      return;
    }
  }
  if (row_ >= 0) {
    const auto row = static_cast<std::uint32_t>(std::exchange(row_, -1));
    device().timeline_streams.give_back(row);
  }
  owner_->strand_ended();
}

bool Strand::run(const Launch& launch) {
  const Step& step = owner_->program().steps[launch.step];
  const LinkedStep& code = owner_->code().steps[launch.step];
  if (!begun_ && !begin(step, code)) return false;
  begun_ = false;
  inner_.reset();
  if (owner_->times() && !device_stream_) note_time(launch.step, code.host_task());
  if (shared_.error) owner_->frame().fail(step, std::exchange(shared_.error, nullptr));
  const timeline::Details details = timeline::details_of(owner_->program(), step);
  if (device_stream_) {
    report_enqueued(step.name, timeline::category_of(step), details, launch.step);
  } else {
    stop_clock(step.name, timeline::category_of(step), details);
  }
  if (owner_->device_streams_.set != StreamSet::run) return true;
  if (position_ + 1 == owner_->program().streams[stream_].size()) {
    // Who waits for an output may submit more at once; this worker can take it up.
    if (pool_ && owner_->ends_job()) ThreadPool::job_is_ending();
    // All outputs are final in a moment, and memory goes back first: the next execution, which may
    // begin for this output, shall not take its own beside it.
    if (owner_->is_on_last_strand()) return true;
  }
  const std::shared_ptr<const DeviceEvent> device_event =
      device_stream_ && !step.finishes.empty() ? owner_->record_on(*device_stream_) : nullptr;
  for (std::uint32_t output : step.finishes) {
    const auto& left = step.lets_go;
    owner_->finish_output(output, std::find(left.begin(), left.end(), output) != left.end(),
                          device_event);
  }
  return true;
}

// A step that several threads ran takes what they took together. `task`: all of it, or null.
void Strand::note_time(StepId id, const HostTask* task) {
  const bool was_shared = task && shared_.task == task;
  shared_.task = nullptr;
  owner_->times()->add(id, was_shared ? shared_.busy() : timeline::Clock::now() - step_begin_);
}

// Whether the step is done.
bool Strand::begin(const Step& step, const LinkedStep& code) {
  start_clock();
  if (owner_->times()) step_begin_ = timeline::Clock::now();
  Frame& frame = owner_->frame();
  if (!frame.may_run(step)) return true;
  try {
    buffers_.resize(step.buffers.size());
  } catch (...) {
    frame.fail(step, std::current_exception());
    return true;
  }
  if (const DeviceTask* task = code.device_task()) {
    enqueue(step, *task);
    return true;
  }
  const HostTask* task = code.host_task();
  const bool is_staged = task && owner_->uses_stream_executor() && is_on_stream_executor(step);
  if (task && !is_staged) return begin_task(step, *task);
  try {
    frame.gather(step, buffers_.data(), device_stream_);
    if (owner_->device_streams_.set != StreamSet::run) {
      capture_flow(step, code, buffers_, *this);
      return true;
    }
    inner_ = is_staged ? make_staged_run(step, *task, buffers_, *this)
                       : make_inner_run(step, code, buffers_, *this);
  } catch (...) {
    frame.fail(step, std::current_exception());
    return true;
  }
  begun_ = true;
  return inner_->advance();
}

// Whether any of its memory is not the host's.
bool Strand::is_on_stream_executor(const Step& step) const {
  return std::ranges::any_of(step.buffers, [this](SlotId id) {
    return owner_->device_at(owner_->program().slots[id].device).stream_executor != nullptr;
  });
}

void Strand::enqueue(const Step& step, const DeviceTask& task) {
  try {
    const NamedRange range(*device_stream_, step.name);
    owner_->frame().gather(step, buffers_.data(), device_stream_);
    task.enqueue(task.context.get(), buffers_.data(), *device_stream_);
  } catch (...) {
    owner_->frame().fail(step, std::current_exception());
  }
}

bool Strand::begin_task(const Step& step, const HostTask& task) {
  const bool alone = pool_->size() == 1 || !ThreadPool::on_worker();
  if (alone || !can_be_cut(task)) {
    timeline::Span span(step.name, timeline::Category::range, ThreadPool::worker_track(),
                        {.location = step.location});
    owner_->frame().run(step, task, buffers_.data());
    return true;
  }
  owner_->frame().gather(step, buffers_.data());
  shared_.name = step.name;
  shared_.location = step.location;
  shared_.task = &task;
  shared_.is_timed = owner_->times() != nullptr;
  shared_.buffers = buffers_.data();
  begun_ = true;
  return pool_->run_shared(shared_);
}

bool Strand::run(const Record& record) {
  start_clock();
  const std::uint64_t arrow = owner_->first_arrow_ + record.event;
  owner_->record(record.event, device_stream_);
  stop_clock("record", timeline::Category::record, {.arrow = arrow});
  return true;
}

bool Strand::run(const Wait& wait) {
  if (!begun_) {
    start_clock();
    begun_ = true;
    if (!owner_->wait(wait.event, *this)) return false;
  }
  begun_ = false;
  stop_clock("wait", timeline::Category::wait, {.arrow = owner_->first_arrow_ + wait.event});
  return true;
}

}  // namespace anabranch::executor
