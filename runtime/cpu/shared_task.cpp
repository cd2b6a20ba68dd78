// How a task is shared out among the threads of a pool.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/cpu/shares.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/timeline/record.h"

namespace anabranch::cpu {
namespace {

// A thread takes this part of what is left of a share, so that pieces shrink towards the end and
// all threads finish together (guided self-scheduling: Polychronopoulos and Kuck, IEEE Transactions
// on Computers 36(12), 1987; by shares that keep their threads: Markatos and LeBlanc, "Using
// processor affinity in loop scheduling", IEEE Transactions on Parallel and Distributed Systems
// 5(4), 1994).
constexpr std::int64_t part_of_share = 2;

thread_local SharedTask* this_shared = nullptr;

std::int64_t multiple_above(std::int64_t number, std::int64_t factor) {
  return (number + factor - 1) / factor * factor;
}

}  // namespace

bool ThreadPool::run_shared(SharedTask& shared) {
  const HostTask& task = *shared.task;
  shared.pool_ = this;
  shared.running_.store(1, std::memory_order_relaxed);
  shared.failed_.store(false, std::memory_order_relaxed);
  shared.busy_.store(0, std::memory_order_relaxed);
  shared.error = nullptr;
  if (task.share) {
    try {
      shared.in_common_ = task.share(task.context.get(), shared.buffers);
    } catch (...) {
      shared.error = std::current_exception();
      shared.running_.store(0, std::memory_order_relaxed);
      return true;
    }
  }
  const int threads = share_out(shared);
  if (threads > 1 && !task.invites) open(shared, threads - 1);
  return run_ranges(shared);
}

// How many threads have something to do.
int ThreadPool::share_out(SharedTask& shared) const {
  const HostTask& task = *shared.task;
  const std::int64_t grain = std::max<std::int64_t>(task.grain, 1);
  const std::int64_t grains = (task.extent + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<std::int64_t>(size(), grains));
  const int count = std::clamp(threads, 1, SharedTask::most_shares);
  for (int i = 0; i < count; ++i) {
    SharedTask::Share& share = shared.shares_[i];
    share.next.store(share_begin(task, i, count), std::memory_order_relaxed);
    share.end = share_begin(task, i + 1, count);
  }
  shared.share_count_ = count;
  return threads;
}

// Whether this was the last to finish.
bool ThreadPool::run_ranges(SharedTask& shared) {
  if (shared.is_timed) {
    const auto begin = std::chrono::steady_clock::now();
    take_ranges(shared);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
    shared.busy_.fetch_add(spent.count(), std::memory_order_relaxed);
  } else {
    take_ranges(shared);
  }
  close(shared);
  const bool is_last = shared.running_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (is_last) shared.in_common_.reset();
  return is_last;
}

// The next iterations of the task for the calling thread, of its own share or of another's; none
// when all are taken.
std::pair<std::int64_t, std::int64_t> ThreadPool::take_range(SharedTask& shared) {
  const HostTask& task = *shared.task;
  const std::int64_t least = multiple_above(std::max<std::int64_t>(task.grain, 1), task.cut);
  const int count = shared.share_count_;
  const int home = seat_of_this_thread();
  for (int i = 0; i < count; ++i) {
    SharedTask::Share& share = shared.shares_[(home + i) % count];
    std::int64_t begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end) {
      const std::int64_t left = share.end - begin;
      const std::int64_t part = std::max(multiple_above(left / part_of_share, task.cut), least);
      const std::int64_t end = left - part < least ? share.end : begin + part;  // no rest
      if (share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) {
        return {begin, end};
      }
    }
  }
  return {};
}

void ThreadPool::take_ranges(SharedTask& shared) {
  const HostTask& task = *shared.task;
  const void* context = task.share ? shared.in_common_.get() : task.context.get();
  SharedTask* const before = std::exchange(this_shared, &shared);
  timeline::Span span(shared.name, timeline::Category::range, worker_track(),
                      {.location = shared.location});
  while (!shared.failed_.load(std::memory_order_relaxed)) {
    const auto [begin, end] = take_range(shared);
    if (begin == end) break;
    try {
      task.function(context, shared.buffers, begin, end);
    } catch (...) {
      if (!shared.failed_.exchange(true)) shared.error = std::current_exception();
    }
  }
  this_shared = before;
}

void ThreadPool::invite() {
  SharedTask& shared = *this_shared;
  if (shared.share_count_ > 1) shared.pool_->open(shared, shared.share_count_ - 1);
}

// After this, no thread joins any more.
void ThreadPool::close(SharedTask& shared) {
  std::lock_guard lock(mutex_);
  if (shared.open_) close_locked(shared);
}

void ThreadPool::close_locked(SharedTask& shared) {
  shared.open_ = false;
  open_hint_.fetch_sub(1, std::memory_order_relaxed);
  SharedTask** link = &open_tasks_;
  while (*link != &shared) link = &(*link)->next_open_;
  *link = shared.next_open_;
}

// The one that has the fewest threads.
SharedTask* ThreadPool::join_locked() {
  SharedTask* shared = open_tasks_;
  if (!shared) return nullptr;
  for (SharedTask* other = shared->next_open_; other; other = other->next_open_) {
    if (other->running_.load(std::memory_order_relaxed) <
        shared->running_.load(std::memory_order_relaxed)) {
      shared = other;
    }
  }
  shared->running_.fetch_add(1, std::memory_order_relaxed);
  if (shared->helpers_.fetch_sub(1, std::memory_order_relaxed) == 1) close_locked(*shared);
  return shared;
}

}  // namespace anabranch::cpu
