// Event: something that will have happened, with or without an error.
#pragma once

#include <functional>
#include <memory>

#include "ir/device.h"
#include "ir/source_location.h"
#include "runtime/device/engine.h"
#include "runtime/stream/failure.h"

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
  /// Says that what makes it happen is on a queue, where it ends at `mark`: work for the same
  /// device may be put there without waiting for it. `completion`, which is the device's and
  /// outlives it, makes it happen. At most once.
  void queued(std::shared_ptr<const Mark> mark, Completion& completion) const;
  /// Where it ends on its queue; null where it is on none, or none yet. Never waits.
  std::shared_ptr<const Mark> mark() const;
  /// As `then`, once it is on a queue or has happened.
  void when_queued(std::function<void()> then) const;

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
