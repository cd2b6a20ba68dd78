// GraphCache: what a device captured from runs of one program, to be launched again as a whole.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device/stream_executor.h"

namespace anabranch {

struct Executable;

/// Captured work holds addresses, so it is good for runs whose slots have the same addresses. A
/// loop that calls a program again and again gets the same memory again and again, in turns;
/// programs that do not are not captured, since that costs more than a run. Thread-safe.
class GraphCache {
 public:
  /// Null where nothing is gained: few launches and no loop or branch that goes step by step, steps
  /// that the host has a part in, or several devices.
  static std::unique_ptr<GraphCache> of(const Executable& executable);

  /// What was captured with the slots at these addresses, or null.
  std::shared_ptr<const CapturedGraph> find(std::span<void* const> slots);
  /// Whether a run at these addresses is worth capturing: another one has been there before, or
  /// runs anywhere cost more than that.
  bool is_due(std::span<void* const> slots);
  void keep(std::span<void* const> slots, std::shared_ptr<const CapturedGraph> graph);
  /// A run was not captured, and the host had to read the device's memory that often to know how to
  /// continue.
  void went_stepwise(std::size_t reads);
  /// The device refuses the capture: nothing is due any more.
  void give_up();

 private:
  struct Run {
    std::vector<void*> slots;
    std::shared_ptr<const CapturedGraph> graph;  // null where it has only been seen
  };

  std::list<Run>::iterator find_locked(std::span<void* const> slots);

  std::mutex mutex_;
  std::list<Run> runs_;  // the latest first
  bool is_due_at_once_ = false, given_up_ = false;
};

}  // namespace anabranch
