#include "runtime/staging.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/error.h"
#include "runtime/device_state.h"

namespace anabranch {
namespace {

constexpr std::size_t smallest = std::size_t{64} << 10;
constexpr std::size_t most_kept = std::size_t{256} << 20;

/// Page-locked memory, which takes longer to get than most copies take: it is kept.
class Staging {
 public:
  static Staging& of(Engine& engine) {
    static std::mutex mutex;
    static auto* all = new std::map<Engine*, std::unique_ptr<Staging>>;
    std::lock_guard lock(mutex);
    std::unique_ptr<Staging>& staging = (*all)[&engine];
    if (!staging) staging.reset(new Staging(engine));
    return *staging;
  }

  /// It comes back here with the last handle.
  std::shared_ptr<void> take(std::size_t bytes) {
    std::size_t size = smallest;
    while (size < bytes) size *= 2;
    void* data = nullptr;
    {
      std::lock_guard lock(mutex_);
      std::vector<void*>& free = free_[size];
      if (!free.empty()) {
        data = free.back();
        free.pop_back();
        kept_ -= size;
      }
    }
    if (!data) data = engine_.allocate_host(size);
    if (!data) throw Error("copy: there is no page-locked memory of the host left");
    return std::shared_ptr<void>(data, [this, size](void* data) { give_back(data, size); });
  }

 private:
  explicit Staging(Engine& engine) : engine_(engine) {}

  void give_back(void* data, std::size_t size) {
    try {
      std::lock_guard lock(mutex_);
      if (kept_ + size <= most_kept) {
        free_[size].push_back(data);
        kept_ += size;
        return;
      }
    } catch (...) {  // no memory even for the list
    }
    engine_.free_host(data);
  }

  Engine& engine_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::size_t kept_ = 0;
};

}  // namespace

std::shared_ptr<void> stage(Engine& engine, std::size_t bytes) {
  return Staging::of(engine).take(bytes);
}

void fetch(DeviceState& device, DeviceQueue& queue, const void* from, std::size_t bytes,
           Fetched then) {
  std::shared_ptr<void> staged;
  std::shared_ptr<const Mark> mark;
  try {
    staged = stage(*device.engine, bytes);
    queue.copy(staged.get(), from, bytes);
    mark = queue.mark();
  } catch (...) {
    return then(nullptr, std::current_exception());
  }
  device.completion.when_past(std::move(mark), [staged, then = std::move(then)](
                                                   const Failure& error) { then(staged, error); });
}

Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes) {
  DeviceState& state = device_state(device);
  Engine& engine = *state.engine;
  const Event ready = Event::pending(device);
  Buffer buffer = Buffer::allocate(device, bytes.size(), ready);
  const std::shared_ptr<void> staged = stage(engine, bytes.size());
  if (!bytes.empty()) std::memcpy(staged.get(), bytes.data(), bytes.size());
  // The memory is there in the main queue's order.
  engine.from_host().wait(*engine.main().mark());
  engine.from_host().copy(buffer.data(), staged.get(), bytes.size());
  std::shared_ptr<const Mark> mark = engine.from_host().mark();
  ready.queued(mark);
  state.completion.when_past(
      std::move(mark), [buffer, staged, ready](const Failure& error) { ready.complete(error); });
  return buffer;
}

void copy_from_engine(const Buffer& buffer, Fetched then) {
  buffer.ready().when_queued([buffer, then = std::move(then)] {
    if (const Failure error = buffer.ready().error()) return then(nullptr, error);
    DeviceState& device = device_state(buffer.device());
    DeviceQueue& queue = device.engine->to_host();
    try {
      if (const auto mark = buffer.ready().mark()) queue.wait(*mark);
    } catch (...) {
      return then(nullptr, std::current_exception());
    }
    fetch(device, queue, buffer.data(), buffer.bytes(),
          [buffer, then](std::shared_ptr<const void> data, const Failure& error) {
            if (error) return then(nullptr, error);
            // What made the buffer may have failed after all: its event says so, and may be late.
            buffer.ready().then([buffer, data, then] { then(data, buffer.ready().error()); });
          });
  });
}

}  // namespace anabranch
