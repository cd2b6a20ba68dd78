// Any function of one signature, as std::function holds it: <functional> is a tenth of what
// anabranch.h would cost each file of a user.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {
namespace detail {

[[noreturn]] void throw_no_function();

template <class Signature>
class AnyFunction;

/// Owns a copy of the function, and a copy of it owns another. Holds none of a null pointer or an
/// empty std::function, and throws Error when it is called then.
template <class Result, class... Args>
class AnyFunction<Result(Args...)> {
 public:
  AnyFunction() = default;
  AnyFunction(std::nullptr_t) {}
  template <class Function>
  requires(!std::same_as<std::decay_t<Function>, AnyFunction> &&
           std::is_invocable_r_v<Result, std::decay_t<Function>&, Args...>)
      AnyFunction(Function&& function) {
    using Held = std::decay_t<Function>;
    Held held(std::forward<Function>(function));
    if constexpr (std::is_constructible_v<Held, std::nullptr_t>) {
      if (held == nullptr) return;  // a pointer, or a std::function
    }
    function_ = new Held(std::move(held));
    operations_ = &operations_of<Held>;
  }
  AnyFunction(const AnyFunction& other)
      : operations_(other.operations_),
        function_(operations_ ? operations_->copy(other.function_) : nullptr) {}
  AnyFunction(AnyFunction&& other) noexcept
      : operations_(std::exchange(other.operations_, nullptr)),
        function_(std::exchange(other.function_, nullptr)) {}
  AnyFunction& operator=(AnyFunction other) noexcept {
    std::swap(operations_, other.operations_);
    std::swap(function_, other.function_);
    return *this;
  }
  ~AnyFunction() {
    if (operations_) operations_->destroy(function_);
  }

  explicit operator bool() const { return operations_; }
  Result operator()(Args... args) const {
    if (!operations_) throw_no_function();
    return operations_->call(function_, static_cast<Args&&>(args)...);
  }

 private:
  struct Operations {
    Result (*call)(void* function, Args&&... args);
    void* (*copy)(const void* function);
    void (*destroy)(void* function);
  };
  template <class Function>
  static constexpr Operations operations_of = {
      [](void* function, Args&&... args) -> Result {
        return (*static_cast<Function*>(function))(static_cast<Args&&>(args)...);
      },
      [](const void* function) -> void* {
        return new Function(*static_cast<const Function*>(function));
      },
      [](void* function) { delete static_cast<Function*>(function); }};

  const Operations* operations_ = nullptr;
  void* function_ = nullptr;
};

}  // namespace detail
}  // namespace anabranch
