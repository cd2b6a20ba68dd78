#include "runtime/memory/buffer.h"

#include <utility>

#include "runtime/device/device_state.h"
#include "runtime/fork.h"

namespace anabranch {

struct Buffer::State {
  State(const Device& device, std::size_t bytes, Event ready)
      : device(device), bytes(bytes), ready(std::move(ready)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    if (owner) {
      wait_for_writer();
      owner->free(block);
    }
    if (!deleter) return;
    try {
      deleter();
    } catch (...) {
      // The last handle may die on a worker thread, which has no caller to report to.
    }
  }

  // Memory goes back in the order of the main stream, which may not have come to what another
  // stream still writes here for no reader.
  void wait_for_writer() noexcept {
    if (!written_until || is_orphan()) return;
    DeviceStream& main = device_state(device).stream_executor->main();
    try {
      if (&written_until->stream() != &main) main.wait(*written_until);
    } catch (...) {
      // Then the event is complete.
    }
  }

  Device device;
  std::size_t bytes;
  Event ready;
  std::shared_ptr<const DeviceEvent> written_until;
  Allocation block;
  Allocator* owner = nullptr;  // null for foreign memory
  std::function<void()> deleter;
};

Buffer Buffer::deferred(const Device& device, std::size_t bytes, Event ready) {
  Buffer buffer;
  buffer.state_ = std::make_shared<State>(device, bytes, std::move(ready));
  return buffer;
}

void Buffer::allocate_deferred() const {
  if (state_->owner) return;
  Allocator& owner = allocator(state_->device);
  state_->block = owner.allocate(state_->bytes);
  state_->owner = &owner;
}

bool Buffer::alias(const Buffer& from) const {
  if (from.state_.use_count() != 1) return false;
  // Nobody else has a handle any more. The count was only looked at: letting go of one more handle
  // acquires what others did before they let go of theirs.
  { const Buffer also = from; }
  if (!from.state_->owner) return false;
  if (from.bytes() != bytes() || !(from.device() == device())) return false;
  state_->block = std::exchange(from.state_->block, {});
  state_->owner = std::exchange(from.state_->owner, nullptr);
  return true;
}

void Buffer::set_written_until(std::shared_ptr<const DeviceEvent> event) const {
  state_->written_until = std::move(event);
}

Buffer Buffer::allocate(const Device& device, std::size_t bytes, Event ready) {
  Buffer buffer = deferred(device, bytes, std::move(ready));
  buffer.allocate_deferred();
  return buffer;
}

Buffer Buffer::borrow(const Device& device, const void* data, std::size_t bytes,
                      std::function<void()> deleter) {
  Buffer buffer = deferred(device, bytes, {});
  // Kernels take pointers to what they read and to what they write alike; this is only ever read.
  buffer.state_->block = {const_cast<void*>(data), bytes};
  buffer.state_->deleter = std::move(deleter);
  return buffer;
}

Buffer Buffer::failed(const Device& device, Failure error) {
  return deferred(device, 0, Event::failed(std::move(error)));
}

bool Buffer::is_borrowed() const { return !state_->owner; }

void* Buffer::data() const {
  if (const Failure error = state_->ready.error()) error.rethrow();
  return state_->block.data;
}

std::size_t Buffer::bytes() const { return state_->bytes; }
const Device& Buffer::device() const { return state_->device; }
const Event& Buffer::ready() const { return state_->ready; }

}  // namespace anabranch
