// Failure: what went wrong, held together by all that depends on it.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// What was thrown, or nothing. Each reader gets an exception object of its own, with the same type
/// and text: `Error`, `InternalError`, and the plain exceptions of the standard library, with what
/// is nested in them. One of another type, which nothing can copy, is nested in an `Error` of the
/// same text, and that one object is all readers'.
class Failure {
 public:
  Failure() = default;
  /// Takes memory; where there is none, it is that of `no_memory`.
  Failure(const std::exception_ptr& error) noexcept;
  /// That the machine has no memory left; takes none.
  static Failure no_memory() noexcept;

  explicit operator bool() const { return cause_ != nullptr; }
  /// Throws a new exception; there must be one.
  [[noreturn]] void rethrow() const;

 private:
  struct Cause;
  explicit Failure(std::shared_ptr<const Cause> cause) : cause_(std::move(cause)) {}
  static std::shared_ptr<const Cause> cause_of(const std::exception_ptr& error);
  std::shared_ptr<const Cause> cause_;
};

}  // namespace anabranch
