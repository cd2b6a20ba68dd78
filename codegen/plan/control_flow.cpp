#include "codegen/plan/control_flow.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/backends.h"
#include "codegen/schedule/schedule.h"
#include "ir/program/step_order.h"

namespace anabranch {
namespace {

// Of a loop whose number of steps is not known, for the scheduler.
constexpr double assumed_steps = 100;

struct Estimate {
  double ns = 0;
  Cost cost;
};

// On a CPU what is between steps does not count beside them.
Estimate estimate(const Program& program, const DeviceModel& device) {
  Estimate sum;
  for (const Step& step : program.steps) {
    sum.ns += step.predicted_ns + (device.works_by_itself ? device.step_ns : 0);
    sum.cost += step.cost;
  }
  return sum;
}

void schedule_region(Program& region, Options options, bool is_whole) {
  const bool updates = std::any_of(region.steps.begin(), region.steps.end(),
                                   [](const Step& step) { return !step.in_place_updates.empty(); });
  // Between streams nothing says that what reads an array comes before what updates it, so that
  // the whole array would be copied.
  if (is_whole || updates) options.streams = 1;
  region = schedule(std::move(region), options).program;
  for (Step& step : region.steps) step.finishes.clear();
}

/// Where a body's outputs go: over the carry that they come from, over another one that nothing
/// needs by then, or to a further place.
class Places {
 public:
  explicit Places(const Program& body)
      : body_(body),
        carries_(static_cast<std::uint32_t>(body.outputs.size())),
        order_(body),
        uses_(body, order_) {
    for (std::uint32_t i = 0; i < body.inputs.size(); ++i) inputs_.push_back(input_slot(body, i));
  }

