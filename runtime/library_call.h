// LibraryCall: a thread's stay in a library that a process takes apart when it leaves main.
#pragma once

#include <new>

namespace anabranch {

/// oneDNN, OpenBLAS, the CUDA driver and what is built on it destroy their own state in a process
/// that leaves main. Before that it waits for the threads that are inside of one of them, and keeps
/// out those that come. A thread that is inside may come again: it must go on, so that it can
/// leave.
class LibraryCall {
 public:
  /// Once the process leaves main: throws Error, with `library`'s name, in the thread that does and
  /// in those of the pools, for which it waits, and holds up others for good. For callers without
  /// locks.
  explicit LibraryCall(const char* library);
  /// Returns whatever happens; `is_allowed` says whether the library may be called.
  explicit LibraryCall(std::nothrow_t) noexcept;
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  bool is_allowed() const { return is_allowed_; }

  /// To be called once a library has been loaded at run time, and again once one has made more that
  /// lives as long as the process: what was registered last for its end comes first. Those that are
  /// linked need no more than the first call.
  static void end_before_library();

 private:
  const bool is_allowed_;
};

}  // namespace anabranch
