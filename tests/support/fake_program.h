// Programs of plain C++ tasks over i64 arrays, for tests of scheduling and running without a
// compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "runtime/executor/executable.h"
#include "runtime/memory/copy.h"

namespace anabranch::testing {

/// Element i of a fake launch's output, from a number of its own and element i of its inputs.
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

/// Builds a `Program` slot by slot.
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

  /// `to` = mix of the launch's number and `from`; by default too long to run on the caller's
  /// thread.
  Launch& launch(const std::vector<SlotId>& from, SlotId to, double predicted_ns = 1e5) {
    Launch launch;
    launch.name = "f" + std::to_string(program_.launches.size());
    task_ = std::make_shared<FakeTask>();
    task_->seed = static_cast<std::int64_t>(program_.launches.size()) + 1;
    task_->inputs = from.size();
    launch.task = HostTask{run_fake, task_, type_.size(), type_.size()};
    launch.buffers = from;
    launch.buffers.push_back(to);
    launch.writes = {to};
    for (SlotId id : from) launch.in_place.emplace_back(id, to);
    launch.predicted_ns = predicted_ns;
    return program_.launches.emplace_back(std::move(launch));
  }
  /// Makes the launch added last throw.
  void fail_last() { task_->throws = true; }

  Program& program() { return program_; }

  /// Everything in order on one stream, no two temporaries sharing bytes.
  std::shared_ptr<const Executable> in_order() const {
    auto made = std::make_shared<Executable>();
    made->name = program_.name;
    made->inputs = program_.inputs;
    made->slots = program_.slots;
    made->outputs = program_.outputs;
    for (Slot& slot : made->slots) {
      if (slot.kind != Slot::Kind::temporary) continue;
      slot.offset = made->arena_bytes;
      made->arena_bytes += (type_.bytes() + 63) / 64 * 64;
    }
    made->live_bytes = made->arena_bytes;
    made->streams.push_back({{program_.launches.begin(), program_.launches.end()}});
    return made;
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
    for (const Launch& launch : program_.launches) {
      std::vector<void*> pointers;
      for (SlotId id : launch.buffers) pointers.push_back(values[id].data());
      const HostTask& task = launch.host_task();
      task.function(task.context.get(), pointers.data(), 0, task.extent);
    }
    std::vector<std::vector<std::int64_t>> outputs;
    for (SlotId id : program_.outputs) outputs.push_back(values[id]);
    return outputs;
  }

 private:
  SlotId add(Slot::Kind kind, std::uint32_t index) {
    const auto id = static_cast<SlotId>(program_.slots.size());
    program_.slots.push_back({kind, index, 0, type_, "%" + std::to_string(id)});
    return id;
  }

  Type type_;
  Program program_;
  std::shared_ptr<FakeTask> task_;
};

/// A random DAG: each launch reads one to three earlier values; what nobody reads is an output.
inline FakeProgram random_program(std::mt19937& random, int launches, std::int64_t size) {
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<std::vector<int>> reads(static_cast<std::size_t>(launches));
  std::vector<bool> is_read(static_cast<std::size_t>(launches));
  // Values -1 and -2 are the inputs.
  for (int i = 0; i < launches; ++i) {
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
    program.launch(from, slots.back(), 5e3 + static_cast<double>(below(50000)));
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
