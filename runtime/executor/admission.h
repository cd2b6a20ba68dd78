// Admission: how many executions may be in flight on one device, by count and by bytes. One that
// spans devices counts on each.
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

#include "anabranch/device.h"

namespace anabranch {

class Admission;
class InFlightRun;
class StreamExecutor;

/// What an execution takes of one device.
struct Reservation {
  Reservation(Admission& admission, std::size_t bytes) : admission(&admission), bytes(bytes) {}

  Admission* admission;
  std::size_t bytes;  ///< of its inputs, results and temporaries there

 private:
  friend class InFlightRun;
  friend class Admission;
  bool has_begun_ = false;  // guarded by the mutex of `admission`, like what follows
  std::list<std::shared_ptr<InFlightRun>>::iterator place_ = {};
};

/// An execution as the limits see it: from `admit`, when it is submitted, to `complete`.
class InFlightRun {
 public:
  /// `reservations`: one per device, in one order of devices for all runs, so that none waits in a
  /// ring for others. A thread that waits for the run helps `device`.
  InFlightRun(Device device, std::vector<Reservation> reservations)
      : device_(device), reservations_(std::move(reservations)) {}
  virtual ~InFlightRun() = default;
  bool is_complete() const { return completed_.load(std::memory_order_acquire) != 0; }
  /// Works for it for a while, or until it is complete.
  void help() const;
  /// Blocks until it is complete. Helps with its work meanwhile if it `is_last` in flight: while
  /// more is, the workers have enough to do, and a thread more than there are cores slows them.
  void wait(bool is_last) const;

  /// Adds `run` on each of its devices; first waits for the oldest there while a limit is
  /// reached, unless `never_wait`.
  static void admit(const std::shared_ptr<InFlightRun>& run, bool never_wait);

 protected:
  /// Whether it may take its memory now: on each device nothing else has begun, or all that has
  /// fits. If not, `begin_later` is called when it is to ask again.
  bool may_begin();
  void complete();

 private:
  friend class Admission;
  /// Called once others are complete, where `may_begin` did not let it begin.
  virtual void begin_later() = 0;

  const Device device_;
  std::vector<Reservation> reservations_;
  std::size_t begun_reservations_ = 0;
  std::atomic<std::uint32_t> completed_{0};
};

/// Oldest first. Thread-safe.
class Admission {
 public:
  /// `device`: null where the host's threads do the work.
  explicit Admission(const StreamExecutor* device = nullptr);

  /// Waits until all that are in flight now are complete.
  void wait_all();

  /// Lets one more execution in, or one more begin, where a limit holds one up (stall.h).
  void give_way();

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int limit) { limit_.store(limit, std::memory_order_relaxed); }
  std::size_t byte_limit() const { return byte_limit_.load(std::memory_order_relaxed); }
  void set_byte_limit(std::size_t bytes) { byte_limit_.store(bytes, std::memory_order_relaxed); }

 private:
  friend class InFlightRun;

  void add(const std::shared_ptr<InFlightRun>& run, Reservation& reservation, bool never_wait);
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  void wait_for(const InFlightRun& oldest, bool is_alone);
  void note_change();
  bool begin(InFlightRun& run, Reservation& reservation);
  void remove(Reservation& reservation);
  bool is_full(std::size_t more_bytes) const;
  bool begin_locked(Reservation& reservation);
  void count_begun_locked(Reservation& reservation);

  std::mutex mutex_;
  std::list<std::shared_ptr<InFlightRun>> runs_;
  std::deque<std::pair<InFlightRun*, Reservation*>> held_back_;  // ready, and not begun
  std::size_t bytes_ = 0;                                        // of all
  std::size_t begun_bytes_ = 0;
  std::size_t begun_ = 0;
  int waiting_ = 0;                        // host threads, for room
  std::atomic<bool> gives_way_{false};     // to one of them
  std::atomic<std::uint32_t> changes_{0};  // so often a run has completed, or the limit given way
  std::atomic<int> limit_{32};
  std::atomic<std::size_t> byte_limit_;
};

}  // namespace anabranch
