// StreamRun: one run of a program's streams over memory that is there.
//
// Streams cost nothing here, so each is a strand of its own: a list of commands that one worker at
// a time walks down. A strand that has to wait is put aside and its worker does something else;
// what makes the event happen puts it back.
//
// A stream of a device that works by itself is a strand as well: it enqueues its steps on a
// stream of the device and never waits there. Others may continue once an event is recorded on it:
// on the same kind of device the streams wait for each other, and a strand of the host is put back
// once the device has come past it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "anabranch/timeline.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device_state.h"
#include "runtime/executor/device_times.h"
#include "runtime/executor/executable.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/inner_run.h"
#include "runtime/executor/launch_times.h"

namespace anabranch::executor {

using cpu::SharedTask;
using cpu::ThreadPool;
using cpu::Work;

class StreamRun;

/// The streams of a run on one device.
struct DeviceStreams {
  DeviceStream* main = nullptr;  ///< where all begins and ends; null: that of each device
  unsigned first = 0;            ///< of those that are its own
  StreamSet set = StreamSet::run;
};

/// One stream of one run.
class Strand final : public Work {
 public:
  Strand() : Work([](Work& work) { static_cast<Strand&>(work).advance(); }), shared_(*this) {}

  /// Walks on until the strand ends, waits, or leaves a step to others to finish.
  void advance();

  StreamRun& owner() const { return *owner_; }
  inline DeviceState& device() const;
  /// Where it enqueues its steps; null for a stream of the host's.
  DeviceStream* device_stream() const { return device_stream_; }
  /// The streams for what is a part of a step of it.
  inline DeviceStreams streams_inside() const;
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
  bool is_on_stream_executor(const Step& step) const;
  void enqueue(const Step& step, const DeviceTask& task);
  bool begin_task(const Step& step, const HostTask& task);
  void note_time(StepId id, const HostTask* task);
  bool is_device_timed() const;
  void report_enqueued(std::string_view name, timeline::Category category,
                       const timeline::Details& details, std::optional<StepId> step = {});

  // Between these two is the command's event on the timeline.
  void start_clock();
  void stop_clock(std::string_view name, timeline::Category category,
                  const timeline::Details& details);

  StreamRun* owner_ = nullptr;
  ThreadPool* pool_ = nullptr;  // of the stream's device, if the host's threads do its work
  DeviceStream* device_stream_ = nullptr;  // if not, where this enqueues it
  std::uint32_t stream_ = 0;
  std::size_t position_ = 0;
  bool begun_ = false;  // the command at `position_` is under way; this continues when it is done
  Strand* next_waiting_ = nullptr;
  std::vector<void*> buffers_;
  SharedTask shared_;
  std::unique_ptr<InnerRun> inner_;
  timeline::Clock::time_point command_begin_{}, step_begin_{};
  std::shared_ptr<const TimingEvent>
      device_begin_;  // of the command, where it is timed on its stream
  int row_ = -1;      // of the timeline
};

/// May be started again once it has ended.
class StreamRun {
 public:
  /// `whole`: what its strands are a part of, for a thread that waits for that. Null where this is
  /// itself a part of a loop or a branch.
  StreamRun(DeviceState& device, const Program& program, const LinkedCode& code, Frame& frame,
            const void* whole = nullptr);
  virtual ~StreamRun() = default;
  StreamRun(const StreamRun&) = delete;
  StreamRun& operator=(const StreamRun&) = delete;

  /// Begins every stream, the first one here: on a worker of its device. Whether all have ended; if
  /// not, the end of the last calls `ended`, and this may no longer be touched. A stream
  /// of a device that works by itself has ended once all its steps are on their stream.
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
  bool uses_stream_executor() const { return uses_stream_executor_; }
  /// Runs `work`, which may find that the device has failed; then so has everything here.
  template <class Work>
  void guard(Work work) {
    try {
      work();
    } catch (...) {
      frame_.fail_all(std::current_exception());
    }
  }
  /// The host had to read a device's memory to know what comes next.
  void note_read() {
    if (reads_) reads_->fetch_add(1, std::memory_order_relaxed);
  }
  /// Where this run's times go; null where it is not measured.
  LaunchTimes* times() const { return times_; }

 protected:
  /// Before it starts: where the times of its steps go.
  void measure(LaunchTimes* times) { times_ = times; }
  /// Before it starts: whether its steps are enqueued where they are captured, not run.
  void begin_on(StreamSet set) { device_streams_.set = set; }
  /// Before it starts: where what is enqueued is noted down, and how often the host read
  /// a device's memory. Both outlive this.
  void note_enqueued(DeviceTimes* times, std::atomic<std::size_t>* reads) {
    device_times_ = times;
    reads_ = reads;
  }
  /// Before it starts: makes it a part of what `strand` does. It begins and ends on its stream.
  void begin_on(const Strand& strand);
  /// Before it starts: has it captured there.
  void begin_on(const DeviceStreams& streams) { device_streams_ = streams; }

  virtual void ended() = 0;
  /// An output, by position, that is final, once `device_event` is complete if that is not null;
  /// and whether nothing here uses it any more.
  virtual void finish_output(std::uint32_t, bool, const std::shared_ptr<const DeviceEvent>&) {}

  /// Whether any of the streams is on a device that works by itself; after `start`.
  bool has_device_streams() const { return has_device_streams_; }
  /// Null where the device has failed.
  std::shared_ptr<const DeviceEvent> record_on(DeviceStream& stream);

 private:
  friend class Strand;

  struct EventState {
    std::atomic<Strand*> waiting{nullptr};        // the one that waits, or `happened`
    std::shared_ptr<const DeviceEvent> recorded;  // by a device; written before `happened`
  };

  void take_device_streams();
  /// Where everything on that device begins and ends.
  DeviceStream& main_of(std::uint32_t stream);
  template <class Visit>
  void for_each_stream_and_main(const Visit& visit);
  void fork();
  void wait_for_constants();
  void join();
  void record(EventId event, DeviceStream* stream);
  /// Whether the strand may continue; if not, it is resumed once it may.
  bool wait(EventId event, Strand& strand);
  /// The same for an event that has been recorded.
  bool pass(EventState& event, Strand& strand);
  void resume(Strand& strand);
  void strand_ended();
  bool one_has_ended();
  /// Whether all strands but one have ended.
  bool is_on_last_strand() const;
  /// Whether a worker that ends a strand of the host here has nothing left to do: after a part the
  /// loop continues on the same thread.
  bool ends_job() const { return whole_ != nullptr; }

  DeviceState& device_;
  const Program& program_;
  const LinkedCode& code_;
  Frame& frame_;
  const void* const whole_;
  LaunchTimes* times_ = nullptr;
  DeviceTimes* device_times_ = nullptr;
  std::atomic<std::size_t>* reads_ = nullptr;
  std::vector<Strand> strands_;
  std::atomic<std::size_t> running_{0};
  std::atomic<bool> starting_{false};  // `start` counts as running
  std::vector<EventState> events_;
  std::vector<unsigned> streams_taken_;  // per device
  const bool uses_stream_executor_;
  bool has_device_streams_ = false;
  DeviceStreams device_streams_;
  std::uint64_t first_arrow_ = 1;  // of the timeline, one per event
};

inline DeviceState& Strand::device() const { return owner_->device_of(stream_); }

inline DeviceStreams Strand::streams_inside() const {
  const auto own = static_cast<unsigned>(owner_->program_.streams.size());
  return {device_stream_, owner_->device_streams_.first + own, owner_->device_streams_.set};
}

}  // namespace anabranch::executor
