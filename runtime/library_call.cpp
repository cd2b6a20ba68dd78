#include "runtime/library_call.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/fork.h"
#include "runtime/gate.h"

namespace anabranch {
namespace {

constinit thread_local int depth = 0;  // how often this thread is inside
constinit Gate gate;
std::atomic<std::thread::id> leaving;  // written before the gate is closed

bool enter() {
  if (depth == 0 && !gate.enter()) return false;
  ++depth;
  return true;
}

// Called once for each registration: all but the first find it done. A forked child has none of the
// threads that were inside.
void close() {
  if (gate.is_closed() || is_orphan()) return;
  leaving = std::this_thread::get_id();
  gate.close();
}

}  // namespace

LibraryCall::LibraryCall(const char* library) : LibraryCall(std::nothrow) {
  static const int registered = std::atexit(close);
  static_cast<void>(registered);
  if (is_allowed_) return;
  // The thread that leaves waits for those of the pools in turn.
  const bool is_waited_for =
      leaving.load() == std::this_thread::get_id() || cpu::ThreadPool::on_worker();
  if (!is_waited_for) gate.hold_up();
  throw Error(std::string("the process is leaving main, and ") + library + " is gone");
}

LibraryCall::LibraryCall(std::nothrow_t) noexcept : is_allowed_(enter()) {}

LibraryCall::~LibraryCall() {
  if (is_allowed_ && --depth == 0) gate.leave();
}

void LibraryCall::end_before_library() { std::atexit(close); }

}  // namespace anabranch
