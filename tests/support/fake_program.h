// Programs of plain C++ tasks over i64 arrays, for tests of scheduling and running without a
// compiler.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "codegen/schedule/schedule.h"
#include "ir/program/program.h"
#include "runtime/executor/executable.h"
#include "runtime/memory/copy.h"

namespace anabranch::testing {

/// Element i of a fake step's output, from a number of its own and element i of its inputs.
inline std::int64_t mix(std::int64_t seed, std::int64_t value) {
  return static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(seed) * 31 + static_cast<std::uint64_t>(value)) *
      0x9e3779b97f4a7c15u);
}

struct FakeTask {
  std::int64_t seed = 0;
  std::size_t inputs = 0;
  bool throws = false;
};

inline void run_fake(const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
  const auto& task = *static_cast<const FakeTask*>(context);
  if (task.throws) throw Error("fake task failed");
  auto* output = static_cast<std::int64_t*>(buffers[task.inputs]);
  for (std::int64_t i = begin; i < end; ++i) {
    std::int64_t value = task.seed;
    for (std::size_t k = 0; k < task.inputs; ++k) {
      value = mix(value, static_cast<const std::int64_t*>(buffers[k])[i]);
    }
    output[i] = value;
  }
}

/// `program` on the device of `options`, scheduled.
inline Program scheduled(Program program, const Options& options) {
  program.devices[0].device = options.device;
  return schedule(std::move(program), options).program;
}

/// Builds a `Program` slot by slot, and beside it the tasks that its steps run.
class FakeProgram {
 public:
  explicit FakeProgram(std::int64_t size) : type_{Dtype::i64, Shape{size}} {
    program_.name = "fake";
  }

  SlotId input() {
    program_.inputs.push_back(type_);
    return add(Slot::Kind::input, static_cast<std::uint32_t>(program_.inputs.size() - 1));
  }
  SlotId temporary() { return add(Slot::Kind::temporary, 0); }
  SlotId output() {
    const auto index = static_cast<std::uint32_t>(program_.outputs.size());
    program_.outputs.push_back(static_cast<SlotId>(program_.slots.size()));
    return add(Slot::Kind::output, index);
  }
  SlotId constant(const std::vector<std::int64_t>& values) {
    program_.constants.push_back(Literal::of(std::span(values), type_.shape));
    return add(Slot::Kind::constant, static_cast<std::uint32_t>(program_.constants.size() - 1));
  }

  /// `to` = mix of the step's number and `from`; by default too long to run on the caller's thread.
  /// It is never cut.
  Step& step(const std::vector<SlotId>& from, SlotId to, double predicted_ns = 1e5) {
    Step step;
    step.work = KernelStep();
    step.name = "f" + std::to_string(program_.steps.size());
    step.buffers = from;
    step.buffers.push_back(to);
    step.writes = {to};
    for (SlotId id : from) step.in_place.emplace_back(id, to);
    step.predicted_ns = predicted_ns;
    last_ = std::make_shared<FakeTask>();
    last_->seed = static_cast<std::int64_t>(program_.steps.size()) + 1;
    last_->inputs = from.size();
    tasks_.push_back({run_fake, last_, type_.size(), type_.size()});
    return program_.steps.emplace_back(std::move(step));
  }
  /// What runs a step.
  HostTask& task(StepId step) { return tasks_[step]; }
  HostTask& last_task() { return tasks_.back(); }
  /// Lets the step added last be cut.
  void cut_last(std::int64_t grain) {
    last_task().grain = grain;
    program_.steps.back().parallelism = std::max<std::int64_t>(1, last_task().extent / grain);
  }
  /// Makes the step added last throw.
  void fail_last() { last_->throws = true; }

  Program& program() { return program_; }

  /// With the tasks as they are now.
  std::shared_ptr<const Executable> executable(Program made) const {
    return std::make_shared<const Executable>(Executable{std::move(made), code()});
  }
  std::shared_ptr<const Executable> executable(const Options& options) const {
    return executable(scheduled(program_, options));
  }
  /// Everything in order on one stream, no two temporaries sharing bytes.
  std::shared_ptr<const Executable> in_order() const {
    Program program = program_;
    ProgramDevice& home = program.devices[0];
    for (Slot& slot : program.slots) {
      if (slot.kind != Slot::Kind::temporary) continue;
      slot.offset = home.arena_bytes;
      home.arena_bytes += (type_.bytes() + 63) / 64 * 64;
    }
    home.live_bytes = home.arena_bytes;
    Stream& stream = program.streams.emplace_back();
    for (StepId id = 0; id < program.steps.size(); ++id) stream.commands.push_back(Launch{id});
    return executable(std::move(program));
  }

