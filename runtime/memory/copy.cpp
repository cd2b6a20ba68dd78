#include "runtime/memory/copy.h"

#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/device/device_state.h"
#include "runtime/fork.h"
#include "runtime/memory/host_copy.h"

namespace anabranch {

Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes) {
  if (StreamExecutor* executor = device_state(device).stream_executor) {
    return copy_to_device(device, bytes, from_host_ring(*executor));
  }
  Buffer buffer = Buffer::allocate(device, bytes.size());
  const HostCopy drawn("copy from the host", device, bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes,
                      const StagingRing& ring) {
  DeviceState& state = device_state(device);
  StreamExecutor& stream_executor = *state.stream_executor;
  const Event ready = Event::pending(device);
  Buffer buffer = Buffer::allocate(device, bytes.size(), ready);
  // The memory is there in the main stream's order.
  stream_executor.from_host().wait(*stream_executor.main().record());
  std::shared_ptr<EnqueuedCopy> drawn =
      EnqueuedCopy::begin("copy from the host", state, stream_executor.from_host(), bytes.size());
  // Each piece holds the memory, which must not be freed before it has come.
  enqueue_from_host(state, stream_executor.from_host(), ring, buffer.data(), bytes,
                    [buffer, ready](const Failure& error) {
                      if (error) ready.complete(error);
                    });
  if (drawn) drawn->end();
  std::shared_ptr<const DeviceEvent> device_event = stream_executor.from_host().record();
  ready.enqueued(device_event, state.completion);
  state.completion.when_complete(std::move(device_event),
                                 [held = buffer, ready, drawn](const Failure& error) mutable {
                                   if (drawn && !error) drawn->draw();
                                   drawn = nullptr;
                                   held = {};  // first, as in `copy_to_host`
                                   ready.complete(error);
                                 });
  return buffer;
}

void copy_to_host(const Buffer& buffer, PieceReader read, Copied then) {
  check_no_orphan("reading from a GPU");
  const StagingRing ring = to_host_ring(*device_state(buffer.device()).stream_executor);
  copy_to_host(buffer, std::move(read), std::move(then), ring);
}

void copy_to_host(const Buffer& buffer, PieceReader read, Copied then, const StagingRing& ring) {
  buffer.ready().when_enqueued([buffer, read = std::move(read), then = std::move(then), ring] {
    if (const Failure error = buffer.ready().error()) return then(error);
    DeviceState& device = device_state(buffer.device());
    DeviceStream& stream = device.stream_executor->to_host();
    const void* data = nullptr;
    try {
      if (const auto device_event = buffer.ready().device_event()) stream.wait(*device_event);
      data = buffer.data();  // which throws where it has failed meanwhile
    } catch (...) {
      return then(std::current_exception());
    }
    Copied copied = [held = buffer, then](const Failure& error) mutable {
      // Releases first: `then` may ask what memory is in use, or donate the array.
      const Event ready = std::exchange(held, {}).ready();
      if (error) return then(error);
      // What made the buffer may have failed after all: its event says so, and may be late.
      ready.then([ready, then] { then(ready.error()); });
    };
    enqueue_to_host(device, stream, ring, data, buffer.bytes(), read, std::move(copied),
                    "copy to the host");
  });
}

}  // namespace anabranch
