#include "runtime/executor/frame.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "anabranch/error.h"
#include "runtime/executor/stall.h"

namespace anabranch::executor {
namespace {

// "custom_call fft: WHAT, at model.cpp:12"; the error itself is nested in it.
std::exception_ptr with_place(const std::exception_ptr& error, const Step& step) {
  try {
    const std::string text = (step.title.empty() ? step.name : step.title) + ": ";
    const std::string place = step.location ? ", at " + to_string(step.location) : "";
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& known) {
      std::throw_with_nested(Error(text + known.what() + place));
    } catch (...) {
      std::throw_with_nested(
          Error(text + "something was thrown that is no std::exception" + place));
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void copy_bytes(void* to, const void* from, std::size_t bytes, DeviceStream* stream) {
  if (bytes == 0) return;
  if (stream) return stream->copy(to, from, bytes);
  std::memcpy(to, from, bytes);
}

Frame::~Frame() {
  unbind();
  delete[] errors_.load(std::memory_order_relaxed);
}

void Frame::bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  bind_arena(0, arena_);
  further_arenas_.resize(program_.devices.size() - 1);
  for (DeviceIndex i = 1; i < program_.devices.size(); ++i) bind_arena(i, further_arenas_[i - 1]);
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    const Slot& slot = program_.slots[id];
    switch (slot.kind) {
      case Slot::Kind::input:
        if (const Failure error = inputs[slot.index].ready().error()) {
          fail(std::span(&id, 1), error);
        } else {
          data_[id] = inputs[slot.index].data();
        }
        break;
      case Slot::Kind::constant:
        data_[id] = code_.constants[slot.index].data();
        break;
      case Slot::Kind::temporary:
        break;
      case Slot::Kind::output:
        break;
    }
  }
  bind_outputs(inputs, outputs);
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    if (const auto output = program_.slots[id].output) bind_where(program_.outputs[*output], id);
  }
}

void Frame::bind_where(SlotId other, SlotId id) {
  if (const Failure error = this->error(other)) return fail(std::span(&id, 1), error);
  data_[id] = data_[other];
}

void Frame::bind_outputs(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  for (auto [input, output] : program_.donations) outputs[output].alias(inputs[input]);
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    const Slot& slot = program_.slots[id];
    if (slot.kind != Slot::Kind::output) continue;
    try {
      outputs[slot.index].allocate_deferred();
      data_[id] = outputs[slot.index].data();
    } catch (...) {
      fail_for_lack_of_memory(id, std::current_exception());
    }
  }
}

void Frame::bind_arena(DeviceIndex device, Allocation& arena) {
  const ProgramDevice& used = program_.devices[device];
  std::exception_ptr error;
  if (used.arena_bytes > 0) {
    try {
      arena = device_state(used.device).allocator.allocate(used.arena_bytes);
    } catch (...) {
      error = std::current_exception();
    }
  }
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    const Slot& slot = program_.slots[id];
    if (slot.kind != Slot::Kind::temporary || slot.output || slot.device != device) continue;
    if (error) {
      fail_for_lack_of_memory(id, error);
    } else {
      data_[id] = static_cast<std::byte*>(arena.data) + slot.offset;
    }
  }
}

// In the name of the step that would write it.
void Frame::fail_for_lack_of_memory(SlotId slot, const std::exception_ptr& error) {
  const auto writer = std::ranges::find_if(program_.steps, [&](const Step& step) {
    return std::ranges::find(step.writes, slot) != step.writes.end();
  });
  const bool is_written = writer != program_.steps.end();
  fail(std::span(&slot, 1), is_written ? with_place(error, *writer) : error);
}

void Frame::bind(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena) {
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    const Slot& slot = program_.slots[id];
    switch (slot.kind) {
      case Slot::Kind::input:
        data_[id] = inputs[slot.index];
        break;
      case Slot::Kind::constant:
        data_[id] = code_.constants[slot.index].data();
        break;
      case Slot::Kind::temporary:
        data_[id] = slot.output ? outputs[*slot.output] : arena + slot.offset;
        break;
      case Slot::Kind::output:
        data_[id] = outputs[slot.index];
        break;
    }
  }
}

void Frame::unbind() {
  device_.allocator.free(std::exchange(arena_, {}));
  for (std::size_t i = 0; i < further_arenas_.size(); ++i) {
    device_state(program_.devices[i + 1].device)
        .allocator.free(std::exchange(further_arenas_[i], {}));
  }
}

void Frame::gather(const Step& step, void** buffers, DeviceStream* stream) const {
  for (SlotId id : step.buffers) *buffers++ = data_[id];
  for (auto [read, written] : step.in_place_updates) {
    if (data_[read] == data_[written]) continue;
    copy_bytes(data_[written], data_[read], program_.slots[read].type.bytes(), stream);
  }
}

Failure Frame::error(SlotId slot) const {
  if (lacks_memory_.load(std::memory_order_acquire)) return Failure::no_memory();
  const Failure* errors = errors_.load(std::memory_order_acquire);
  return errors ? errors[slot] : Failure();
}

void Frame::check() const {
  for (SlotId id = 0; id < program_.slots.size(); ++id) {
    if (const Failure failed = error(id)) failed.rethrow();
  }
}

void Frame::forget_errors() {
  delete[] errors_.exchange(nullptr, std::memory_order_acq_rel);
  lacks_memory_ = false;
}

Failure Frame::error_before(const Step& step) const {
  if (lacks_memory_.load(std::memory_order_acquire)) return Failure::no_memory();
  const Failure* errors = errors_.load(std::memory_order_acquire);
  if (!errors) return {};
  for (SlotId id : step.buffers) {
    if (errors[id]) return errors[id];
  }
  return {};
}

void Frame::fail(std::span<const SlotId> slots, const Failure& error) {
  Failure* errors = errors_.load(std::memory_order_acquire);
  if (!errors) {
    auto* made = new (std::nothrow) Failure[program_.slots.size()];
    if (!made) return lacks_memory_.store(true, std::memory_order_release);
    if (errors_.compare_exchange_strong(errors, made, std::memory_order_acq_rel)) {
      errors = made;
    } else {
      delete[] made;
    }
  }
  for (SlotId id : slots) {
    if (!errors[id]) errors[id] = error;
  }
}

void Frame::fail(const Step& step, const std::exception_ptr& error) {
  fail(step.writes, with_place(error, step));
}

DeviceState& Frame::device_of(const Step& step) const {
  if (program_.devices.size() == 1) return device_;
  return device_state(program_.devices[anabranch::device_of(program_, step)].device);
}

bool Frame::may_run(const Step& step) {
  if (const Failure error = error_before(step)) {
    fail(step.writes, error);
    return false;
  }
  std::atomic<std::uint64_t>& left = device_of(step).launches_until_failure;
  if (left.load(std::memory_order_relaxed) != UINT64_MAX) [[unlikely]] {
    if (left.fetch_sub(1) == 0) {
      left = UINT64_MAX;
      fail(step, std::make_exception_ptr(Error("made to fail")));
      return false;
    }
  }
  return true;
}

void Frame::run(const Step& step, const HostTask& task, void** buffers) {
  gather(step, buffers);
  try {
    std::optional<InUserCall> in_user_call;
    if (calls_user(step)) in_user_call.emplace();
    task.function(task.context.get(), buffers, 0, task.extent);
  } catch (...) {
    fail(step, std::current_exception());
  }
}

void Frame::fail_all(const Failure& error) {
  for (SlotId id = 0; id < program_.slots.size(); ++id) fail(std::span(&id, 1), error);
}

}  // namespace anabranch::executor
