#include "runtime/cpu/thread_pool.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "anabranch/error.h"
#include "runtime/cpu/core.h"
#include "runtime/cpu/default_floats.h"
#include "runtime/device/device.h"
#include "runtime/fork.h"
#include "runtime/stream/spin.h"

namespace anabranch::cpu {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// A worker that finds nothing spins before it sleeps, longer where spinning has paid off lately: to
// be woken would take longer than most kernels do. While streams wait for one another it is needed
// at any moment, and one that sleeps comes too late each time.
constexpr nanoseconds longest_spin = microseconds{50};
constexpr nanoseconds shortest_spin = microseconds{5};
constexpr nanoseconds spin_for_expected = microseconds{500};

// A thread that has just submitted work comes to wait for it, and so to help, about this soon; a
// sleeping worker comes later.
constexpr nanoseconds until_host_helps = microseconds{2};

thread_local ThreadPool* this_pool = nullptr;
thread_local int this_worker = -1;
thread_local int this_seat = Seats::none;
thread_local int last_seat = Seats::none;
thread_local bool this_job_is_ending = false;
thread_local const std::atomic<std::uint32_t>* this_waiter_waits_for = nullptr;

/// The calling thread, which waits for `happened`, while it does a worker's work.
struct HelpingWaiter {
  HelpingWaiter(ThreadPool& pool, const std::atomic<std::uint32_t>& happened) {
    this_pool = &pool;
    this_waiter_waits_for = &happened;
  }
  ~HelpingWaiter() {
    this_waiter_waits_for = nullptr;
    this_pool = nullptr;
  }
  HelpingWaiter(const HelpingWaiter&) = delete;
};

}  // namespace

struct ThreadPool::Worker {
  int index = 0;
  nanoseconds spin = longest_spin;
  std::atomic<std::uint32_t> awake{1};
  bool leaves = false;     // guarded by the pool's mutex
  Worker* next = nullptr;  // of those asleep, or of those to wake: no list of theirs takes memory
  std::thread thread;

  void wake() {
    awake.store(1, std::memory_order_release);
    awake.notify_one();
  }
};

void ThreadPool::wake(Worker* list) {
  while (list) std::exchange(list, list->next)->wake();
}

// At most one of the two; neither tells the worker to stop.
struct ThreadPool::Job {
  Work* work = nullptr;
  SharedTask* shared = nullptr;
  explicit operator bool() const { return work || shared; }
};

namespace {

struct Pools {
  std::mutex making;   // held while a pool is made
  std::mutex sharing;  // held while cores change hands
  std::array<std::atomic<ThreadPool*>, max_devices> pools{};
};

// Never destroyed: static arrays may outlive every static of ours. The pools' threads do stop.
Pools& pools() {
  static Pools* pools = new Pools;
  return *pools;
}

}  // namespace

ThreadPool& ThreadPool::of(const Device& device) {
  auto& pool = pools().pools[static_cast<std::size_t>(device.index())];
  if (ThreadPool* made = pool.load(std::memory_order_acquire)) return *made;
  std::lock_guard lock(pools().making);
  struct Stop {
    ~Stop() {
      if (is_orphan()) return;  // there are no threads to stop
      for (auto& pool : pools().pools) {
        if (ThreadPool* made = pool.load(std::memory_order_acquire)) made->stop();
      }
    }
  };
  static Stop stop;
  threads_begin();
  if (!pool.load()) {
    pool.store(new ThreadPool(device));
    try {
      pool.load()->resize(cores(device));  // they may have changed hands before it could be found
    } catch (...) {
      pool.store(nullptr);  // the next call asks again; who has found it keeps it
      throw;
    }
  }
  return *pool.load();
}

ThreadPool* ThreadPool::find(const Device& device) {
  if (device.kind() != DeviceKind::cpu) return nullptr;
  return pools().pools[static_cast<std::size_t>(device.index())].load(std::memory_order_acquire);
}

void ThreadPool::share_out_cores() {
  std::lock_guard lock(pools().sharing);
  for (auto& pool : pools().pools) {
    ThreadPool* made = pool.load();
    if (made) made->resize(cores(made->device_));
  }
}

ThreadPool::ThreadPool(Device device) : device_(device) { resize(cores(device)); }

