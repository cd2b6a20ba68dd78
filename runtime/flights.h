// Flights: the executions in flight on one device, and how far they may run ahead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>

#include "ir/device.h"

namespace anabranch {

/// An execution as the limits see it: from `take_off`, when it is submitted, to `land`.
class Flight {
 public:
  /// `bytes`: of its inputs, results and temporaries.
  Flight(Device device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  virtual ~Flight() = default;
  /// Blocks until it has landed.
  void wait() const;

 private:
  friend class Flights;
  /// Called once others have landed, where `may_begin` did not let it begin.
  virtual void begin_later() = 0;

  const Device device_;
  const std::size_t bytes_;
  bool has_begun_ = false;  // guarded by the mutex of its Flights
  std::atomic<std::uint32_t> landed_{0};
  std::list<std::shared_ptr<Flight>>::iterator place_;
};

/// Oldest first. Thread-safe.
class Flights {
 public:
  Flights();

  /// Adds `flight`; first waits for the oldest while a limit is reached, unless `never_wait`.
  void take_off(std::shared_ptr<Flight> flight, bool never_wait);
  /// Whether `flight` may take its memory now: nothing else has begun, or all that has fits. If
  /// not, its `begin_later` is called when it may.
  bool may_begin(Flight& flight);
  void land(Flight& flight);
  /// Waits until all that are in flight now have landed.
  void wait_all();

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int limit) { limit_.store(limit, std::memory_order_relaxed); }
  std::size_t byte_limit() const { return byte_limit_.load(std::memory_order_relaxed); }
  void set_byte_limit(std::size_t bytes) { byte_limit_.store(bytes, std::memory_order_relaxed); }

 private:
  bool is_full(std::size_t more_bytes) const;
  bool begin_locked(Flight& flight);

  std::mutex mutex_;
  std::list<std::shared_ptr<Flight>> flights_;
  std::deque<Flight*> held_back_;  // ready, and not begun
  std::size_t bytes_ = 0;          // of all
  std::size_t begun_bytes_ = 0;
  std::size_t begun_ = 0;
  std::atomic<int> limit_{32};
  std::atomic<std::size_t> byte_limit_;
};

}  // namespace anabranch
