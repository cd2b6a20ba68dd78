// Event: something that will have happened, with or without an error.
#pragma once

#include <functional>
#include <memory>

#include "anabranch/device.h"
#include "anabranch/failure.h"
#include "anabranch/source_location.h"
#include "runtime/device/stream_executor.h"

namespace anabranch {

class Completion;

/// A shared handle; a default-made event has already happened.
class Event {
 public:
  Event() = default;
  /// An event that has not happened; `complete` makes it happen, once. A thread that waits for it
  /// lends its core to what `device` does.
  static Event pending(const Device& device = {});
  /// An event that has happened with this error.
  static Event failed(Failure error);

  /// Never waits.
  bool ready() const;
  /// Blocks until it has happened; throws its error, if it has one, and Error inside a custom call
  /// where it has not happened yet. The timeline shows the wait, and `where`.
  void wait(SourceLocation where = {}) const;
  /// Its error, or none where there is none or it has not happened yet. Never waits, never throws.
  Failure error() const;

  /// Says what makes it happen (`cpu::Work::part_of`): a thread that waits can do a part of that.
  void set_maker(const void* maker) const;
  /// Says that what makes it happen is enqueued, up to `device_event`: work for the same device may
  /// be enqueued without waiting for it. `completion`, which is the device's and outlives it, makes
  /// it happen. At most once.
  void enqueued(std::shared_ptr<const DeviceEvent> device_event, Completion& completion) const;
  /// Where it ends on its stream; null where it is enqueued on none, or on none yet. Never waits.
  std::shared_ptr<const DeviceEvent> device_event() const;
  /// As `then`, once it is enqueued or has happened.
  void when_enqueued(std::function<void()> then) const;

  /// Makes it happen; the first call wins, later ones do nothing.
  void complete(Failure error = {}) const;
  /// Calls `then` once it has happened, on the thread that completes it, or at once, here (inside
  /// another continuation: after that one returns). `then` must not wait for events; what it throws
  /// is dropped.
  void then(std::function<void()> then) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace anabranch
