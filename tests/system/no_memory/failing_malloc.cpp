#include "failing_malloc.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace anabranch::testing {
namespace {

struct State {
  bool armed = false;
  Shortage shortage;
  long asked = 0, refused = 0;
};

constinit thread_local State state;

// For all threads but the one that has set it.
constinit std::atomic<bool> is_armed_elsewhere{false};
constinit std::atomic<long> left_elsewhere{0};
constinit thread_local bool is_spared = false;

bool refuses_elsewhere() {
  if (!is_armed_elsewhere.load(std::memory_order_relaxed) || is_spared) return false;
  if (left_elsewhere.fetch_sub(1) != 0) return false;
  errno = ENOMEM;
  return true;
}

// Whether this allocation is refused.
bool refuses(std::size_t bytes) {
  if (!state.armed) return refuses_elsewhere();
  if (bytes < state.shortage.least) return false;
  const long number = state.asked++;
  const Shortage& shortage = state.shortage;
  if (shortage.lasts ? number < shortage.after : number != shortage.after) return false;
  ++state.refused;
  errno = ENOMEM;
  return true;
}

}  // namespace

OutOfMemory::OutOfMemory(const Shortage& shortage) {
  state = {.armed = true, .shortage = shortage};
}
OutOfMemory::~OutOfMemory() { state.armed = false; }
long OutOfMemory::asked() { return state.asked; }
long OutOfMemory::refused() { return state.refused; }

OutOfMemoryElsewhere::OutOfMemoryElsewhere(long after) {
  is_spared = true;
  left_elsewhere = after;
  is_armed_elsewhere = true;
}
OutOfMemoryElsewhere::~OutOfMemoryElsewhere() { is_armed_elsewhere = false; }
bool OutOfMemoryElsewhere::refused() const { return left_elsewhere < 0; }

}  // namespace anabranch::testing

// In place of glibc's, for every library of the process; operator new is made of malloc.

using anabranch::testing::refuses;

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) { return refuses(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return refuses(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return refuses(bytes) ? nullptr : __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return refuses(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  void* memory = memalign(alignment, bytes);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if (refuses(bytes)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

}  // extern "C"
