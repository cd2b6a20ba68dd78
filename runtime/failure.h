// Failure: what went wrong, held together by all that depends on it.
#pragma once

#include <exception>
#include <memory>
#include <utility>

namespace anabranch {

/// An exception, or none. The exception lives as long as any of its holders, whichever threads they
/// are on.
class Failure {
 public:
  Failure() = default;
  Failure(std::exception_ptr error) {
    if (error) error_ = std::make_shared<const std::exception_ptr>(std::move(error));
  }

  explicit operator bool() const { return error_ != nullptr; }
  /// Throws it; there must be one.
  [[noreturn]] void rethrow() const { std::rethrow_exception(*error_); }
  /// Null where there is none.
  std::exception_ptr pointer() const { return error_ ? *error_ : nullptr; }

 private:
  // The counts inside an exception_ptr are the C++ library's, which ThreadSanitizer cannot see.
  std::shared_ptr<const std::exception_ptr> error_;
};

}  // namespace anabranch
