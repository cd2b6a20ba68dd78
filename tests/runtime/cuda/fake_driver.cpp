#include "fake_driver.h"

#include <cstdlib>

namespace anabranch::testing {
namespace {

// Freed memory goes back to the pretended driver, which knows who touches it then; a run of the
// program that is to keep it says so (runtime_cuda.keeps_memory).
[[maybe_unused]] const bool gives_memory_back =
    is_pretended() && setenv("ANABRANCH_KEEP_MEMORY", "0", 0) == 0;

}  // namespace
}  // namespace anabranch::testing
