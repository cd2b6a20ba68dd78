// Future: a value that another thread will have made, or why it has not.
#pragma once

#include <chrono>
#include <future>
#include <utility>
#include <variant>

#include "anabranch/export.h"
#include "anabranch/failure.h"

namespace ANABRANCH_API anabranch {

/// As std::future, but an error is thrown anew on the thread that reads it: an exception object
/// belongs to one thread, and no other one frees it.
template <class T>
class Future {
 public:
  Future() = default;

  /// Waits; then the value, or throws the error that stopped it. Once: then valid() is false.
  T get() {
    Outcome outcome = outcome_.get();
    if (const auto* failure = std::get_if<Failure>(&outcome)) failure->rethrow();
    return std::get<T>(std::move(outcome));
  }
  bool valid() const noexcept { return outcome_.valid(); }
  void wait() const { outcome_.wait(); }
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& duration) const {
    return outcome_.wait_for(duration);
  }
  template <class Clock, class Duration>
  std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return outcome_.wait_until(time);
  }

 private:
  template <class>
  friend class Promise;
  using Outcome = std::variant<T, Failure>;
  explicit Future(std::future<Outcome> outcome) : outcome_(std::move(outcome)) {}

  std::future<Outcome> outcome_;
};

/// The side that makes it.
template <class T>
class Promise {
 public:
  Future<T> get_future() { return Future<T>(outcome_.get_future()); }
  void set_value(T value) { outcome_.set_value(std::move(value)); }
  void set_failure(Failure failure) { outcome_.set_value(std::move(failure)); }

 private:
  std::promise<std::variant<T, Failure>> outcome_;
};

}  // namespace anabranch
