// StreamRun: one run of a program's streams over memory that is there.
//
// Streams cost nothing here, so each is a strand of its own: a list of commands that one worker at
// a time walks down. A strand that has to wait is put aside and its worker does something else; who
// makes the event happen puts it back.
//
// A stream of a device that works by itself is a strand as well: it puts its steps on a queue of
// the device and never waits there. Others may go on once an event is recorded on a queue: on the
// same kind of device the queues wait for each other, and a strand of the host is put back once the
// device has come past it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device_state.h"
#include "runtime/executor/executable.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/inner_run.h"
#include "runtime/executor/launch_times.h"
#include "runtime/executor/queue_times.h"
#include "runtime/timeline/timeline.h"

namespace anabranch::executor {

using cpu::SharedTask;
using cpu::ThreadPool;
using cpu::Work;

class StreamRun;

/// The queues of a run on one device.
struct QueuePlace {
  DeviceQueue* home = nullptr;  ///< where all begins and ends; null: the main queue of each device
  unsigned first = 0;           ///< of those that are its own
  QueueSet set = QueueSet::run;
};

/// One stream of one run.
class Strand final : public Work {
 public:
  Strand() : Work([](Work& work) { static_cast<Strand&>(work).advance(); }), shared_(*this) {}

  /// Walks on until the strand ends, waits, or leaves a step to others to finish.
  void advance();

  StreamRun& owner() const { return *owner_; }
  inline DeviceState& device() const;
  /// Where it puts its steps; null for a stream of the host's.
  DeviceQueue* queue() const { return queue_; }
  /// The queues for what is a part of a step of it.
  inline QueuePlace place_inside() const;
  /// Whose threads run its steps; null for a stream of a device that works by itself.
  ThreadPool* pool() const { return pool_; }
  /// The row of the timeline that its steps are drawn on, taken on first use.
  timeline::Track track();

 private:
  friend class StreamRun;

  bool is_for_worker(const Command& command) const;
  bool run(const Launch& launch);
  bool run(const Record& record);
  bool run(const Wait& wait);
  bool begin(const Step& step, const LinkedStep& code);
  bool is_on_engine(const Step& step) const;
  void put(const Step& step, const DeviceTask& task);
  bool begin_task(const Step& step, const HostTask& task);
  void note_time(StepId id, const HostTask* task);
  bool is_queue_timed() const;
  void report_queued(std::string_view name, timeline::Category category,
                     const timeline::Details& details, std::optional<StepId> step = {});

  // Between these two lies the command's event on the timeline.
  void start_clock();
  void stop_clock(std::string_view name, timeline::Category category,
                  const timeline::Details& details);

  StreamRun* owner_ = nullptr;
  ThreadPool* pool_ = nullptr;    // of the stream's device, if the host's threads do its work
  DeviceQueue* queue_ = nullptr;  // if not, where this puts it
  std::uint32_t stream_ = 0;
  std::size_t position_ = 0;
  bool begun_ = false;  // the command at `position_` is under way; this goes on when it is done
  Strand* next_waiting_ = nullptr;
  std::vector<void*> buffers_;
  SharedTask shared_;
  std::unique_ptr<InnerRun> inner_;
  timeline::Clock::time_point command_begin_{}, step_begin_{};
  std::shared_ptr<const TimeMark> queue_begin_;  // of the command, where it is timed on its queue
  int row_ = -1;                                 // of the timeline
};

/// May be started again once it has ended.
class StreamRun {
 public:
  /// `whole`: what its strands are a part of, for who waits for that.
  StreamRun(DeviceState& device, const Program& program, const LinkedCode& code, Frame& frame,
            const void* whole = nullptr);
  virtual ~StreamRun() = default;
  StreamRun(const StreamRun&) = delete;
  StreamRun& operator=(const StreamRun&) = delete;

  /// Begins every stream, the first one here: on a worker of its device. Whether all have ended; if
  /// not, `ended` is called by whoever ends the last, and this may no longer be touched. A stream
  /// of a device that works by itself has ended once all its steps are on their queue.
  bool start();

