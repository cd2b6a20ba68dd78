// Future: a value that another thread will have made, or why it has not.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "anabranch/export.h"
#include "anabranch/failure.h"

namespace ANABRANCH_API anabranch {
namespace detail {

/// Something that happens once, and that threads wait for.
class Occurrence {
 public:
  Occurrence();
  ~Occurrence();
  void happen();
  bool has_happened() const;
  /// Throws Error inside a custom call, where it has not happened.
  void wait() const;
  /// Whether it has happened, after at most so many seconds.
  bool wait_for(double seconds) const;

 private:
  void check_may_wait() const;

  struct State;
  std::unique_ptr<State> state_;
};

template <class T>
struct FutureValue {
  Occurrence made;
  std::optional<T> value;
  Failure failure;
};

/// That a promise went before it was kept.
Failure broken_promise();
/// Throws Error: the future is a default-made one, or was read.
[[noreturn]] void refuse_empty_future();

}  // namespace detail

/// As std::future, but an error is thrown anew on the thread that reads it: an exception object
/// belongs to one thread, and no other one frees it.
template <class T>
class Future {
 public:
  Future() = default;

  /// Waits; then the value, or throws the error that stopped it. Once: then valid() is false.
  T get() {
    wait();
    const std::shared_ptr<detail::FutureValue<T>> read = std::move(value_);
    if (read->failure) read->failure.rethrow();
    return std::move(*read->value);
  }
  bool valid() const noexcept { return value_ != nullptr; }
  void wait() const { value().made.wait(); }
  /// Waits, at most a std::chrono::duration; whether the value, or the error, is there.
  template <class Duration>
  bool wait_for(const Duration& duration) const {
    using Period = typename Duration::period;
    return value().made.wait_for(static_cast<double>(duration.count()) *
                                 static_cast<double>(Period::num) /
                                 static_cast<double>(Period::den));
  }
  /// The same, at most until a std::chrono::time_point.
  template <class Time>
  bool wait_until(const Time& time) const {
    const Time now = Time::clock::now();
    return time > now ? wait_for(time - now) : value().made.wait_for(0);
  }

 private:
  template <class>
  friend class Promise;
  explicit Future(std::shared_ptr<detail::FutureValue<T>> value) : value_(std::move(value)) {}
  const detail::FutureValue<T>& value() const {
    if (!value_) detail::refuse_empty_future();
    return *value_;
  }

  std::shared_ptr<detail::FutureValue<T>> value_;
};

/// The side that makes it, once.
template <class T>
class Promise {
 public:
  Promise() = default;
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  ~Promise() {
    if (!value_->made.has_happened()) set_failure(detail::broken_promise());
  }

  Future<T> get_future() { return Future<T>(value_); }
  void set_value(T value) {
    const auto kept = value_;  // a reader that wakes may destroy the promise
    kept->value = std::move(value);
    kept->made.happen();
  }
  void set_failure(Failure failure) {
    const auto kept = value_;
    kept->failure = std::move(failure);
    kept->made.happen();
  }

 private:
  std::shared_ptr<detail::FutureValue<T>> value_ = std::make_shared<detail::FutureValue<T>>();
};

}  // namespace anabranch
