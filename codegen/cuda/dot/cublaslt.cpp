#include "codegen/cuda/dot/cublaslt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "anabranch/error.h"
#include "runtime/cuda/gpu.h"

namespace anabranch::cuda {
namespace {

CublasLt opened() {
  CublasLt library;
  const std::string file = fmt::format("libcublasLt.so.{}", CUDART_MAJOR);
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    library.missing = fmt::format(
        "there is no {} ({}); install cuBLAS of CUDA {}, or add its folder to LD_LIBRARY_PATH",
        file, why ? why : "not found", CUDART_MAJOR);
    return library;
  }
#define ANABRANCH_CUBLASLT_FIND(name)                                                              \
  library.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));                        \
  if (!library.name) {                                                                             \
    library.missing =                                                                              \
        fmt::format("{} has no {}; install a later cuBLAS of CUDA {}", file, #name, CUDART_MAJOR); \
    return library;                                                                                \
  }
  ANABRANCH_CUBLASLT(ANABRANCH_CUBLASLT_FIND)
#undef ANABRANCH_CUBLASLT_FIND
  return library;
}

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt* library = new CublasLt(opened());
  return *library;
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(fmt::format("{}: {}", what, cublaslt().cublasLtGetStatusName(status)));
}

cublasLtHandle_t cublaslt_handle(int gpu) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, cublasLtHandle_t>;
  if (!cublaslt().missing.empty()) throw Error("dot on a GPU: " + cublaslt().missing);
  const Gpu& on = Gpu::of(gpu);
  std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = (*handles)[gpu];
  if (!handle) {
    on.enter();
    check(cublaslt().cublasLtCreate(&handle), "opening cuBLASLt");
    LibraryCall::end_before_library();
  }
  return handle;
}

}  // namespace anabranch::cuda
