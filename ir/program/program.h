// Program: what is launched, in which order and on which streams, on which memory.
//
// `plan` makes the steps, `schedule` lays them on streams and gives temporaries their places,
// `link` makes code for them. A program is plain data at every point.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "anabranch/device.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"
#include "ir/kernel/kernel.h"
#include "ir/literal.h"
#include "ir/program/steps.h"

namespace anabranch {

using SlotId = std::uint32_t;
using StepId = std::uint32_t;
using EventId = std::uint32_t;
/// One of a program's devices.
using DeviceIndex = std::uint32_t;

/// A place for one value's bytes.
struct Slot {
  enum class Kind : std::uint8_t { input, output, constant, temporary };
  static constexpr std::size_t unplaced = SIZE_MAX;  ///< before the memory is planned

  Kind kind = Kind::temporary;
  std::uint32_t index = 0;        ///< which input, output or constant
  std::size_t offset = unplaced;  ///< of a temporary, in its device's arena
  Type type;
  std::string name;        ///< "%5", as in the fused graph's text; no other slot's
  DeviceIndex device = 0;  ///< where its memory is
  /// Of a temporary that is not in the arena, but where this output will be.
  std::optional<std::uint32_t> output = {};
};
template <>
inline constexpr std::array<std::string_view, 4> words<Slot::Kind> = {"input", "output", "constant",
                                                                      "temporary"};

/// One thing that a device is asked to do, and the slots that it touches: all that scheduling,
/// memory planning and running ask of it.
struct Step {
  std::variant<KernelStep, DotStep, PackStep, ConvolutionStep, PackFiltersStep, CopyStep,
               TransferStep, CallStep, LoopStep, BranchStep>
      work;
  std::string name;   ///< no other step's of the program; for dumps and timelines
  std::string title;  ///< what errors call it, where that is another: a custom call's is the user's
  std::vector<SlotId> buffers;  ///< in the order in which its task gets their pointers
  std::vector<SlotId> writes;   ///< those of `buffers` that it writes
  /// Pairs (read, written) that may share bytes, if the first has no later use: element i of the
  /// second is written only after every read of element i of the first.
  std::vector<std::pair<SlotId, SlotId>> in_place;
  /// Pairs (read, written) of one size of which the step writes a part of the second alone: before
  /// it runs, what the first holds is copied there, unless both are in one place.
  std::vector<std::pair<SlotId, SlotId>> in_place_updates;
  /// Outputs, by position, that are final once it is done. Set by `schedule`; an output that no
  /// step names is final when all streams are done.
  std::vector<std::uint32_t> finishes;
  /// Those of `finishes` that no later step reads. Set by `schedule`.
  std::vector<std::uint32_t> lets_go;
  Cost cost;
  double predicted_ns = 0;       ///< on one core; on a GPU, with as much of it as it fills
  std::int64_t parallelism = 1;  ///< how many cores, or threads of a GPU, it can keep busy
  SourceLocation location;
};

/// A step's turn on its stream.
struct Launch {
  StepId step = 0;
};

/// The event happens once what comes before on the stream is done.
struct Record {
  EventId event = 0;
};

/// What comes after on the stream starts once the event has happened.
struct Wait {
  EventId event = 0;
};

using Command = std::variant<Launch, Record, Wait>;

/// Commands that one device takes in their order.
struct Stream {
  /// Copies between devices have streams of their own, so that they overlap computation.
  enum class Kind : std::uint8_t { compute, copy };
  std::vector<Command> commands;
  DeviceIndex device = 0;  ///< on whose cores they run
  Kind kind = Kind::compute;

  std::size_t size() const { return commands.size(); }
  bool empty() const { return commands.empty(); }
  const Command& operator[](std::size_t position) const { return commands[position]; }
  auto begin() const { return commands.begin(); }
  auto end() const { return commands.end(); }
};
template <>
inline constexpr std::array<std::string_view, 2> words<Stream::Kind> = {"compute", "copy"};

/// What the scheduler expects of a run.
struct Prediction {
  /// A step, and how long it takes on the cores that it gets.
  struct Timed {
    StepId step = 0;
    double ns = 0;
  };
  /// The steps that the end waits for, each because of the one before it: its stream, something
  /// that it reads, or the cores were not free. Their numbers grow.
  std::vector<Timed> critical_path;
  double ns = 0;          ///< from the first step's start to the last one's end
  bool measured = false;  ///< from earlier runs; otherwise from counted bytes and operations

