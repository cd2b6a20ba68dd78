// Callable: whether a user's function takes what it is called with, asked before the compiler does,
// so that its first error is a sentence.
#pragma once

#include <cstddef>
#include <type_traits>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {
namespace detail {

template <class Member>
inline constexpr std::size_t member_arity = 0;
template <class Result, class Class, class... Args>
inline constexpr std::size_t member_arity<Result (Class::*)(Args...)> = sizeof...(Args);
template <class Result, class Class, class... Args>
inline constexpr std::size_t member_arity<Result (Class::*)(Args...) const> = sizeof...(Args);
template <class Result, class Class, class... Args>
inline constexpr std::size_t member_arity<Result (Class::*)(Args...) noexcept> = sizeof...(Args);
template <class Result, class Class, class... Args>
inline constexpr std::size_t member_arity<Result (Class::*)(Args...) const noexcept> =
    sizeof...(Args);

template <class Function>
inline constexpr std::size_t function_arity = 0;
template <class Result, class... Args>
inline constexpr std::size_t function_arity<Result(Args...)> = sizeof...(Args);
template <class Result, class... Args>
inline constexpr std::size_t function_arity<Result(Args...) noexcept> = sizeof...(Args);

/// Whether a function says how many parameters it has, and they are not `count`: a template and a
/// set of overloads do not say.
template <class Function>
consteval bool has_other_arity(std::size_t count) {
  if constexpr (requires { &Function::operator(); }) {
    return member_arity<decltype(&Function::operator())> != count;
  } else {
    using Plain = std::remove_pointer_t<std::decay_t<Function>>;
    return std::is_function_v<Plain> && function_arity<Plain> != count;
  }
}

enum class Callable { yes, if_mutable, other_arity, no };

/// Of a const `Function` with `Args`.
template <class Function, class... Args>
inline constexpr Callable callable = std::is_invocable_v<const Function&, Args...> ? Callable::yes
                                     : has_other_arity<Function>(sizeof...(Args))
                                         ? Callable::other_arity
                                     : std::is_invocable_v<Function&, Args...>
                                         ? Callable::if_mutable
                                         : Callable::no;

}  // namespace detail
}  // namespace anabranch
