// Gate: lets threads into something that goes away, until it is closed.
#pragma once

#include <atomic>

namespace anabranch {

/// Closing it waits for the threads that are inside. Open when made, and never opened again.
class Gate {
 public:
  /// False once it is closed, and the thread is not inside.
  bool enter() noexcept {
    inside_.fetch_add(1);
    if (!is_closed()) return true;
    leave();
    return false;
  }
  void leave() noexcept {
    if (inside_.fetch_sub(1) == 1 && is_closed()) inside_.notify_all();
  }
  void close() noexcept {
    is_closed_ = true;
    while (const int count = inside_) inside_.wait(count);
  }
  bool is_closed() const noexcept { return is_closed_; }
  /// Holds up a thread that finds it closed, for good.
  void hold_up() const noexcept { is_closed_.wait(true); }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<bool> is_closed_ = false;
};

}  // namespace anabranch
