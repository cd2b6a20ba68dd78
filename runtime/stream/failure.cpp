#include "anabranch/failure.h"

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {

/// Makes the exceptions.
struct Failure::Cause {
  std::function<void()> raise;
  /// As `raise`, with the exception at hand nested in it.
  std::function<void()> raise_nested;
  Failure nested;
  std::exception_ptr original;  // of a type that nothing can copy; nested in each exception
};

namespace {

using Raise = std::function<void()>;

template <class Exception>
bool matches(const std::exception& error) {
  if (typeid(error) == typeid(Exception)) return true;
  // What std::throw_with_nested makes of it.
  return dynamic_cast<const Exception*>(&error) &&
         dynamic_cast<const std::nested_exception*>(&error);
}

// The text is a string of ours: those inside exceptions share their letters.
template <class Exception>
bool copied(const std::exception& error, Raise& raise, Raise& raise_nested) {
  if (!matches<Exception>(error)) return false;
  const std::string text = error.what();
  raise = [text] { throw Exception(text); };
  raise_nested = [text] { std::throw_with_nested(Exception(text)); };
  return true;
}

template <class... Exceptions>
bool one_copied(const std::exception& error, Raise& raise, Raise& raise_nested) {
  return (copied<Exceptions>(error, raise, raise_nested) || ...);
}

bool bad_alloc_copied(const std::exception& error, Raise& raise, Raise& raise_nested) {
  if (!matches<std::bad_alloc>(error)) return false;
  raise = [] { throw std::bad_alloc(); };
  raise_nested = [] { std::throw_with_nested(std::bad_alloc()); };
  return true;
}

bool internal_copied(const std::exception& error, Raise& raise, Raise& raise_nested) {
  const auto* internal = dynamic_cast<const InternalError*>(&error);
  if (!internal || !matches<InternalError>(error)) return false;
  const std::string stage = internal->stage(), dump = internal->dump();
  // Its text begins with the stage and ends with the dump, which it adds again.
  std::string what = std::string(internal->what()).substr(stage.size() + 2);
  if (!dump.empty()) what.resize(what.size() - dump.size() - 1);
  raise = [=] { throw InternalError(stage, what, dump); };
  raise_nested = [=] { std::throw_with_nested(InternalError(stage, what, dump)); };
  return true;
}

// Derived types come before what they are derived from.
bool known_copied(const std::exception& error, Raise& raise, Raise& raise_nested) {
  return internal_copied(error, raise, raise_nested) ||
         bad_alloc_copied(error, raise, raise_nested) ||
         one_copied<Error, std::out_of_range, std::invalid_argument, std::length_error,
                    std::domain_error, std::range_error, std::overflow_error, std::underflow_error,
                    std::runtime_error, std::logic_error>(error, raise, raise_nested);
}

}  // namespace

Failure::Failure(const std::exception_ptr& error) noexcept {
  if (!error) return;
  try {
    cause_ = cause_of(error);
  } catch (...) {
    cause_ = no_memory().cause_;
  }
}

// Made when the library is loaded, and never destroyed.
Failure Failure::no_memory() noexcept {
  static const auto& cause = *new std::shared_ptr<const Cause>(
      cause_of(std::make_exception_ptr(Error("run: the machine has no memory left; let go of "
                                             "arrays that are no longer needed"))));
  return Failure(cause);
}

namespace {

[[maybe_unused]] const bool is_made_in_time = (Failure::no_memory(), true);

}  // namespace

std::shared_ptr<const Failure::Cause> Failure::cause_of(const std::exception_ptr& error) {
  auto cause = std::make_shared<Cause>();
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    if (known_copied(known, cause->raise, cause->raise_nested)) {
      if (const auto* outer = dynamic_cast<const std::nested_exception*>(&known)) {
        const Failure inner(outer->nested_ptr());
        const bool is_plain = !inner || !inner.cause_->original;
        if (is_plain)
          cause->nested = inner;
        else
          cause->original = inner.cause_->original;
      }
    } else {
      copied<Error>(Error(known.what()), cause->raise, cause->raise_nested);
      cause->original = error;
    }
  } catch (...) {
    copied<Error>(Error("something was thrown that is no std::exception"), cause->raise,
                  cause->raise_nested);
    cause->original = error;
  }
  return cause;
}

void Failure::rethrow() const {
  // The reader may let go of this failure while the exception is under way.
  const std::shared_ptr<const Cause> cause = cause_;
  if (!cause->nested && !cause->original) cause->raise();
  try {
    if (cause->original) std::rethrow_exception(cause->original);
    cause->nested.rethrow();
  } catch (...) {
    cause->raise_nested();
  }
  std::terminate();  // one of them has thrown
}

}  // namespace anabranch
