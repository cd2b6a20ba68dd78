#include "codegen/cpu/dot/one_thread.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <string_view>

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

// What oneDNN makes at its first product by such code is destroyed before what was registered
// earlier: so first a product, then calls are ended before it once more. It takes 20 ms, which code
// for AVX-512 does without.
void make_gemm() {
  static const bool made = [] {
    const float one[64] = {};
    float sum[64];
    dnnl_sgemm('N', 'N', 8, 8, 8, 1, one, 8, one, 8, 0, sum, 8);
    LibraryCall::end_before_library();
    return true;
  }();
  static_cast<void>(made);
}

}  // namespace

OneThread::OneThread() : call_("oneDNN") {
  if (!openmp()) return;
  before_ = openmp().max_threads();
  if (before_ != 1) openmp().set_threads(1);
}

void OneThread::prepare(std::string_view implementation) const {
  if (!implementation.starts_with("brg") && !implementation.starts_with("jit")) {
    make_gemm();
  }
}

OneThread::~OneThread() {
  if (before_ != 1) openmp().set_threads(before_);
}

}  // namespace anabranch::cpu