  /// Sets `written` and `rotation` of its loop; returns the types of the further places.
  std::vector<Type> assign(LoopStep& loop) {
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
    loop.written.clear();
    for (const auto& place : from) loop.written.push_back(*place);
    loop.rotation = loop.written;
    // What a further place hands on goes to a carry whose place it then takes.
    for (const Type& type : further) {
      std::uint32_t left = 0;
      while (taken[left] || body_.inputs[left].bytes() != type.bytes()) ++left;
      taken[left] = 1;
      loop.rotation.push_back(left);
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
           may_alias(body_, order_, uses_, inputs_[carry], uses_.in_output(output));
  }

  const Program& body_;
  const std::uint32_t carries_;
  StepOrder order_;
  SlotUses uses_;
  std::vector<SlotId> inputs_;
};

// How many arrays the program that it runs gives.
std::size_t result_count(const Step& flow) { return inner_programs(flow).back().outputs.size(); }

void add_written(Program& program, Step& step, const Type& type, std::string name) {
  const auto id = static_cast<SlotId>(program.slots.size());
  const DeviceIndex device = device_of(program, step);
  program.slots.push_back(
      {Slot::Kind::temporary, 0, Slot::unplaced, type, std::move(name), device});
  step.buffers.push_back(id);
  step.writes.push_back(id);
}

Type bytes_of(std::size_t bytes) { return {u8, Shape{static_cast<std::int64_t>(bytes)}}; }

// For the arenas, of which there is one at a time. A device that works by itself swaps carries, at
// the end, through the same workspace.
std::size_t loop_workspace(const LoopStep& loop, const DeviceModel& device) {
  std::size_t bytes = std::max(loop.condition().arena_bytes(), loop.body().arena_bytes());
  if (!device.works_by_itself) return bytes;
  for (std::uint32_t i = 0; i < loop.carries(); ++i) {
    if (loop.rotation[i] != i) bytes = std::max(bytes, loop.body().inputs[i].bytes());
  }
  return bytes;
}

// Who may be waiting for it must not have to run it: it may take any time.
double of_any_length(double step_ns) { return std::max(assumed_steps * step_ns, 10'000.0); }

void finish_loop(Program& program, Step& step, LoopStep& loop, bool is_whole,
                 const DeviceModel& device) {
  const std::string name = program.slots[step.writes[0]].name;
  const std::vector<Type> further = Places(loop.body()).assign(loop);
  for (std::size_t i = 0; i < further.size(); ++i) {
    add_written(program, step, further[i], name + ".next" + std::to_string(i));
  }
  add_written(program, step, bytes_of(loop_flag_bytes + loop_workspace(loop, device)),
              name + ".workspace");
  // A result may be where its initial value did, unless that is a capture too.
  const std::size_t operands = loop.carries() + loop.captures();
  const auto first = step.buffers.begin(), last = first + static_cast<long>(operands);
  for (std::size_t i = 0; i < loop.carries(); ++i) {
    if (std::count(first, last, step.buffers[i]) > 1) continue;
    step.in_place.emplace_back(step.buffers[i], step.buffers[operands + i]);
  }
  const Estimate turn = estimate(loop.body(), device), test = estimate(loop.condition(), device);
  step.cost = turn.cost;
  step.cost += test.cost;
  step.predicted_ns = of_any_length(turn.ns + test.ns + (is_whole ? 0 : device.look_ns));
}

void finish_branch(Program& program, Step& step, const BranchStep& branch, bool is_whole,
                   const DeviceModel& device) {
  std::size_t arena = 0;
  for (const Program& region : branch.branches) {
    const Estimate whole = estimate(region, device);
    arena = std::max(arena, region.arena_bytes());
    if (whole.ns < step.predicted_ns) continue;
    step.predicted_ns = whole.ns;
    step.cost = whole.cost;
  }
  if (!is_whole) step.predicted_ns += device.look_ns;
  add_written(program, step, bytes_of(arena), program.slots[step.writes[0]].name + ".workspace");
}

// Of one that goes step by step on a device that works by itself: that of its largest step.
std::int64_t parallelism(const Step& flow) {
  std::int64_t most = 0;
  for (const Program& region : inner_programs(flow)) {
    for (const Step& step : region.steps) most = std::max(most, step.parallelism);
  }
  return most;
}

// What an earlier pass has given a loop or a branch beyond its results.
void unfinish(Step& flow, std::vector<char>& is_dropped) {
  const std::size_t results = result_count(flow);
  const std::size_t further = flow.writes.size() - std::min(flow.writes.size(), results);
  for (const SlotId id : std::span(flow.writes).last(further)) is_dropped[id] = true;
  flow.buffers.resize(flow.buffers.size() - further);
  flow.writes.resize(flow.writes.size() - further);
  flow.in_place.clear();
  flow.predicted_ns = 0;
  if (auto* loop = std::get_if<LoopStep>(&flow.work)) {
    loop->written.clear();
    loop->rotation.clear();
  }
}

// The slots that are left have other numbers.
void drop(Program& program, const std::vector<char>& is_dropped) {
  std::vector<SlotId> number(program.slots.size());
  std::vector<Slot> kept;
  for (SlotId id = 0; id < number.size(); ++id) {
    number[id] = static_cast<SlotId>(kept.size());
    if (!is_dropped[id]) kept.push_back(std::move(program.slots[id]));
  }
  program.slots = std::move(kept);
  const auto renumber = [&](std::vector<SlotId>& ids) {
    for (SlotId& id : ids) id = number[id];
  };
  renumber(program.outputs);
  for (Step& step : program.steps) {
    renumber(step.buffers);
    renumber(step.writes);
    for (auto* pairs : {&step.in_place, &step.in_place_updates}) {
      for (auto& [read, written] : *pairs) {
        read = number[read];
        written = number[written];
      }
    }
  }
}

// As before the memory was planned: what is added to the program has no place yet.
void forget_places(Program& program) {
  for (Slot& slot : program.slots) {
    slot.offset = Slot::unplaced;
    slot.output.reset();
  }
  for (ProgramDevice& device : program.devices) device.arena_bytes = device.live_bytes = 0;
  program.donations.clear();
}

}  // namespace

void unfinish_flows(Program& program) {
  std::vector<char> is_dropped(program.slots.size());
  for (Step& step : program.steps) {
    if (!inner_programs(step).empty()) unfinish(step, is_dropped);
  }
  if (std::ranges::find(is_dropped, true) == is_dropped.end()) return;
  drop(program, is_dropped);
  forget_places(program);
}

void finish_flow(Program& program, Step& flow, std::span<const Kernel> kernels,
                 const Options& options) {
  const Backend& backend = backend_of(options.device);
  const DeviceModel device = backend.model(options.device, options);
  bool is_whole = backend.is_small(inner_programs(flow), kernels);
  for (Program& region : inner_programs(flow)) schedule_region(region, options, is_whole);
  auto* loop = std::get_if<LoopStep>(&flow.work);
  if (loop) {
    finish_loop(program, flow, *loop, is_whole, device);
  } else {
    finish_branch(program, flow, std::get<BranchStep>(flow.work), is_whole, device);
  }
  is_whole = is_whole && backend.can_be_whole(flow, kernels);
  (loop ? loop->is_whole : std::get<BranchStep>(flow.work).is_whole) = is_whole;
  flow.parallelism = is_whole || !device.works_by_itself ? 1 : parallelism(flow);
}

}  // namespace anabranch
