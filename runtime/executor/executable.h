// Executable: a compiled program as plain data. Streams of steps over slots of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/kernel/kernel.h"
#include "ir/literal.h"
#include "ir/source_location.h"
#include "ir/type.h"
#include "runtime/device/device.h"
#include "runtime/device/task.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

struct Executable;
class LaunchTimes;
class Replays;

/// Runs `body` again and again while `condition` holds. The buffers of its launch are: the initial
/// carries, the captures, the places (written), and room for a flag and both arenas (written).
///
/// Carry i lies in place i, where the initial one is copied first unless it lies there already.
/// A step reads carry i from place i and writes output i, where the body has a slot for it, to
/// place `written[i]`; then place p becomes what place `turn[p]` was. So a carry is updated in
/// place (written[i] = i), or in two places by turns, or handed on to another carry. In the end
/// carry i is in place i.
struct LoopTask {
  std::shared_ptr<const Executable> condition;  ///< of carries and captures, to one bool
  std::shared_ptr<const Executable> body;       ///< of carries and captures, to the next carries
  std::vector<std::uint32_t> written;           ///< one per carry
  std::vector<std::uint32_t> turn;              ///< one per place; the first are the carries' own
  NativeTask native;  ///< the whole loop, which then runs in place of the steps
  DeviceTask steer;   ///< see `steer_of`

  std::size_t carries() const { return written.size(); }
  std::size_t captures() const;
};

/// Runs one of several branches: the one that an i32 names, the last where there is none of that
/// number. The buffers of its launch are: that number, the operands, the results (written), and
/// room for any branch's arena (written).
struct BranchTask {
  std::vector<std::shared_ptr<const Executable>> branches;  ///< of the operands, to the results
  NativeTask native;                                        ///< as a loop's
  DeviceTask steer;                                         ///< see `steer_of`
};

using SlotId = std::uint32_t;
using EventId = std::uint32_t;
/// One of an executable's devices: 0 is its own, i the i-th of its `further` ones, from 1.
using DeviceIndex = std::uint32_t;

/// A place for one value's bytes.
struct Slot {
  enum class Kind : std::uint8_t { input, output, constant, temporary };
  Kind kind = Kind::temporary;
  std::uint32_t index = 0;  ///< which input, output or constant
  std::size_t offset = 0;   ///< of a temporary, in its device's arena
  Type type;
  std::string name;        ///< "%5", as in the fused graph's text
  DeviceIndex device = 0;  ///< where its memory is
};

/// Runs a task on slots; `buffers` is the order of the pointers that the task gets.
struct Launch {
  enum class Kind : std::uint8_t { kernel, library, loop, branch, copy };
  Kind kind = Kind::kernel;
  std::string name;   ///< its own, for dumps and timelines
  std::string title;  ///< what errors call it, where that is another: a custom call's is the user's
  std::variant<HostTask, DeviceTask, LoopTask, BranchTask> task;
  /// By its number in the program: the kernel that it runs, or that follows the dot that it is.
  std::optional<std::uint32_t> kernel;
  std::vector<SlotId> buffers;
  std::vector<SlotId> writes;  ///< those of `buffers` that it writes
  /// Pairs (read, written) that may share bytes, if the first has no later use: element i of the
  /// second is written only after every read of element i of the first.
  std::vector<std::pair<SlotId, SlotId>> in_place;
  /// Pairs (read, written) of one size of which the task writes a part of the second alone: before
  /// it runs, what the first holds is copied there, unless both lie in one place.
  std::vector<std::pair<SlotId, SlotId>> updates;
  /// Outputs, by position, that are final once it is done. Set by `schedule`; an output that no
  /// launch names is final when all streams are done.
  std::vector<std::uint32_t> finishes;
  /// Those of `finishes` that no later launch reads. Set by `schedule`.
  std::vector<std::uint32_t> lets_go;
  /// Whether it calls a function of the user's, which is for workers: a thread that waits for a
  /// result may be in the midst of tracing, or hold locks.
  bool calls_user = false;
  Cost cost;
  double predicted_ns = 0;   ///< on one core; on a GPU, with as much of it as it fills
  std::uint32_t number = 0;  ///< its place in the program, from 0; set by `schedule`
  SourceLocation location;

  /// The task of a launch that is neither a loop nor a branch.
  HostTask& host_task() { return std::get<HostTask>(task); }
  const HostTask& host_task() const { return std::get<HostTask>(task); }
  /// The one task of the host's that does all of it; null for a loop or a branch that goes step by
  /// step, and for what a device does by itself.
  const HostTask* one_task() const;
  /// The one task of a device's that does all of it; null where there is none.
  const DeviceTask* device_task() const;
  /// Whether it is a loop or a branch that runs as one task.
  bool is_native_flow() const;
};

