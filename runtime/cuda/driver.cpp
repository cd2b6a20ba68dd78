#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>

#include "anabranch/error.h"

namespace anabranch::cuda {
namespace {

constinit std::atomic<bool> is_forked{false};

constexpr const char* file = "libcuda.so.1";
// Cubins of one major version of the compiler need a driver of the same or of a later one.
constexpr int needed_version = CUDA_VERSION / 1000 * 1000;

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// cuda.h renames functions to their newest versions; a macro's argument is renamed only when it
// goes through another macro.
#define ANABRANCH_CUDA_TEXT(name) #name
#define ANABRANCH_CUDA_NAME(name) ANABRANCH_CUDA_TEXT(name)

Driver opened() {
  Driver driver;
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    driver.missing = "there is no NVIDIA driver";
    if (const char* why = dlerror()) driver.missing += fmt::format(" ({})", why);
    return driver;
  }
  // First what every driver has: an old one lacks some of the rest.
  driver.cuDriverGetVersion =
      reinterpret_cast<decltype(&::cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (!driver.cuDriverGetVersion || driver.cuDriverGetVersion(&version) != CUDA_SUCCESS) {
    driver.missing = fmt::format("{} does not say its version", file);
    return driver;
  }
  if (version < needed_version) {
    driver.missing =
        fmt::format("the NVIDIA driver is for CUDA {}; one for CUDA {} or later is needed",
                    version_text(version), version_text(needed_version));
    return driver;
  }
#define ANABRANCH_CUDA_FIND(name)                                                               \
  driver.name = reinterpret_cast<decltype(&::name)>(dlsym(library, ANABRANCH_CUDA_NAME(name))); \
  if (!driver.name) {                                                                           \
    driver.missing = fmt::format("{} has no {}", file, ANABRANCH_CUDA_NAME(name));              \
    return driver;                                                                              \
  }
  ANABRANCH_CUDA_DRIVER(ANABRANCH_CUDA_FIND)
#undef ANABRANCH_CUDA_FIND
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) {
    const char* name = nullptr;
    driver.cuGetErrorName(result, &name);
    driver.missing = fmt::format("the NVIDIA driver finds no GPU ({})", name ? name : "cuInit");
    return driver;
  }
  pthread_atfork(nullptr, nullptr, [] { is_forked.store(true, std::memory_order_relaxed); });
  LibraryCall::end_before_library();
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver* driver = new Driver(opened());
  return *driver;
}

void check_not_forked() {
  if (!is_forked.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  throw Error(
      "a GPU: this process was forked from one that had opened the CUDA driver, which works in no "
      "child; fork before the first program runs and before devices() is asked, or let the child "
      "call exec");
}

void enter(CUcontext context) {
  check_not_forked();
  check(driver().cuCtxSetCurrent(context), "entering a GPU's context");
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_DEINITIALIZED) {
    throw Error(fmt::format("{}: the process is leaving main, and the CUDA driver is gone", what));
  }
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  throw Error(fmt::format("{}: {}: {}", what, name ? name : "unknown error", text ? text : ""));
}

}  // namespace anabranch::cuda
