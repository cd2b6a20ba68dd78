// What ducc0 asks of a program that brings threads of its own. A transform runs on the thread that
// calls it, and several of ours call at once: the library's cache of plans needs real locks, which
// its build without threads has not.
#pragma once

#include <condition_variable>
#include <mutex>

#include "ducc0/infra/threading.h"

namespace DUCC0_NAMESPACE {
namespace detail_threading {

using Mutex = std::mutex;
using UniqueLock = std::unique_lock<std::mutex>;
using LockGuard = std::lock_guard<std::mutex>;
using CondVar = std::condition_variable;

class CallingThread : public thread_pool {
 public:
  std::size_t nthreads() const override { return 1; }
  std::size_t adjust_nthreads(std::size_t) const override { return 1; }
  void submit(std::function<void()> work) override { work(); }
};

inline thread_pool* get_active_pool() {
  static auto* pool = new CallingThread;  // which transforms use until the process has ended
  return pool;
}
inline thread_pool* set_active_pool(thread_pool*) { return get_active_pool(); }

inline thread_local bool in_parallel_region = false;

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE
