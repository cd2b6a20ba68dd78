#include "codegen/cpu/dot/one_thread.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "anabranch/error.h"

namespace anabranch::cpu {
namespace {

// The OpenMP runtime that oneDNN itself is linked with, whichever that is; another one in this
// process would not answer for it.
struct OpenMp {
  void (*set_threads)(int) = nullptr;
  int (*max_threads)() = nullptr;

  OpenMp() {
    Dl_info where;
    if (!dladdr(reinterpret_cast<void*>(&dnnl_version), &where)) return;
    void* library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return;
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
    max_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  }
  explicit operator bool() const { return set_threads && max_threads; }
};

const OpenMp& openmp() {
  static const OpenMp found;
  return found;
}

// A process that leaves main destroys what oneDNN keeps. Before that it waits here for the threads
// that are inside; it holds up those that come, for good, and throws Error where it comes itself.
class Gate {
 public:
  Gate() {
    // What oneDNN makes at its first product (its kernels of before AVX-512) is destroyed before
    // what was registered earlier: so first a product, then this.
    const float one[64] = {};
    float sum[64];
    dnnl_sgemm('N', 'N', 8, 8, 8, 1, one, 8, one, 8, 0, sum, 8);
    std::atexit([] { gate().close(); });
  }

  static Gate& gate() {
    static Gate* gate = new Gate;  // threads may stay in it until the process is gone
    return *gate;
  }

  void enter() {
    std::unique_lock lock(mutex_);
    if (closed_ && leaving_ == std::this_thread::get_id()) {
      throw Error("dot: the process is leaving main, and oneDNN is gone");
    }
    never_.wait(lock, [this] { return !closed_; });
    ++inside_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0 && closed_) empty_.notify_all();
  }

 private:
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    leaving_ = std::this_thread::get_id();
    empty_.wait(lock, [this] { return inside_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable empty_, never_;
  int inside_ = 0;
  bool closed_ = false;
  std::thread::id leaving_;
};

}  // namespace

OneThread::OneThread() {
  Gate::gate().enter();
  if (!openmp()) return;
  before_ = openmp().max_threads();
  if (before_ != 1) openmp().set_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1) openmp().set_threads(before_);
  Gate::gate().leave();
}

}  // namespace anabranch::cpu
