#include "codegen/linalg/lapack.h"

#include <omp.h>

#include <semaphore>

#include "codegen/linalg/kernels.h"

namespace anabranch::lapack {
namespace {

// OpenBLAS has a buffer for each of 128 calls at once, and says so on the standard error where
// there are more.
constexpr int most_calls = 100;

std::counting_semaphore<most_calls>& calls() {
  static auto* calls = new std::counting_semaphore<most_calls>(most_calls);  // never destroyed
  return *calls;
}

}  // namespace

LapackCall::LapackCall() : call_("OpenBLAS") {
  [[maybe_unused]] static const bool is_ready = (choose_kernels(), true);
  calls().acquire();
  threads_before_ = omp_get_max_threads();
  if (threads_before_ != 1) omp_set_num_threads(1);
}

LapackCall::~LapackCall() {
  if (threads_before_ != 1) omp_set_num_threads(threads_before_);
  calls().release();
}

}  // namespace anabranch::lapack
