// Flights: the executions in flight on one device, and how far they may run ahead. One that spans
// devices counts on each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/device.h"

namespace anabranch {

class Flights;
class Flight;

/// What a flight takes of one device.
struct Leg {
  Leg(Flights& flights, std::size_t bytes) : flights(&flights), bytes(bytes) {}

  Flights* flights;
  std::size_t bytes;  ///< of its inputs, results and temporaries there

 private:
  friend class Flight;
  friend class Flights;
  bool has_begun_ = false;  // guarded by the mutex of `flights`, like what follows
  std::list<std::shared_ptr<Flight>>::iterator place_ = {};
};

/// An execution as the limits see it: from `take_off`, when it is submitted, to `land`.
class Flight {
 public:
  /// `legs`: one per device, in one order of devices for all flights, so that none waits in a ring
  /// for others. Where who waits for the flight helps, it is on `device`.
  Flight(Device device, std::vector<Leg> legs) : device_(device), legs_(std::move(legs)) {}
  virtual ~Flight() = default;
  bool has_landed() const { return landed_.load(std::memory_order_acquire) != 0; }
  /// Works for it for a while, or until it has landed.
  void help() const;
  /// Blocks until it has landed. Helps with its work meanwhile if it `is_last` in flight: while
  /// more is, the workers have enough to do, and a thread more than there are cores slows them.
  void wait(bool is_last) const;

  /// Adds `flight` on each of its devices; first waits for the oldest there while a limit is
  /// reached, unless `never_wait`.
  static void take_off(const std::shared_ptr<Flight>& flight, bool never_wait);

 protected:
  /// Whether it may take its memory now: on each device nothing else has begun, or all that has
  /// fits. If not, `begin_later` is called when it is to ask again.
  bool may_begin();
  void land();

 private:
  friend class Flights;
  /// Called once others have landed, where `may_begin` did not let it begin.
  virtual void begin_later() = 0;

  const Device device_;
  std::vector<Leg> legs_;
  std::size_t begun_legs_ = 0;
  std::atomic<std::uint32_t> landed_{0};
};

/// Oldest first. Thread-safe.
class Flights {
 public:
  Flights();

  /// Waits until all that are in flight now have landed.
  void wait_all();

  /// Lets one more execution in, or one more begin, where a limit holds one up (stall.h).
  void give_way();

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int limit) { limit_.store(limit, std::memory_order_relaxed); }
  std::size_t byte_limit() const { return byte_limit_.load(std::memory_order_relaxed); }
  void set_byte_limit(std::size_t bytes) { byte_limit_.store(bytes, std::memory_order_relaxed); }

 private:
  friend class Flight;

  void add(const std::shared_ptr<Flight>& flight, Leg& leg, bool never_wait);
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  void wait_for(const Flight& oldest, bool is_alone);
  void note_change();
  bool begin(Flight& flight, Leg& leg);
  void remove(Leg& leg);
  bool is_full(std::size_t more_bytes) const;
  bool begin_locked(Leg& leg);
  void count_begun_locked(Leg& leg);

  std::mutex mutex_;
  std::list<std::shared_ptr<Flight>> flights_;
  std::deque<std::pair<Flight*, Leg*>> held_back_;  // ready, and not begun
  std::size_t bytes_ = 0;                           // of all
  std::size_t begun_bytes_ = 0;
  std::size_t begun_ = 0;
  int waiting_ = 0;                        // host threads, for room
  std::atomic<bool> gives_way_{false};     // to one of them
  std::atomic<std::uint32_t> changes_{0};  // so often a flight has landed, or the limit given way
  std::atomic<int> limit_{32};
  std::atomic<std::size_t> byte_limit_;
};

}  // namespace anabranch
