// LaunchTimes: how long each step of a program took in its first runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/program/program.h"

namespace anabranch {

/// Filled by the first runs, whichever threads they are on. A step's time is what all threads that
/// ran parts of it took together, in the run where that was least: the first run also pays for cold
/// caches and fresh pages.
class LaunchTimes {
 public:
  static constexpr int runs_wanted = 3;

  explicit LaunchTimes(std::size_t steps) : least_(steps) {
    for (auto& time : least_) time.store(not_measured, std::memory_order_relaxed);
  }

  /// Whether a run that begins now is to be measured.
  bool wanted() const { return runs_missing_.load(std::memory_order_relaxed) > 0; }
  /// Adds one run's time of a step.
  void add(StepId step, std::chrono::nanoseconds time) {
    std::int64_t known = least_[step].load(std::memory_order_relaxed);
    while (time.count() < known &&
           !least_[step].compare_exchange_weak(known, time.count(), std::memory_order_relaxed)) {
    }
  }
  /// Says that a measured run has ended in which every step ran.
  void run_ended() { runs_missing_.fetch_sub(1, std::memory_order_acq_rel); }

  /// Whether all wanted runs are in.
  bool complete() const { return runs_missing_.load(std::memory_order_acquire) <= 0; }
  /// Nanoseconds; only once complete.
  double ns(StepId step) const {
    return static_cast<double>(least_[step].load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::int64_t not_measured = INT64_MAX;
  std::vector<std::atomic<std::int64_t>> least_;
  std::atomic<int> runs_missing_{runs_wanted};
};

}  // namespace anabranch