// Threads that have to go finish what they are at; the others look for what those leave behind.
void ThreadPool::resize(CoreRange cores) {
  const auto count = static_cast<std::size_t>(cores.count);
  std::vector<std::unique_ptr<Worker>> leaving;
  Worker* woken = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    seats_.reserve(cores.count);
    for (; workers_.size() > count; workers_.pop_back()) {
      leaving.push_back(std::move(workers_.back()));
      leaving.back()->leaves = true;
    }
    add_workers_locked(count);
    size_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    first_core_.store(cores.first, std::memory_order_relaxed);
    woken = std::exchange(sleepers_, nullptr);
  }
  wake(woken);
  for (auto& worker : leaving) worker->thread.join();
}

// As many as the system grants, up to `count` in all: results do not depend on how many there are.
void ThreadPool::add_workers_locked(std::size_t count) {
  try {
    workers_.reserve(count);
    while (workers_.size() < count) {
      auto made = std::make_unique<Worker>();
      Worker& worker = *made;
      worker.index = static_cast<int>(workers_.size());
      worker.thread = std::thread([this, &worker] { work_loop(worker); });
      workers_.push_back(std::move(made));
    }
  } catch (const std::exception& error) {
    if (!workers_.empty()) return;
    throw Error(to_string(device_) +
                ": the system grants no thread to run programs on: " + error.what() +
                "; raise the limit on threads (ulimit -u, or pids.max of the control group), or "
                "free memory");
  }
}

void ThreadPool::stop() {
  Worker* sleepers = nullptr;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    sleepers = std::exchange(sleepers_, nullptr);
  }
  wake(sleepers);
  for (auto& worker : workers_) {
    if (this_pool == this && worker->index == this_worker) {
      worker->thread.detach();  // a task called exit()
    } else {
      worker->thread.join();
    }
  }
}

bool ThreadPool::on_worker() { return this_pool != nullptr; }
bool ThreadPool::is_helping_waiter() { return this_waiter_waits_for != nullptr; }
bool ThreadPool::waiter_may_leave() {
  return is_helping_waiter() && this_waiter_waits_for->load(std::memory_order_acquire) != 0;
}
bool ThreadPool::is_needed_elsewhere() {
  return waiter_may_leave() ||
         (this_pool && this_pool->queued_hint_.load(std::memory_order_relaxed) > 0);
}

void ThreadPool::in_user_call(bool is_inside) {
  if (this_pool) this_pool->in_users_.fetch_add(is_inside ? 1 : -1, std::memory_order_relaxed);
}

bool ThreadPool::only_users_run() {
  return std::ranges::none_of(pools().pools, [](const auto& made) {
    ThreadPool* pool = made.load(std::memory_order_acquire);
    if (!pool) return false;
    std::lock_guard lock(pool->mutex_);
    const bool is_idle = pool->seats_.taken() == pool->in_users_.load(std::memory_order_relaxed);
    return !is_idle || (pool->has_work() && pool->seats_.taken() < pool->size());
  });
}

timeline::Track ThreadPool::worker_track() {
  if (!this_pool || is_helping_waiter()) return {};
  const int core = this_pool->first_core_.load(std::memory_order_relaxed) + this_worker;
  return {timeline::Track::Kind::worker, this_pool->device_, static_cast<std::uint32_t>(core)};
}

// What runs after the pool has stopped has none.
int ThreadPool::seat_of_this_thread() { return std::max(this_seat, 0); }
void ThreadPool::take_seat_locked() {
  this_seat = last_seat = seats_.take(last_seat, current_core());
}
void ThreadPool::leave_seat_locked() { seats_.leave(std::exchange(this_seat, Seats::none)); }

// A thread of the user's stays where it is.
bool ThreadPool::is_crowded_locked() {
  if (this_seat == Seats::none || is_helping_waiter()) return false;
  const int core = current_core();
  seats_.set_core(this_seat, core);
  return core != no_core && (core == waiter_core_ || seats_.is_used_beside(this_seat, core));
}

void ThreadPool::leave_crowded_core() {
  leave_core();
  std::lock_guard lock(mutex_);
  seats_.set_core(this_seat, current_core());
}

void ThreadPool::job_is_ending() {
  if (!this_pool || is_helping_waiter() || this_job_is_ending) return;
  this_job_is_ending = true;
  this_pool->ending_.fetch_add(1, std::memory_order_relaxed);
}

