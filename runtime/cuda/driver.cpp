#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "anabranch/error.h"

namespace anabranch::cuda {
namespace {

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
  }
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver* driver = new Driver(opened());
  return *driver;
}

void enter(CUcontext context) {
  check(driver().cuCtxSetCurrent(context), "entering a GPU's context");
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  throw Error(fmt::format("{}: {}: {}", what, name ? name : "unknown error", text ? text : ""));
}

}  // namespace anabranch::cuda
