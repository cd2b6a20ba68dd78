// Programs compute in the default floating-point environment, whichever thread runs or folds them.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace anabranch {

/// While it lives, the calling thread rounds to nearest and keeps subnormals, as bits that do not
/// depend on the thread require; then the thread has its own environment back.
class DefaultFloats {
 public:
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;
#if defined(__x86_64__)
  // Reading the control register costs nothing, and it almost never has to be written.
  DefaultFloats() : own_(_mm_getcsr()) {
    if (is_other()) _mm_setcsr(standard);
  }
  ~DefaultFloats() {
    if (is_other()) _mm_setcsr(own_);
  }

 private:
  static constexpr unsigned standard = 0x1f80, raised_flags = 0x3f;
  bool is_other() const { return (own_ & ~raised_flags) != standard; }

  const unsigned own_;
#else
  DefaultFloats() {
    std::fegetenv(&own_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&own_); }

 private:
  std::fenv_t own_;
#endif
};

}  // namespace anabranch
