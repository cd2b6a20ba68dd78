// ThreadPool: one thread for each core of a CPU device, shared by all its streams.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "anabranch/devices.h"
#include "anabranch/timeline.h"
#include "runtime/cpu/core.h"
#include "runtime/cpu/seats.h"
#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Something to run once on a worker, or on a helping waiter: a thread that waits for what
/// `part_of` makes. The pool does not touch it after `run` begins, so that it may destroy itself.
struct Work {
  explicit Work(void (*run)(Work&)) : run(run) {}
  void (*run)(Work&);
  const void* part_of = nullptr;  ///< compared, and no more
  Work* next = nullptr;
};

class ThreadPool;

/// A task that several workers run together, range by range. Whoever finishes the last range goes
/// on with `after`, so that no thread waits.
struct SharedTask {
  explicit SharedTask(Work& after) : after(&after) {}

  std::string_view name;  ///< for the timeline, as is the next
  SourceLocation location;
  const HostTask* task = nullptr;
  void* const* buffers = nullptr;
  Work* after;
  bool is_timed = false;     ///< whether to add up `busy`
  std::exception_ptr error;  ///< the first that a range threw; the remaining ranges are left out

  /// What all threads together have spent on the task, once it is done.
  std::chrono::nanoseconds busy() const {
    return std::chrono::nanoseconds(busy_.load(std::memory_order_relaxed));
  }

 private:
  friend class ThreadPool;
  std::atomic<std::int64_t> busy_{0};
  /// Iterations that one thread begins with, and others take from once theirs are done. A seat has
  /// the same in each run of a task, so that what its thread wrote the last time is in its caches.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  static constexpr int most_shares = 16;
  Share shares_[most_shares];
  int share_count_ = 0;
  std::atomic<int> running_{0};
  std::atomic<bool> failed_{false};
  ThreadPool* pool_ = nullptr;
  std::shared_ptr<const void> in_common_;  // of the task's ranges, where they work together
  std::atomic<int> helpers_{0};            // threads still welcome; written under the pool's mutex
  bool open_ = false;                      // guarded by the pool's mutex, as is the next
  SharedTask* next_open_ = nullptr;
};

/// How streams share the cores: a strand (one stream of one run) is carried on by one thread at a
/// time, and a task that can be cut is open to others, which join the open task that has the fewest
/// threads; so threads are divided evenly among the kernels that are ready. At most `size()`
/// threads run tasks at any time, those that help from outside included: a host thread that waits
/// for a result takes the place of a worker, never one beside it. Library calls are tasks cut by
/// us, each range of which runs on the thread that took it: oneDNN has no threads of its own.
class ThreadPool {
 public:
  /// The pool of a CPU device. Its threads start on first use and stop, all runnable work done,
  /// when the program leaves `main`. Throws Error where the system grants not even one thread.
  static ThreadPool& of(const Device& device);
  /// The same, or null where the device has none: nothing has run on it, or it is no CPU.
  static ThreadPool* find(const Device& device);
  /// Gives every pool as many threads as its device has cores now, or fewer where the system grants
  /// no more. Not to be called on a worker.
  static void share_out_cores();

  /// How many threads it has.
  int size() const { return size_.load(std::memory_order_relaxed); }

  /// Runs `work` on some worker, soon; after the pool has stopped, here and now.
  void post(Work& work);

  /// Says that work will be posted once something that runs now is done, or that it will not be
  /// after all: a worker that finds nothing stays awake longer while more is to come.
  void expect() { expected_.fetch_add(1, std::memory_order_relaxed); }
  void expect_no_more() { expected_.fetch_sub(1, std::memory_order_relaxed); }

  /// Called on a worker: runs ranges of `shared` until none is left to take, while others help.
  /// Whether the task is done; if not, its `after` will be run by the thread that finishes it, and
  /// `shared` may no longer be touched.
  bool run_shared(SharedTask& shared);

  /// Called by a task that `invites`: lets other threads join it.
  static void invite();