// A worker that spins, or is about to look, will find the work by itself; where every core is at
// work, the first that is done will. While the pool stops, each has to see whether work is left.
ThreadPool::Worker* ThreadPool::sleepers_to_wake(int wanted) {
  if (stopping_) return std::exchange(sleepers_, nullptr);
  Worker* woken = nullptr;
  wanted -= spinners_ + ending_.load(std::memory_order_relaxed);
  wanted = std::min(wanted, size() - seats_.taken());
  for (; wanted > 0 && sleepers_; --wanted) {
    Worker* worker = std::exchange(sleepers_, sleepers_->next);
    worker->next = std::exchange(woken, worker);
  }
  return woken;
}

void ThreadPool::post(Work& work) {
  Worker* woken = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (stopping_ && (this_pool != this || is_helping_waiter())) {
      lock.unlock();
      // A helping waiter stays: no other thread is left that would continue.
      const auto* kept = std::exchange(this_waiter_waits_for, nullptr);
      work.run(work);
      this_waiter_waits_for = kept;
      return;
    }
    work.next = nullptr;
    (queue_head_ ? queue_tail_->next : queue_head_) = &work;
    queue_tail_ = &work;
    is_from_outside_.store(!this_pool && work.part_of, std::memory_order_relaxed);
    queued_hint_.fetch_add(1, std::memory_order_relaxed);
    posts_.fetch_add(1, std::memory_order_relaxed);
    if (!work.part_of || work.part_of != awaited_) woken = sleepers_to_wake(1);
  }
  wake(woken);
}

void ThreadPool::open(SharedTask& shared, int helpers) {
  shared.helpers_.store(helpers, std::memory_order_relaxed);
  bool is_crowded = false;
  {
    std::lock_guard lock(mutex_);
    is_crowded = is_crowded_locked();
    shared.open_ = true;
    shared.next_open_ = std::exchange(open_tasks_, &shared);
    open_hint_.fetch_add(1, std::memory_order_relaxed);
  }
  if (is_crowded) leave_crowded_core();
  const auto none_wanted = [&] { return shared.helpers_.load(std::memory_order_relaxed) == 0; };
  if (spin_until(none_wanted, until_host_helps)) return;
  Worker* woken = nullptr;
  {
    std::lock_guard lock(mutex_);
    const int wanted = shared.helpers_.load(std::memory_order_relaxed);
    woken = sleepers_to_wake(std::min(wanted, 2));  // they wake further ones
  }
  wake(woken);
}

// Helping comes first: it brings what has begun to its end sooner.
ThreadPool::Job ThreadPool::take_locked() {
  if (seats_.taken() >= size()) return {};
  if (SharedTask* shared = join_locked()) return {.shared = shared};
  if (!queue_head_) return {};
  queued_hint_.fetch_sub(1, std::memory_order_relaxed);
  return {.work = std::exchange(queue_head_, queue_head_->next)};
}

void ThreadPool::help_until(const std::atomic<std::uint32_t>& happened, nanoseconds patience,
                            const void* maker) {
  const auto ready = [&] { return happened.load(std::memory_order_acquire) != 0; };
  if (this_pool) {
    spin_until(ready, patience);  // it may be in the midst of a task
    return;
  }
  std::uint32_t posts = 0;
  const auto ready_or_more = [&] {
    return ready() || open_hint_.load(std::memory_order_relaxed) > 0 ||
           (maker && posts_.load(std::memory_order_relaxed) != posts);
  };
  bool goes_on = true;
  while (goes_on && !ready()) {
    std::unique_lock lock(mutex_);
    posts = posts_.load(std::memory_order_relaxed);
    if (seats_.taken() >= size()) {
      lock.unlock();
      goes_on = spin_until(ready, patience);
    } else if (Job job = take_as_waiter_locked(maker)) {
      take_seat_locked();
      lock.unlock();
      run_as_waiter(job, happened, maker);
      lock.lock();
      leave_seat_locked();
    } else {
      awaited_ = maker;
      waiter_core_ = current_core();
      lock.unlock();
      goes_on = spin_until(ready_or_more, patience);
      lock.lock();
      awaited_ = nullptr;
      waiter_core_ = no_core;
    }
  }
  // Workers have slept on, as this thread was there.
  Worker* woken = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (has_work() || stopping_) woken = sleepers_to_wake(1);
  }
  wake(woken);
}

