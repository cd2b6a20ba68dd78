#include "runtime/library_call.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/fork.h"

namespace anabranch {
namespace {

constinit thread_local int depth = 0;   // how often this thread is inside
constinit std::atomic<int> inside = 0;  // threads
constinit std::atomic<bool> is_closed = false;
std::atomic<std::thread::id> leaving;  // written before is_closed

void leave() {
  if (inside.fetch_sub(1) == 1 && is_closed) inside.notify_all();
}

bool enter() {
  if (depth == 0) {
    inside.fetch_add(1);
    if (is_closed) {
      leave();
      return false;
    }
  }
  ++depth;
  return true;
}

// Called once for each registration: all but the first find it done. A forked child has none of the
// threads that were inside.
void close() {
  if (is_closed || is_orphan()) return;
  leaving = std::this_thread::get_id();
  is_closed = true;
  while (const int count = inside) inside.wait(count);
}

}  // namespace

LibraryCall::LibraryCall(const char* library) : LibraryCall(std::nothrow) {
  static const int registered = std::atexit(close);
  static_cast<void>(registered);
  if (is_allowed_) return;
  // The thread that leaves waits for those of the pools in turn.
  const bool is_waited_for =
      leaving.load() == std::this_thread::get_id() || cpu::ThreadPool::on_worker();
  if (!is_waited_for) is_closed.wait(true);  // which it stays
  throw Error(std::string("the process is leaving main, and ") + library + " is gone");
}

LibraryCall::LibraryCall(std::nothrow_t) noexcept : is_allowed_(enter()) {}

LibraryCall::~LibraryCall() {
  if (is_allowed_ && --depth == 0) leave();
}

void LibraryCall::end_before_library() { std::atexit(close); }

}  // namespace anabranch