  /// Spins until `happened` is set, for at most `patience` at a time, and works meanwhile: on a
  /// thread that waits for a result, which holds a core. It runs ranges of shared tasks, and what
  /// is queued of the work whose `part_of` is `maker`, which makes the result: before a worker that
  /// sleeps can.
  void help_until(const std::atomic<std::uint32_t>& happened, std::chrono::nanoseconds patience,
                  const void* maker = nullptr);

  /// Whether the calling thread is a helping waiter, which helps with one thing and should not be
  /// kept.
  static bool is_helping_waiter();
  /// Says that the calling thread goes into a function of the user, or comes out of it.
  static void in_user_call(bool is_inside);
  /// Whether no thread of any pool does anything else, nor could: there is no work, or no thread
  /// is left for it.
  static bool only_users_run();

  /// Whether what the helping waiter waits for has happened: what it runs is then to be posted.
  static bool waiter_may_leave();
  /// Whether the calling thread should not be kept by what another could do as well: the above, or
  /// there is work in its pool that no thread has taken.
  static bool is_needed_elsewhere();

  /// Whether the calling thread is a worker, of whichever pool, or a helping waiter that does its
  /// work.
  static bool on_worker();
  /// The calling thread's row of the timeline.
  static timeline::Track worker_track();

  /// Says that the calling worker is about to look for work, and runs nothing else before: for what
  /// is posted to its pool until then, by whomever, no other worker need be woken.
  static void job_is_ending();

 private:
  struct Worker;
  struct Job;

  explicit ThreadPool(Device device);
  ~ThreadPool() = delete;
  void stop();
  void resize(CoreRange cores);
  void add_workers_locked(std::size_t count);
  void work_loop(Worker& worker);
  Job take(Worker& worker);
  void leave_to_host() const;
  Job take_locked();
  bool has_work() const { return queue_head_ || open_tasks_; }
  Worker* sleepers_to_wake(int wanted);
  static void wake(Worker* list);
  bool run_ranges(SharedTask& shared);
  int share_out(SharedTask& shared) const;
  static std::pair<std::int64_t, std::int64_t> take_range(SharedTask& shared);
  static void take_ranges(SharedTask& shared);
  void open(SharedTask& shared, int helpers);
  void close(SharedTask& shared);
  void close_locked(SharedTask& shared);
  SharedTask* join_locked();
  Job take_as_waiter_locked(const void* maker);
  void run_as_waiter(const Job& job, const std::atomic<std::uint32_t>& happened, const void* maker);
  static int seat_of_this_thread();
  void take_seat_locked();
  void leave_seat_locked();
  bool is_crowded_locked();
  void leave_crowded_core();

  std::mutex mutex_;
  Work* queue_head_ = nullptr;
  Work* queue_tail_ = nullptr;
  SharedTask* open_tasks_ = nullptr;
  const void* awaited_ = nullptr;  // a helping waiter looks for parts of it
  Worker* sleepers_ = nullptr;     // the latest first
  int spinners_ = 0;
  Seats seats_;                   // of threads at work, helping waiters included
  int waiter_core_ = no_core;     // of a helping waiter, while it waits
  std::atomic<int> in_users_{0};  // of them, in functions of the user
  std::atomic<int> ending_{0};    // workers that will look for work in a moment
  std::atomic<int> expected_{0};  // works that will be posted
  bool stopping_ = false;
  const Device device_;
  std::atomic<int> size_{0};
  std::atomic<int> first_core_{0};  // of the device's, for the timeline
  // How many works and shared tasks there are to take, for those that spin.
  std::atomic<int> queued_hint_{0}, open_hint_{0};
  std::atomic<std::uint32_t> posts_{0};           // so many works have been posted
  std::atomic<bool> is_from_outside_{false};      // the latest, which a thread may come to wait for
  std::vector<std::unique_ptr<Worker>> workers_;  // guarded by `mutex_`
};

}  // namespace anabranch::cpu