// Ranges of any task, and of what is queued only a part of what the helping waiter waits for.
ThreadPool::Job ThreadPool::take_as_waiter_locked(const void* maker) {
  if (SharedTask* shared = join_locked()) return {.shared = shared};
  Work* before = nullptr;
  for (Work* work = maker ? queue_head_ : nullptr; work; before = std::exchange(work, work->next)) {
    if (work->part_of != maker) continue;
    (before ? before->next : queue_head_) = work->next;
    if (queue_tail_ == work) queue_tail_ = before;
    queued_hint_.fetch_sub(1, std::memory_order_relaxed);
    return {.work = work};
  }
  return {};
}

// What follows a task of others may take long: that is for a worker.
void ThreadPool::run_as_waiter(const Job& job, const std::atomic<std::uint32_t>& happened,
                               const void* maker) {
  const DefaultFloats floats;
  Work* work = job.work;
  if (job.shared) {
    Work& after = *job.shared->after;
    const auto is_last = [&] {
      const HelpingWaiter here(*this, happened);
      return run_ranges(*job.shared);
    };
    if (!is_last()) return;
    if (!maker || after.part_of != maker) return post(after);
    work = &after;
  }
  const HelpingWaiter here(*this, happened);
  work->run(*work);
}

// Whoever has just submitted the only work there is may come to wait for it. Its core then has in
// its cache what the run before wrote; a worker would fetch that from there.
void ThreadPool::leave_to_host() const {
  const auto is_alone = [this] {
    return queued_hint_.load(std::memory_order_relaxed) == 1 &&
           open_hint_.load(std::memory_order_relaxed) == 0 &&
           is_from_outside_.load(std::memory_order_relaxed);
  };
  spin_until([&] { return !is_alone(); }, until_host_helps);
}

ThreadPool::Job ThreadPool::take(Worker& worker) {
  std::unique_lock lock(mutex_);
  if (std::exchange(this_job_is_ending, false)) ending_.fetch_sub(1, std::memory_order_relaxed);
  if (this_seat != Seats::none) leave_seat_locked();
  while (!worker.leaves) {
    if (Job job = take_locked()) {
      take_seat_locked();
      const bool is_crowded = is_crowded_locked();
      Worker* woken = has_work() ? sleepers_to_wake(2) : nullptr;
      lock.unlock();
      wake(woken);
      if (is_crowded) leave_crowded_core();
      return job;
    }
    if (stopping_ && !has_work()) break;
    // One spinner is enough to take up what comes, and leaves the other cores to their work.
    const int at_work =
        seats_.taken() + (awaited_ ? 1 : 0);  // a helping waiter that looks for work has a core too
    if (spinners_ == 0 && at_work < size()) {
      ++spinners_;
      lock.unlock();
      const bool expects = expected_.load(std::memory_order_relaxed) > 0;
      const auto has_any = [this] {
        return queued_hint_.load(std::memory_order_relaxed) > 0 ||
               open_hint_.load(std::memory_order_relaxed) > 0;
      };
      const bool found = spin_until(has_any, expects ? spin_for_expected : worker.spin);
      worker.spin = found ? longest_spin : std::max(shortest_spin, worker.spin / 2);
      if (found) leave_to_host();
      lock.lock();
      --spinners_;
      // What was found and is gone will be followed by more.
      if (found || has_work() || stopping_ || worker.leaves) continue;
    }
    worker.awake.store(0, std::memory_order_relaxed);
    worker.next = std::exchange(sleepers_, &worker);
    lock.unlock();
    worker.awake.wait(0, std::memory_order_acquire);
    lock.lock();
  }
  // While it was busy, others may have left work alone; while the pool stops, they sleep until all
  // of it is done.
  Worker* woken = nullptr;
  if (has_work() || stopping_) woken = sleepers_to_wake(1);
  lock.unlock();
  wake(woken);
  return {};
}

void ThreadPool::work_loop(Worker& worker) {
  this_pool = this;
  this_worker = worker.index;
  const DefaultFloats floats;  // the environment is that of the thread that made this one
  while (Job job = take(worker)) {
    if (job.work) {
      job.work->run(*job.work);
    } else {
      Work* after = job.shared->after;
      if (run_ranges(*job.shared)) after->run(*after);
    }
  }
}

}  // namespace anabranch::cpu
