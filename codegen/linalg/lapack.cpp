#include "codegen/linalg/lapack.h"

#include <omp.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "anabranch/error.h"

namespace anabranch::lapack {
namespace {

// OpenBLAS has a buffer for each of 128 calls at once, and says so on the standard error where
// there are more.
constexpr int most_calls = 100;

// A process that leaves main takes OpenBLAS apart: before that it waits here for the threads that
// are inside, and holds up those that come, for good; it throws Error where it comes itself.
class Calls {
 public:
  static Calls& all() {
    static Calls* calls = new Calls;  // threads may stay in it until the process is gone
    return *calls;
  }

  void begin() {
    std::unique_lock lock(mutex_);
    if (closed_ && leaving_ == std::this_thread::get_id()) {
      throw Error("linear algebra: the process is leaving main, and OpenBLAS is gone");
    }
    may_begin_.wait(lock, [this] { return !closed_ && running_ < most_calls; });
    ++running_;
  }
  void end() {
    std::lock_guard lock(mutex_);
    --running_;
    may_begin_.notify_one();
    if (running_ == 0) none_.notify_all();
  }

 private:
  Calls() {
    std::atexit([] { all().close(); });
  }
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    leaving_ = std::this_thread::get_id();
    none_.wait(lock, [this] { return running_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable may_begin_, none_;
  int running_ = 0;
  bool closed_ = false;
  std::thread::id leaving_;
};

}  // namespace

LapackCall::LapackCall() {
  Calls::all().begin();
  threads_before_ = omp_get_max_threads();
  if (threads_before_ != 1) omp_set_num_threads(1);
}

LapackCall::~LapackCall() {
  if (threads_before_ != 1) omp_set_num_threads(threads_before_);
  Calls::all().end();
}

}  // namespace anabranch::lapack