  bool is_critical(StepId step) const;
};

/// A device of a program, and what the temporaries take there.
struct ProgramDevice {
  Device device;
  std::size_t arena_bytes = 0;
  std::size_t live_bytes = 0;  ///< the lower bound: the most temporary bytes live at once
};

struct Program {
  std::string name;
  std::vector<ProgramDevice> devices{1};  ///< its own comes first
  std::vector<Type> inputs;
  std::vector<Slot> slots;
  std::vector<SlotId> outputs;  ///< an output may be an input's or a constant's slot
  std::vector<Literal> constants;
  std::vector<Kernel> kernels;  ///< those of the programs inside too, which have none themselves
  std::vector<Step> steps;      ///< in an order in which one stream can run them

  // Set by `schedule`.
  std::vector<Stream> streams;
  std::uint32_t event_count = 0;
  /// Pairs (input, output) of one size: the output may be where the input was, since nothing reads
  /// the input once the output is first written. `run` does so where no other handle holds the
  /// input.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> donations;
  std::string degradation;  ///< what a memory limit has cost: "3 streams fewer, ..."
  Prediction prediction;

  const Device& device() const { return devices[0].device; }
  /// Of all devices.
  std::size_t arena_bytes() const {
    std::size_t bytes = 0;
    for (const ProgramDevice& each : devices) bytes += each.arena_bytes;
    return bytes;
  }
};

inline const Program& LoopStep::condition() const { return regions[0]; }
inline const Program& LoopStep::body() const { return regions[1]; }
inline std::size_t LoopStep::captures() const { return body().inputs.size() - carries(); }

/// The programs that a step runs: a loop's condition and body, or a branch's branches.
std::span<const Program> inner_programs(const Step& step);
std::span<Program> inner_programs(Step& step);

/// Whether it is a loop or a branch that runs as one task.
bool is_whole_flow(const Step& step);
/// The kernel that it runs, or that follows the dot that it is.
std::optional<std::uint32_t> kernel_of(const Step& step);
/// What a dot's or a convolution's step runs on its result; null where there is nothing.
const DotStep::Epilogue* epilogue_of(const Step& step);
/// Whether it calls a function of the user's, which is for workers: a thread that waits for a
/// result may be in the midst of tracing, or hold locks.
inline bool calls_user(const Step& step) {
  const auto* call = std::get_if<CallStep>(&step.work);
  return call && call->op == Op::custom_call;
}
/// "kernel", "library", "loop", "branch" or "copy": a copy between devices.
const char* kind_name(const Step& step);

/// The device that a step runs on: where what it writes is.
inline DeviceIndex device_of(const Program& program, const Step& step) {
  return program.slots[step.writes[0]].device;
}

/// The step of a command; null for an event's.
inline const Step* step_of(const Program& program, const Command& command) {
  const auto* launch = std::get_if<Launch>(&command);
  return launch ? &program.steps[launch->step] : nullptr;
}

/// The slot of input `index`. Throws InternalError where there is none.
SlotId input_slot(const Program& program, std::uint32_t index);

/// Where input `index` is to be.
inline const Device& input_device(const Program& program, std::uint32_t index) {
  if (program.devices.size() == 1) return program.device();
  return program.devices[program.slots[input_slot(program, index)].device].device;
}

/// How much of a program its text shows; all of it is what `parse_program` (ir/text/parse.h) reads
/// back.
struct ProgramText {
  bool kernels = true;
  bool comments = true;  ///< in kernels
  bool values = true;    ///< what constants hold
  bool exact = true;     ///< otherwise times are rounded, and a long critical path is shortened

  static constexpr ProgramText outline() { return {false, false, false, false}; }
};

/// Text of a program: its kernels, slots, constants, steps, each with what it runs inside, then
/// streams.
std::string to_string(const Program& program, ProgramText how = {});
/// Graphviz DOT, a colour per stream, dashed edges for events, the critical path in red.
std::string to_dot(const Program& program);

/// The colour of a stream in every picture, "#8dd3c7"; the ninth has that of the first again.
const char* stream_colour(std::size_t stream);

/// Throws InternalError unless each step is on one stream, every read of a slot is ordered after
/// its write, no two unordered steps touch the same bytes, one of them writing, and kernels get the
/// buffers that they take. A program that is not scheduled is looked at as one stream; where no
/// temporary has its place yet, memory is left out.
void verify(const Program& program);

}  // namespace anabranch