/// Copies the bytes of one slot to another of the same size.
struct Copy {
  SlotId from = 0, to = 0;
};

/// The event happens once the steps before it on its stream are done.
struct Record {
  EventId event = 0;
};

/// The steps after it on its stream start once the event has happened.
struct Wait {
  EventId event = 0;
};

using Step = std::variant<Launch, Copy, Record, Wait>;

/// Steps that one device takes in their order.
struct Stream {
  /// Copies between devices have streams of their own, so that they overlap computation.
  enum class Kind : std::uint8_t { compute, copy };
  std::vector<Step> steps;
  DeviceIndex device = 0;  ///< on whose cores they run
  Kind kind = Kind::compute;

  std::size_t size() const { return steps.size(); }
  bool empty() const { return steps.empty(); }
  const Step& operator[](std::size_t position) const { return steps[position]; }
  auto begin() const { return steps.begin(); }
  auto end() const { return steps.end(); }
};

/// A device of an executable besides its own, with what its temporaries take there.
struct FurtherDevice {
  Device device;
  std::size_t arena_bytes = 0;
  std::size_t live_bytes = 0;
};

/// What the scheduler expects of a run.
struct Prediction {
  /// A launch, by number, and how long it takes on the cores that it gets.
  struct Timed {
    std::uint32_t launch = 0;
    double ns = 0;
  };
  /// The launches that the end waits for, each because of the one before it: its stream, something
  /// that it reads, or the cores were not free. Their numbers grow.
  std::vector<Timed> critical_path;
  double ns = 0;          ///< from the first launch's start to the last one's end
  bool measured = false;  ///< from earlier runs; otherwise from counted bytes and operations

  bool is_critical(const Step& step) const;
};

struct Executable {
  std::string name;
  Device device;
  std::vector<FurtherDevice> further;  ///< where the graph spans several devices
  std::vector<Type> inputs;
  std::vector<Slot> slots;
  std::vector<SlotId> outputs;  ///< an output may be an input's or a constant's slot
  std::vector<Buffer> constants;
  std::vector<Stream> streams;
  std::uint32_t event_count = 0;
  std::size_t arena_bytes = 0;  ///< of all temporaries on `device` together
  std::size_t live_bytes = 0;   ///< the lower bound: the most temporary bytes live at once
  /// Pairs (input, output) of one size: the output may lie where the input was, since nothing reads
  /// the input once the output is first written. `run` does so where nobody else holds the input.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> takeovers;
  std::string given_up;  ///< what a memory limit has cost: "3 streams fewer, ..."
  Prediction prediction;
  std::shared_ptr<LaunchTimes> times;  ///< for the first runs to fill; null where nobody asks
  std::shared_ptr<Replays> replays;    ///< what a device captured; null where it captures nothing

  const Device& device_at(DeviceIndex index) const {
    return index == 0 ? device : further[index - 1].device;
  }
};

/// A loop's flag comes first in its room, then its arenas, which begin here.
inline constexpr std::size_t loop_flag_bytes = 64;

inline std::size_t LoopTask::captures() const { return body->inputs.size() - carries(); }

/// The executables that `launch` runs: a loop's condition and body, or a branch's branches.
std::vector<std::shared_ptr<const Executable>> inner_executables(const Launch& launch);

/// For a loop or a branch that goes step by step on a device which could go on alone: sets a
/// condition from what lies in memory. Its buffers are the Condition, in place of a pointer, and
/// the loop's flag or the branch's number. Null where there is none.
const DeviceTask* steer_of(const Launch& launch);

/// The slot of input `index`.
SlotId input_slot(const Executable& executable, std::uint32_t index);

/// Where input `index` is to be.
inline const Device& input_device(const Executable& executable, std::uint32_t index) {
  if (executable.further.empty()) return executable.device;
  return executable.device_at(executable.slots[input_slot(executable, index)].device);
}

/// Text: the prediction, slots, then each stream's steps, those on the critical path with a star;
/// what a loop or a branch runs follows its step, indented.
std::string to_string(const Executable& executable);
/// Graphviz DOT, a colour per stream, dashed edges for events, the critical path in red.
std::string to_dot(const Executable& executable);

/// The colour of a stream in every picture, "#8dd3c7"; the ninth has that of the first again.
const char* stream_colour(std::size_t stream);

/// Throws InternalError unless every read of a slot is ordered after its write and no two unordered
/// steps touch the same bytes, one of them writing.
void verify(const Executable& executable);

}  // namespace anabranch
