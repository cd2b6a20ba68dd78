#include "codegen/plan/control_flow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "codegen/cuda/gpu_costs.h"
#include "ir/error.h"
#include "runtime/executor/step_order.h"

namespace anabranch {
namespace {

// Of a loop whose number of steps is not known, for the scheduler.
constexpr double assumed_steps = 100;

struct Estimate {
  double ns = 0;
  Cost cost;
};

// On a CPU the steps between launches do not count beside them.
Estimate estimate(const Program& program, const Device& device) {
  const double step_ns = device.kind() == DeviceKind::cuda ? cuda::launch_ns : 0;
  Estimate sum;
  for (const Launch& launch : program.launches) {
    sum.ns += step_ns + launch.predicted_ns;
    sum.cost += launch.cost;
  }
  return sum;
}

std::shared_ptr<const Executable> scheduled(Program program, Options options, bool is_native) {
  const bool updates = std::any_of(program.launches.begin(), program.launches.end(),
                                   [](const Launch& launch) { return !launch.updates.empty(); });
  // Between streams nothing says that what reads an array comes before what updates it, so that
  // the whole array would be copied.
  if (is_native || updates) options.streams = 1;
  Executable executable = schedule(std::move(program), options);
  executable.times = nullptr;
  executable.replays = nullptr;
  for (auto& stream : executable.streams) {
    for (Step& step : stream.steps) {
      if (auto* launch = std::get_if<Launch>(&step)) launch->finishes.clear();
    }
  }
  return std::make_shared<const Executable>(std::move(executable));
}

/// Where a body's outputs go: over the carry that they come from, over another one that nobody
/// needs by then, or to a further place.
class Places {
 public:
  explicit Places(const Executable& body)
      : body_(body),
        carries_(static_cast<std::uint32_t>(body.outputs.size())),
        order_(body),
        uses_(body, order_) {
    for (std::uint32_t i = 0; i < body.inputs.size(); ++i) inputs_.push_back(input_slot(body, i));
  }

  /// Sets `written` and `turn`; returns the types of the further places.
  std::vector<Type> assign(LoopTask& task) {
    std::vector<std::optional<std::uint32_t>> from(carries_);
    std::vector<char> taken(carries_);
    for (std::uint32_t i = 0; i < carries_; ++i) {
      const Slot& slot = body_.slots[body_.outputs[i]];
      if (slot.kind == Slot::Kind::input) take(slot.index, i, from, taken);
    }
    for (std::uint32_t i = 0; i < carries_; ++i) {
      if (!from[i] && !taken[i] && may_take(i, i)) take(i, i, from, taken);
    }
    std::vector<Type> further;
    for (std::uint32_t i = 0; i < carries_; ++i) {
      for (std::uint32_t other = 0; other < carries_ && !from[i]; ++other) {
        if (!taken[other] && may_take(other, i)) take(other, i, from, taken);
      }
      if (from[i]) continue;
      from[i] = carries_ + static_cast<std::uint32_t>(further.size());
      further.push_back(body_.inputs[i]);
    }
    task.written.clear();
    for (const auto& place : from) task.written.push_back(*place);
    task.turn = task.written;
    // What a further place hands on goes to a carry whose place it then takes in turn.
    for (const Type& type : further) {
      std::uint32_t left = 0;
      while (taken[left] || body_.inputs[left].bytes() != type.bytes()) ++left;
      taken[left] = 1;
      task.turn.push_back(left);
    }
    return further;
  }

 private:
  static void take(std::uint32_t place, std::uint32_t output,
                   std::vector<std::optional<std::uint32_t>>& from, std::vector<char>& taken) {
    from[output] = place;
    taken[place] = 1;
  }

  bool may_take(std::uint32_t carry, std::uint32_t output) const {
    return body_.inputs[carry].bytes() == body_.inputs[output].bytes() &&
           may_take_over(body_, order_, uses_, inputs_[carry], body_.outputs[output]);
  }