  /// What each output holds, computed by a plain loop.
  std::vector<std::vector<std::int64_t>> expected(
      std::span<const std::vector<std::int64_t>> inputs) const {
    const auto size = static_cast<std::size_t>(type_.size());
    std::vector<std::vector<std::int64_t>> values(program_.slots.size(),
                                                  std::vector<std::int64_t>(size));
    for (std::size_t id = 0; id < program_.slots.size(); ++id) {
      const Slot& slot = program_.slots[id];
      if (slot.kind == Slot::Kind::input) values[id] = inputs[slot.index];
    }
    for (StepId step = 0; step < program_.steps.size(); ++step) {
      std::vector<void*> pointers;
      for (SlotId id : program_.steps[step].buffers) pointers.push_back(values[id].data());
      const HostTask& task = tasks_[step];
      task.function(task.context.get(), pointers.data(), 0, task.extent);
    }
    std::vector<std::vector<std::int64_t>> outputs;
    for (SlotId id : program_.outputs) outputs.push_back(values[id]);
    return outputs;
  }

 private:
  SlotId add(Slot::Kind kind, std::uint32_t index) {
    const auto id = static_cast<SlotId>(program_.slots.size());
    program_.slots.push_back({kind, index, Slot::unplaced, type_, "%" + std::to_string(id)});
    return id;
  }

  std::shared_ptr<const LinkedCode> code() const {
    auto code = std::make_shared<LinkedCode>();
    for (const HostTask& task : tasks_) code->steps.emplace_back().task = task;
    for (const Literal& constant : program_.constants) {
      code->constants.push_back(copy_to_device(program_.device(), constant.bytes()));
    }
    return code;
  }

  Type type_;
  Program program_;
  std::vector<HostTask> tasks_;     // of each step
  std::shared_ptr<FakeTask> last_;  // what the last of them is by itself
};

/// A random DAG: each step reads one to three earlier values; what nobody reads is an output. Every
/// other one says that it updates what it reads first.
inline FakeProgram random_program(std::mt19937& random, int steps, std::int64_t size) {
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<std::vector<int>> reads(static_cast<std::size_t>(steps));
  std::vector<bool> is_read(static_cast<std::size_t>(steps));
  // Values -1 and -2 are the inputs.
  for (int i = 0; i < steps; ++i) {
    for (std::size_t k = 0, count = 1 + below(3); k < count; ++k) {
      const int from = static_cast<int>(below(static_cast<std::size_t>(i) + 2)) - 2;
      reads[static_cast<std::size_t>(i)].push_back(from);
      if (from >= 0) is_read[static_cast<std::size_t>(from)] = true;
    }
  }
  FakeProgram program(size);
  const SlotId inputs[2] = {program.input(), program.input()};
  std::vector<SlotId> slots;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    std::vector<SlotId> from;
    for (int read : reads[i]) {
      from.push_back(read < 0 ? inputs[-1 - read] : slots[static_cast<std::size_t>(read)]);
    }
    slots.push_back(is_read[i] ? program.temporary() : program.output());
    Step& step = program.step(from, slots.back(), 5e3 + static_cast<double>(below(50000)));
    if (i % 2 == 0) step.in_place = step.in_place_updates = {step.in_place.front()};
  }
  return program;
}

inline Buffer buffer_of(const Device& device, const std::vector<std::int64_t>& values) {
  return copy_to_device(device, std::as_bytes(std::span(values)));
}

inline std::vector<std::int64_t> values_of(const Buffer& buffer) {
  buffer.ready().wait();
  const auto* data = static_cast<const std::int64_t*>(buffer.data());
  return {data, data + buffer.bytes() / sizeof(std::int64_t)};
}

inline std::vector<std::int64_t> counting(std::int64_t size, std::int64_t first = 0) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size));
  for (std::int64_t& value : values) value = first++;
  return values;
}

}  // namespace anabranch::testing
