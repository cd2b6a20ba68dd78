// The functions that the library looks for in NVIDIA's libraries when it runs are there, by the
// names that cuda.h and cublasLt.h give them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "codegen/cuda/dot/cublaslt.h"
#include "runtime/cuda/driver.h"

namespace anabranch::testing {
namespace {

#define TEXT(name) #name
#define NAME(name) TEXT(name),

void expect_names(const char* file, std::initializer_list<const char*> names) {
  // It stays: what it allocates when it is opened does not go when it is closed.
  void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  ASSERT_TRUE(library) << dlerror();
  for (const char* name : names) EXPECT_TRUE(dlsym(library, name)) << file << " has no " << name;
  dlclose(library);
}

// The toolkit's stub says what a driver of its version has.
TEST(Toolkit, DriverHasWhatTheLibraryLooksFor) {
  expect_names(DRIVER_STUB, {ANABRANCH_CUDA_DRIVER(NAME)});
}

TEST(Toolkit, CublasLtHasWhatTheLibraryLooksFor) {
  expect_names(CUBLASLT_LIBRARY, {ANABRANCH_CUBLASLT(NAME)});
}

}  // namespace
}  // namespace anabranch::testing