  const Executable& body_;
  const std::uint32_t carries_;
  StepOrder order_;
  SlotUses uses_;
  std::vector<SlotId> inputs_;
};

void add_written(Launch& launch, std::vector<Slot>& slots, const Type& type, std::string name) {
  const auto id = static_cast<SlotId>(slots.size());
  slots.push_back({Slot::Kind::temporary, 0, 0, type, std::move(name)});
  launch.buffers.push_back(id);
  launch.writes.push_back(id);
}

Type bytes_of(std::size_t bytes) { return {u8, Shape{static_cast<std::int64_t>(bytes)}}; }

// For the arenas, of which there is one at a time. A device that works by itself swaps carries, at
// the end, through the same room.
std::size_t loop_room(const LoopTask& task) {
  std::size_t room = std::max(task.condition->arena_bytes, task.body->arena_bytes);
  if (task.body->device.kind() != DeviceKind::cuda) return room;
  for (std::uint32_t i = 0; i < task.carries(); ++i) {
    if (task.turn[i] != i) room = std::max(room, task.body->inputs[i].bytes());
  }
  return room;
}

// Where the host takes the next step, it waits for what says which.
double choice_ns(const Device& device) {
  return device.kind() == DeviceKind::cuda ? cuda::round_trip_ns : 0;
}

// Who may be waiting for it must not have to run it: it may take any time.
double of_any_length(double step_ns) { return std::max(assumed_steps * step_ns, 10'000.0); }

}  // namespace

const Kernel* kernel_of(std::span<const Kernel> kernels, const Launch& launch) {
  if (launch.kind != Launch::Kind::kernel || !launch.kernel) return nullptr;
  return &kernels[*launch.kernel];
}

void finish_loop(Launch& launch, Program condition, Program body, std::vector<Slot>& slots,
                 const Options& options, NativeFlows& native) {
  const Estimate step = estimate(body, options.device), test = estimate(condition, options.device);
  const bool is_native = native.is_small(condition) && native.is_small(body);
  LoopTask task;
  task.condition = scheduled(std::move(condition), options, is_native);
  task.body = scheduled(std::move(body), options, is_native);
  const std::string name = slots[launch.writes[0]].name;
  const std::vector<Type> further = Places(*task.body).assign(task);
  for (std::size_t i = 0; i < further.size(); ++i) {
    add_written(launch, slots, further[i], name + ".next" + std::to_string(i));
  }
  add_written(launch, slots, bytes_of(loop_flag_bytes + loop_room(task)), name + ".room");
  // A result may lie where its initial value did, unless that is a capture too.
  const std::size_t operands = task.carries() + task.captures();
  const auto first = launch.buffers.begin(), last = first + static_cast<long>(operands);
  for (std::size_t i = 0; i < task.carries(); ++i) {
    if (std::count(first, last, launch.buffers[i]) > 1) continue;
    launch.in_place.emplace_back(launch.buffers[i], launch.buffers[operands + i]);
  }
  launch.cost = step.cost;
  launch.cost += test.cost;
  launch.predicted_ns =
      of_any_length(step.ns + test.ns + (is_native ? 0 : choice_ns(options.device)));
  launch.task = std::move(task);
  auto& made = std::get<LoopTask>(launch.task);
  if (is_native) made.native = native.task_of(launch);
  if (!launch.is_native_flow()) made.steer = native.steer_of_loop();
}

void finish_branch(Launch& launch, std::vector<Program> branches, std::vector<Slot>& slots,
                   const Options& options, NativeFlows& native) {
  const bool is_native = std::all_of(branches.begin(), branches.end(), [&](const Program& branch) {
    return native.is_small(branch);
  });
  BranchTask task;
  std::size_t arena = 0;
  for (Program& branch : branches) {
    const Estimate whole = estimate(branch, options.device);
    if (whole.ns >= launch.predicted_ns) {
      launch.predicted_ns = whole.ns;
      launch.cost = whole.cost;
    }
    task.branches.push_back(scheduled(std::move(branch), options, is_native));
    arena = std::max(arena, task.branches.back()->arena_bytes);
  }
  if (!is_native) launch.predicted_ns += choice_ns(options.device);
  add_written(launch, slots, bytes_of(arena), slots[launch.writes[0]].name + ".room");
  launch.task = std::move(task);
  auto& made = std::get<BranchTask>(launch.task);
  if (is_native) made.native = native.task_of(launch);
  if (!launch.is_native_flow()) made.steer = native.steer_of_branch(made.branches.size());
}

}  // namespace anabranch
