#include "runtime/executor/frame.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ir/error.h"
#include "runtime/executor/stall.h"

namespace anabranch::executor {
namespace {

// "custom_call fft: WHAT, at model.cpp:12"; the error itself is nested in it.
std::exception_ptr with_place(const std::exception_ptr& error, const Launch& launch) {
  try {
    const std::string text = (launch.title.empty() ? launch.name : launch.title) + ": ";
    const std::string place = launch.location ? ", at " + to_string(launch.location) : "";
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

void copy_bytes(void* to, const void* from, std::size_t bytes, DeviceQueue* queue) {
  if (bytes == 0) return;
  if (queue) return queue->copy(to, from, bytes);
  std::memcpy(to, from, bytes);
}

Frame::~Frame() {
  unbind();
  delete[] errors_.load(std::memory_order_relaxed);
}

void Frame::bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  bind_arena(0, executable_.arena_bytes, arena_);
  further_arenas_.resize(executable_.further.size());
  for (DeviceIndex i = 0; i < further_arenas_.size(); ++i) {
    bind_arena(i + 1, executable_.further[i].arena_bytes, further_arenas_[i]);
  }
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    const Slot& slot = executable_.slots[id];
    switch (slot.kind) {
      case Slot::Kind::input:
        if (const Failure error = inputs[slot.index].ready().error()) {
          fail(std::span(&id, 1), error);
        } else {
          data_[id] = inputs[slot.index].data();
        }
        break;
      case Slot::Kind::constant:
        data_[id] = executable_.constants[slot.index].data();
        break;
      case Slot::Kind::temporary:
        break;
      case Slot::Kind::output:
        break;
    }
  }
  bind_outputs(inputs, outputs);
}

void Frame::bind_outputs(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  for (auto [input, output] : executable_.takeovers) outputs[output].take_over(inputs[input]);
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    const Slot& slot = executable_.slots[id];
    if (slot.kind != Slot::Kind::output) continue;
    try {
      outputs[slot.index].allocate_deferred();
      data_[id] = outputs[slot.index].data();
    } catch (...) {
      fail_for_lack_of_memory(id, std::current_exception());
    }
  }
}

void Frame::bind_arena(DeviceIndex device, std::size_t bytes, Allocation& arena) {
  std::exception_ptr error;
  if (bytes > 0) {
    try {
      arena = device_state(executable_.device_at(device)).allocator.allocate(bytes);
    } catch (...) {
      error = std::current_exception();
    }
  }
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    const Slot& slot = executable_.slots[id];
    if (slot.kind != Slot::Kind::temporary || slot.device != device) continue;
    if (error) {
      fail_for_lack_of_memory(id, error);
    } else {
      data_[id] = static_cast<std::byte*>(arena.data) + slot.offset;
    }
  }
}

// In the name of the launch that would write it.
void Frame::fail_for_lack_of_memory(SlotId slot, const std::exception_ptr& error) {
  for (const Stream& stream : executable_.streams) {
    for (const Step& step : stream) {
      const auto* launch = std::get_if<Launch>(&step);
      if (!launch ||
          std::find(launch->writes.begin(), launch->writes.end(), slot) == launch->writes.end()) {
        continue;
      }
      return fail(std::span(&slot, 1), with_place(error, *launch));
    }
  }
  fail(std::span(&slot, 1), error);
}

void Frame::bind(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena) {
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    const Slot& slot = executable_.slots[id];
    switch (slot.kind) {
      case Slot::Kind::input:
        data_[id] = inputs[slot.index];
        break;
      case Slot::Kind::constant:
        data_[id] = executable_.constants[slot.index].data();
        break;
      case Slot::Kind::temporary:
        data_[id] = arena + slot.offset;
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
    device_state(executable_.further[i].device)
        .allocator.free(std::exchange(further_arenas_[i], {}));
  }
}

void Frame::gather(const Launch& launch, void** buffers, DeviceQueue* queue) const {
  for (SlotId id : launch.buffers) *buffers++ = data_[id];
  for (auto [read, written] : launch.updates) {
    if (data_[read] == data_[written]) continue;
    copy_bytes(data_[written], data_[read], executable_.slots[read].type.bytes(), queue);
  }
}

Failure Frame::error(SlotId slot) const {
  if (lacks_memory_.load(std::memory_order_acquire)) return Failure::no_memory();
  const Failure* errors = errors_.load(std::memory_order_acquire);
  return errors ? errors[slot] : Failure();
}

void Frame::check() const {
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    if (const Failure failed = error(id)) failed.rethrow();
  }
}

void Frame::forget_errors() {
  delete[] errors_.exchange(nullptr, std::memory_order_acq_rel);
  lacks_memory_ = false;
}

Failure Frame::error_before(const Launch& launch) const {
  if (lacks_memory_.load(std::memory_order_acquire)) return Failure::no_memory();
  const Failure* errors = errors_.load(std::memory_order_acquire);
  if (!errors) return {};
  for (SlotId id : launch.buffers) {
    if (errors[id]) return errors[id];
  }
  return {};
}

void Frame::fail(std::span<const SlotId> slots, const Failure& error) {
  Failure* errors = errors_.load(std::memory_order_acquire);
  if (!errors) {
    auto* made = new (std::nothrow) Failure[executable_.slots.size()];
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

void Frame::fail(const Launch& launch, const std::exception_ptr& error) {
  fail(launch.writes, with_place(error, launch));
}

DeviceState& Frame::device_of(const Launch& launch) const {
  if (executable_.further.empty()) return device_;
  return device_state(executable_.device_at(executable_.slots[launch.writes[0]].device));
}

bool Frame::may_run(const Launch& launch) {
  if (const Failure error = error_before(launch)) {
    fail(launch.writes, error);
    return false;
  }
  std::atomic<std::uint64_t>& left = device_of(launch).launches_until_failure;
  if (left.load(std::memory_order_relaxed) != UINT64_MAX) [[unlikely]] {
    if (left.fetch_sub(1) == 0) {
      left = UINT64_MAX;
      fail(launch, std::make_exception_ptr(Error("made to fail")));
      return false;
    }
  }
  return true;
}

void Frame::run(const Launch& launch, void** buffers) {
  gather(launch, buffers);
  try {
    const HostTask& task = *launch.one_task();
    std::optional<InUserCall> in_user_call;
    if (launch.calls_user) in_user_call.emplace();
    task.function(task.context.get(), buffers, 0, task.extent);
  } catch (...) {
    fail(launch, std::current_exception());
  }
}

void Frame::run(const Copy& copy, DeviceQueue* queue) {
  if (const Failure failed = error(copy.from)) return fail(std::span(&copy.to, 1), failed);
  if (error(copy.to)) return;
  copy_bytes(data_[copy.to], data_[copy.from], executable_.slots[copy.from].type.bytes(), queue);
}

void Frame::fail_all(const Failure& error) {
  for (SlotId id = 0; id < executable_.slots.size(); ++id) fail(std::span(&id, 1), error);
}

}  // namespace anabranch::executor
