// What runs of a task work in, kept for the runs after them.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace anabranch::host {

/// A `T` for each run that is under way; as many are kept as have been at once.
template <class T>
class Idle {
 public:
  /// One that is idle, or what `make` returns: a std::unique_ptr<T>.
  template <class Make>
  std::unique_ptr<T> take(Make make) {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
    return make();
  }

  /// Where there is no memory to keep it, it is freed.
  void give_back(std::unique_ptr<T> taken) noexcept {
    std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(taken));
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace anabranch::host
