#include "codegen/cpu/dot/one_thread.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

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

}  // namespace

OneThread::OneThread() {
  if (!openmp()) return;
  before_ = openmp().max_threads();
  if (before_ != 1) openmp().set_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1) openmp().set_threads(before_);
}

}  // namespace anabranch::cpu
