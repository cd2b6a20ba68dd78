#include "runtime/cpu/frame.h"

#include <cstring>
#include <utility>

namespace anabranch::cpu {

Frame::~Frame() {
  unbind();
  delete[] errors_.load(std::memory_order_relaxed);
}

void Frame::bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  std::exception_ptr no_arena;
  if (executable_.arena_bytes > 0) {
    try {
      arena_ = allocator_.allocate(executable_.arena_bytes);
    } catch (...) {
      no_arena = std::current_exception();
    }
  }
  for (SlotId id = 0; id < executable_.slots.size(); ++id) {
    const Slot& slot = executable_.slots[id];
    std::exception_ptr error;
    switch (slot.kind) {
      case Slot::Kind::input:
        error = inputs[slot.index].ready().error();
        if (!error) data_[id] = inputs[slot.index].data();
        break;
      case Slot::Kind::constant:
        data_[id] = executable_.constants[slot.index].data();
        break;
      case Slot::Kind::temporary:
        error = no_arena;
        if (!error) data_[id] = static_cast<std::byte*>(arena_.data) + slot.offset;
        break;
      case Slot::Kind::output:
        break;
    }
    if (error) fail(std::span(&id, 1), error);
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
      fail(std::span(&id, 1), std::current_exception());
    }
  }
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

void Frame::unbind() { allocator_.free(std::exchange(arena_, {})); }

void Frame::gather(const Launch& launch, void** buffers) const {
  for (SlotId id : launch.buffers) *buffers++ = data_[id];
  for (auto [read, written] : launch.updates) {
    const std::size_t bytes = executable_.slots[read].type.bytes();
    if (data_[read] != data_[written] && bytes > 0) {
      std::memcpy(data_[written], data_[read], bytes);
    }
  }
}

std::exception_ptr Frame::error(SlotId slot) const {
  const std::exception_ptr* errors = errors_.load(std::memory_order_acquire);
  return errors ? errors[slot] : nullptr;
}

std::exception_ptr Frame::error_before(const Launch& launch) const {
  const std::exception_ptr* errors = errors_.load(std::memory_order_acquire);
  if (!errors) return nullptr;
  for (SlotId id : launch.buffers) {
    if (errors[id]) return errors[id];
  }
  return nullptr;
}

void Frame::fail(std::span<const SlotId> slots, const std::exception_ptr& error) {
  std::exception_ptr* errors = errors_.load(std::memory_order_acquire);
  if (!errors) {
    auto* made = new std::exception_ptr[executable_.slots.size()];
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

void Frame::run(const Launch& launch, void** buffers) {
  if (std::exception_ptr error = error_before(launch)) return fail(launch.writes, error);
  gather(launch, buffers);
  try {
    const HostTask& task = *launch.one_task();
    task.function(task.context.get(), buffers, 0, task.extent);
  } catch (...) {
    fail(launch.writes, std::current_exception());
  }
}

void Frame::run(const Copy& copy) {
  if (std::exception_ptr failed = error(copy.from)) return fail(std::span(&copy.to, 1), failed);
  if (error(copy.to)) return;
  if (const std::size_t bytes = executable_.slots[copy.from].type.bytes()) {
    std::memcpy(data_[copy.to], data_[copy.from], bytes);
  }
}

}  // namespace anabranch::cpu
