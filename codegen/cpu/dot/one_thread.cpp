#include "codegen/cpu/dot/one_thread.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>
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
  Gate() { close_on_exit(); }

  static Gate& gate() {
    static Gate* gate = new Gate;  // threads may stay in it until the process is gone
    return *gate;
  }

  // A thread that is inside may come again: it must go on, so that it can leave.
  void enter() {
    if (depth_ == 0) come_in();
    ++depth_;
  }
  void leave() {
    if (--depth_ == 0) go_out();
  }

  // What oneDNN makes at its first product by such code is destroyed before what was registered
  // earlier: so first a product, then this gate once more. It takes 20 ms, which code for AVX-512
  // does without.
  void make_gemm() {
    std::call_once(gemm_, [] {
      const float one[64] = {};
      float sum[64];
      dnnl_sgemm('N', 'N', 8, 8, 8, 1, one, 8, one, 8, 0, sum, 8);
      close_on_exit();
    });
  }

 private:
  static void close_on_exit() {
    std::atexit([] { gate().close(); });
  }

  void come_in() {
    std::unique_lock lock(mutex_);
    if (closed_ && leaving_ == std::this_thread::get_id()) {
      throw Error("dot: the process is leaving main, and oneDNN is gone");
    }
    never_.wait(lock, [this] { return !closed_; });
    ++inside_;
  }
  void go_out() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0 && closed_) empty_.notify_all();
  }

  // Registered twice where make_gemm is called: the second call finds it done.
  void close() {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    leaving_ = std::this_thread::get_id();
    empty_.wait(lock, [this] { return inside_ == 0; });
  }

  inline static thread_local int depth_ = 0;  // how often this thread is inside
  std::once_flag gemm_;
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

void OneThread::prepare(std::string_view implementation) const {
  if (!implementation.starts_with("brg") && !implementation.starts_with("jit")) {
    Gate::gate().make_gemm();
  }
}

OneThread::~OneThread() {
  if (before_ != 1) openmp().set_threads(before_);
  Gate::gate().leave();
}

}  // namespace anabranch::cpu
