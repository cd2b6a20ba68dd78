// Phases: how the threads that run the ranges of one task work on it together.
//
// A task that cannot be cut into independent ranges (a sort, then the merge of what was sorted) is
// a list of phases, each of independent items. All threads go through all phases in order; one that
// comes late finds the first ones done. No thread waits for one that has not begun.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

#include "runtime/stream/spin.h"

namespace anabranch::host {

class Phases {
 public:
  explicit Phases(std::int64_t count)
      : phases_(std::make_unique<Phase[]>(static_cast<std::size_t>(count))) {}

  /// Calls `work(item)` for items [0, items) that no other thread has taken, and returns once all
  /// are done. What an item throws, the first of them, is thrown on each thread by the end of the
  /// phase, and items that have not begun are left out: no thread comes to a phase whose operands
  /// are not there. Without phases, `phases == nullptr`: for all of them.
  template <class Work>
  static void run(Phases* phases, std::int64_t phase, std::int64_t items, Work work) {
    if (phases) return phases->run(phase, items, work);
    for (std::int64_t item = 0; item < items; ++item) work(item);
  }

 private:
  struct alignas(64) Phase {
    std::atomic<std::int64_t> next{0}, done{0};
  };

  template <class Work>
  void run(std::int64_t number, std::int64_t items, Work& work) {
    Phase& phase = phases_[static_cast<std::size_t>(number)];
    if (phase.next.load(std::memory_order_relaxed) < items) {
      std::int64_t item;
      while ((item = phase.next.fetch_add(1, std::memory_order_relaxed)) < items) {
        attempt(work, item);
        if (phase.done.fetch_add(1, std::memory_order_acq_rel) + 1 == items) {
          phase.done.notify_all();
        }
      }
    }
    const auto is_done = [&] { return phase.done.load(std::memory_order_acquire) >= items; };
    if (!spin_until(is_done, wake_up_time)) {
      for (std::int64_t done; (done = phase.done.load(std::memory_order_acquire)) < items;) {
        phase.done.wait(done, std::memory_order_acquire);
      }
    }
    if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
  }

  // Others wait for the item, whatever comes of it.
  template <class Work>
  void attempt(Work& work, std::int64_t item) {
    if (has_failed_.load(std::memory_order_relaxed)) return;
    try {
      work(item);
    } catch (...) {
      if (is_first_failure_.exchange(false, std::memory_order_relaxed)) {
        failure_ = std::current_exception();
        has_failed_.store(true, std::memory_order_release);
      }
    }
  }

  std::unique_ptr<Phase[]> phases_;
  std::atomic<bool> is_first_failure_{true}, has_failed_{false};
  std::exception_ptr failure_;  // written before `has_failed_`, never after
};

}  // namespace anabranch::host
