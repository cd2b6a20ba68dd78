#include "runtime/fork.h"

#include <pthread.h>

#include <atomic>
#include <string>

#include "anabranch/error.h"

namespace anabranch {
namespace {

constinit std::atomic<bool> orphan{false};

}  // namespace

void threads_begin() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { orphan.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

bool is_orphan() noexcept { return orphan.load(std::memory_order_relaxed); }

void check_no_orphan(const char* function) {
  if (!is_orphan()) [[likely]] {
    return;
  }
  throw Error(std::string(function) +
              ": this process was forked from one in which Anabranch runs, and has none of its "
              "threads; fork before the first program runs, or let the child call exec");
}

}  // namespace anabranch
