// Buffer: a piece of a device's memory and the event after which its bytes are there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "anabranch/device.h"
#include "runtime/memory/alignment.h"
#include "runtime/stream/event.h"

namespace anabranch {

/// A shared handle; the memory goes back when the last handle and the last execution that uses it
/// are gone. The bytes never change once `ready` has happened.
class Buffer {
 public:
  /// Of the memory that `allocate` gives, in bytes.
  static constexpr std::size_t alignment = memory_alignment;

  Buffer() = default;
  /// Uninitialised memory, aligned to `alignment`. Throws Error if there is not enough, naming the
  /// device, the bytes asked for and the bytes in use.
  static Buffer allocate(const Device& device, std::size_t bytes, Event ready = {});
  /// Memory that `allocate_deferred` will get before `ready` happens; until then `data` is null.
  static Buffer deferred(const Device& device, std::size_t bytes, Event ready);
  /// Nothing to do where it has memory already. Throws as `allocate` does.
  void allocate_deferred() const;
  /// Gives a deferred buffer the memory of `from`, which has then none, if both have one size,
  /// no other handle holds `from`, and its memory is the device's own. Whether it did.
  bool alias(const Buffer& from) const;
  /// Says that the memory, which is a device's that works by itself, is written up to `event`: it
  /// goes back no earlier. For the maker of the buffer, before it releases it.
  void set_written_until(std::shared_ptr<const DeviceEvent> event) const;
  /// Foreign memory, read in place and given back through `deleter` when no longer
  /// needed.
  static Buffer borrow(const Device& device, const void* data, std::size_t bytes,
                       std::function<void()> deleter);
  /// No memory: every read throws `error`.
  static Buffer failed(const Device& device, Failure error);

  /// Whether the memory, which is there, is foreign.
  bool is_borrowed() const;

  explicit operator bool() const { return state_ != nullptr; }
  /// Throws the buffer's error if it failed.
  void* data() const;
  std::size_t bytes() const;
  const Device& device() const;
  const Event& ready() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace anabranch