  const Program& program() const { return program_; }
  const LinkedCode& code() const { return code_; }
  Frame& frame() { return frame_; }
  DeviceState& device() { return device_; }
  /// Where stream `index` runs.
  DeviceState& device_of(std::uint32_t stream) {
    return device_at(program_.streams[stream].device);
  }
  DeviceState& device_at(DeviceIndex index) {
    return index == 0 ? device_ : device_state(program_.devices[index].device);
  }
  /// Whether any of its devices works by itself.
  bool has_engine() const { return has_engine_; }
  /// Runs `work`, which may find that the device has failed; then so has everything here.
  template <class Work>
  void guard(Work work) {
    try {
      work();
    } catch (...) {
      frame_.fail_all(std::current_exception());
    }
  }
  /// The host had to look at a device's memory to know what comes next.
  void note_look() {
    if (looks_) looks_->fetch_add(1, std::memory_order_relaxed);
  }
  /// Where this run's times go; null where it is not measured.
  LaunchTimes* times() const { return times_; }

 protected:
  /// Before it starts: where the times of its steps go.
  void measure(LaunchTimes* times) { times_ = times; }
  /// Before it starts: whether it puts its steps where they are captured, not run.
  void begin_on(QueueSet set) { queues_.set = set; }
  /// Before it starts: where what is put on queues is noted down, and how often the host looked at
  /// a device's memory. Both outlive this.
  void note_queued(QueueTimes* times, std::atomic<std::size_t>* looks) {
    queue_times_ = times;
    looks_ = looks;
  }
  /// Before it starts: makes it a part of what `strand` does. It begins and ends on its queue.
  void begin_on(const Strand& strand);
  /// Before it starts: has it captured there.
  void begin_on(const QueuePlace& place) { queues_ = place; }

  virtual void ended() = 0;
  /// An output, by position, that is final, past `mark` if that is not null; and whether nothing
  /// here uses it any more.
  virtual void finish_output(std::uint32_t, bool, const std::shared_ptr<const Mark>&) {}

  /// Whether any of the streams is on a device that works by itself; after `start`.
  bool has_queues() const { return has_queues_; }
  /// Null where the device has failed.
  std::shared_ptr<const Mark> mark(DeviceQueue& queue);

 private:
  friend class Strand;

  struct EventState {
    std::atomic<Strand*> waiting{nullptr};  // who waits, or `happened`
    std::shared_ptr<const Mark> mark;       // where a device recorded it; written before `happened`
  };

  void take_queues();
  /// Where everything on that device begins and ends.
  DeviceQueue& home_of(std::uint32_t stream);
  void fork();
  void wait_for_constants();
  void join();
  void record(EventId event, DeviceQueue* queue);
  /// Whether the strand may go on; if not, it will be carried on once it may.
  bool wait(EventId event, Strand& strand);
  /// The same for an event that has been recorded.
  bool pass(EventState& event, Strand& strand);
  void carry_on(Strand& strand);
  void strand_ended();
  bool one_has_ended();
  /// Whether all strands but one have ended.
  bool is_on_last_strand() const;

  DeviceState& device_;
  const Program& program_;
  const LinkedCode& code_;
  Frame& frame_;
  const void* const whole_;
  LaunchTimes* times_ = nullptr;
  QueueTimes* queue_times_ = nullptr;
  std::atomic<std::size_t>* looks_ = nullptr;
  std::vector<Strand> strands_;
  std::atomic<std::size_t> running_{0};
  std::atomic<bool> starting_{false};  // `start` counts as running
  std::vector<EventState> events_;
  std::vector<unsigned> queues_taken_;  // per device
  const bool has_engine_;
  bool has_queues_ = false;
  QueuePlace queues_;
  std::uint64_t first_arrow_ = 1;  // of the timeline, one per event
};

inline DeviceState& Strand::device() const { return owner_->device_of(stream_); }

inline QueuePlace Strand::place_inside() const {
  const auto own = static_cast<unsigned>(owner_->program_.streams.size());
  return {queue_, owner_->queues_.first + own, owner_->queues_.set};
}

}  // namespace anabranch::executor
