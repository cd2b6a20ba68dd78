// LeakedOnError: owns an object of LLVM's, and gives it up where an exception passes.
#pragma once

#include <exception>
#include <utility>

namespace anabranch::cpu {

/// Keeps what is never used nor destroyed again, so that it does not count as lost.
void give_up(void* object) noexcept;

/// LLVM is built without exceptions: what is thrown where its memory ends passes through functions
/// that clean nothing up, and leaves what they were changing in a state that no destructor is made
/// for. So an object that LLVM may have been changing is destroyed only where none passes.
template <class T>
class LeakedOnError {
 public:
  template <class... Args>
  explicit LeakedOnError(Args&&... args) : object_(new T(std::forward<Args>(args)...)) {}
  ~LeakedOnError() {
    if (std::uncaught_exceptions() <= exceptions_) {
      delete object_;
    } else {
      give_up(object_);
    }
  }
  LeakedOnError(const LeakedOnError&) = delete;
  LeakedOnError& operator=(const LeakedOnError&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  int exceptions_ = std::uncaught_exceptions();  // those in flight while it is made
  T* object_;
};

}  // namespace anabranch::cpu
