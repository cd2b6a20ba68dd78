#include "runtime/memory/copy.h"

#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/device/device_state.h"
#include "runtime/memory/host_copy.h"

namespace anabranch {

Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes) {
  if (device_state(device).engine) return copy_to_engine(device, bytes);
  Buffer buffer = Buffer::allocate(device, bytes.size());
  const HostCopy drawn("copy from the host", device, bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes) {
  return copy_to_engine(device, bytes, from_host_ring(*device_state(device).engine));
}

Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes,
                      const StagingRing& ring) {
  DeviceState& state = device_state(device);
  Engine& engine = *state.engine;
  const Event ready = Event::pending(device);
  Buffer buffer = Buffer::allocate(device, bytes.size(), ready);
  // The memory is there in the main queue's order.
  engine.from_host().wait(*engine.main().mark());
  std::shared_ptr<QueuedCopy> drawn =
      QueuedCopy::begin("copy from the host", state, engine.from_host(), bytes.size());
  // Each piece holds the memory, which must not be freed before it has come.
  put(state, engine.from_host(), ring, buffer.data(), bytes, [buffer, ready](const Failure& error) {
    if (error) ready.complete(error);
  });
  if (drawn) drawn->end();
  std::shared_ptr<const Mark> mark = engine.from_host().mark();
  ready.queued(mark, state.completion);
  state.completion.when_past(std::move(mark),
                             [held = buffer, ready, drawn](const Failure& error) mutable {
                               if (drawn && !error) drawn->draw();
                               drawn = nullptr;
                               held = {};  // first, as in `copy_from_engine`
                               ready.complete(error);
                             });
  return buffer;
}

void copy_from_engine(const Buffer& buffer, PieceReader read, Copied then) {
  const StagingRing ring = to_host_ring(*device_state(buffer.device()).engine);
  copy_from_engine(buffer, std::move(read), std::move(then), ring);
}

void copy_from_engine(const Buffer& buffer, PieceReader read, Copied then,
                      const StagingRing& ring) {
  buffer.ready().when_queued([buffer, read = std::move(read), then = std::move(then), ring] {
    if (const Failure error = buffer.ready().error()) return then(error);
    DeviceState& device = device_state(buffer.device());
    DeviceQueue& queue = device.engine->to_host();
    const void* data = nullptr;
    try {
      if (const auto mark = buffer.ready().mark()) queue.wait(*mark);
      data = buffer.data();  // which throws where it has failed meanwhile
    } catch (...) {
      return then(std::current_exception());
    }
    Copied copied = [held = buffer, then](const Failure& error) mutable {
      // Lets go first: who is told may look at what memory is in use, or donate the array.
      const Event ready = std::exchange(held, {}).ready();
      if (error) return then(error);
      // What made the buffer may have failed after all: its event says so, and may be late.
      ready.then([ready, then] { then(ready.error()); });
    };
    fetch(device, queue, ring, data, buffer.bytes(), read, std::move(copied), "copy to the host");
  });
}

}  // namespace anabranch
