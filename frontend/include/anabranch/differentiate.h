// Derivatives of functions of trees of arrays: `grad`, `value_and_grad`, `jacobian`, `hessian`.
//
//   auto loss = [&](Params p, ab::Array x, ab::Array t) {
//     return ab::mean(ab::square(net(p, x) - t));
//   };
//   auto step = ab::jit([&](Params p, ab::Array x, ab::Array t) {
//     auto [value, d] = ab::value_and_grad(loss)(p, x, t);  // d is a Params
//     return std::tuple{value, sgd(p, d)};
//   });
//
// A transform gives a function, which may be transformed again, traced, compiled, or called outside
// of any trace. What the function captures is constant for it. At a kink the derivative is: 0 of
// `abs` and `relu` at 0, half of each operand's where `maximum` or `minimum` are equal, of a
// reduction to the extremum the mean over the elements that are it, 0 where `clip` holds. Sorting,
// `take` and `at` move derivatives with their elements, and what is read twice has the sum.
// Of complex numbers, a gradient is the conjugate of PyTorch's, as in JAX.
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/arguments.h"
#include "anabranch/detail/callable.h"
#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"
// Last: it defines a macro.
#include "anabranch/detail/assert_callable.inc"

namespace ANABRANCH_API anabranch {

/// The function gives a pair: what is differentiated, and something else that comes with it.
struct HasAux {};
inline constexpr HasAux has_aux{};

namespace detail {

/// The outputs of the function, then its gradients by the leaves that are marked. Throws Error
/// unless the first output is a real scalar of floats and those leaves are floats or complex
/// numbers.
Leaves value_and_gradients(const char* transform, const FunctionTrace& function,
                           const ArgumentLeaves& arguments, const std::vector<bool>& by,
                           SourceLocation where);

template <class Result, bool Aux>
consteval bool is_differentiable_result() {
  if constexpr (Aux) {
    constexpr bool is_pair = [] {
      if constexpr (is_tuple_like<Result>) return std::tuple_size_v<Result> == 2;
      return false;
    }();
    static_assert(is_pair, "with has_aux, the function returns std::pair(value, aux)");
  } else {
    static_assert(std::is_same_v<Result, Array>,
                  "the function that grad takes returns an ab::Array, a scalar; where it gives "
                  "something else besides, return std::pair(value, aux) and pass ab::has_aux");
  }
  return true;
}

/// The function that grad and value_and_grad give, and of which hessian takes the Jacobian;
/// `transform` is the one that messages name.
template <class Function, class By, bool Aux, bool WithValue>
class Gradient {
 public:
  Gradient(const char* transform, Function function, By by, SourceLocation where)
      : transform_(transform), function_(std::move(function)), by_(by), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    ANABRANCH_ASSERT_CALLABLE("the function of grad", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    ChosenCall<By, ArgumentTuple<Args...>> call{
        transform_, {carried_as<CarriedType<Args>>(args)...}, by_, where_};
    auto result = call.traced(function_);
    static_assert(is_differentiable_result<decltype(result), Aux>());
    const Leaves leaves =
        value_and_gradients(transform_, call.trace, call.parts, call.marks, where_);
    result = put_together(std::move(result), leaves);
    auto gradient = call.derivatives(leaves, call.trace.weak().size());
    if constexpr (WithValue) {
      return std::pair(std::move(result), std::move(gradient));
    } else if constexpr (Aux) {
      return std::pair(std::move(gradient), std::get<1>(std::move(result)));
    } else {
      return gradient;
    }
  }

 private:
  const char* transform_;
  Function function_;
  By by_;
  SourceLocation where_;
};

}  // namespace detail

/// The gradient of `f`, which gives a scalar of floats, as a function of the same arguments: by the
/// first one unless others are named, of its type: a struct of arrays in, the same struct of
/// gradients out. With `has_aux`, `f` gives a pair and so does the function: gradient, aux.
template <class Function, class By = FixedArguments<0>>
auto grad(Function f, By by = {}, std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, false, false>("grad", std::move(f), by, where);
}
template <class Function>
auto grad(Function f, HasAux, std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, FixedArguments<0>, true, false>("grad", std::move(f), {},
                                                                    where);
}
template <class Function, class By>
auto grad(Function f, By by, HasAux, std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, true, false>("grad", std::move(f), by, where);
}

/// The same with the value: a pair (value, gradient), and with `has_aux` ((value, aux), gradient).
template <class Function, class By = FixedArguments<0>>
auto value_and_grad(Function f, By by = {},
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, false, true>("value_and_grad", std::move(f), by, where);
}
template <class Function>
auto value_and_grad(Function f, HasAux,
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, FixedArguments<0>, true, true>("value_and_grad", std::move(f),
                                                                   {}, where);
}
template <class Function, class By>
auto value_and_grad(Function f, By by, HasAux,
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, true, true>("value_and_grad", std::move(f), by, where);
}

namespace detail {

/// Per output of the function, per leaf that is marked: an array of the output's shape, then the
/// leaf's.
Leaves jacobians(const char* transform, const FunctionTrace& function,
                 const ArgumentLeaves& arguments, const std::vector<bool>& by, bool forward,
                 SourceLocation where);

/// The function that jacobian, jacobian_forward and hessian give; `transform` as of Gradient.
template <class Function, class By, bool Forward>
class Jacobian {
 public:
  Jacobian(const char* transform, Function function, By by, SourceLocation where)
      : transform_(transform), function_(std::move(function)), by_(by), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    ANABRANCH_ASSERT_CALLABLE("the function of jacobian", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    ChosenCall<By, ArgumentTuple<Args...>> call{
        transform_, {carried_as<CarriedType<Args>>(args)...}, by_, where_};
    auto result = call.traced(function_);
    const Leaves leaves =
        jacobians(transform_, call.trace, call.parts, call.marks, Forward, where_);
    if constexpr (std::is_same_v<decltype(result), Array>) {
      return call.derivatives(leaves, 0);
    } else {
      static_assert(std::is_same_v<decltype(call.derivatives(leaves, 0)), Array>,
                    "jacobian takes a function that gives an ab::Array, of any arguments, or one "
                    "that gives a tree, by an argument that is an ab::Array");
      return put_together(std::move(result), leaves);
    }
  }

 private:
  const char* transform_;
  Function function_;
  By by_;
  SourceLocation where_;
};

}  // namespace detail

/// All derivatives of `f` by its first argument, or by those that are named, as `grad` has them: an
/// array of the shape of f's result, then of the argument's. Of a tree of arguments the same tree,
/// of a tree of results that tree. In reverse mode: a pass per element of the result, all at once.
template <class Function, class By = FixedArguments<0>>
auto jacobian(Function f, By by = {},
              std::source_location where = std::source_location::current()) {
  return detail::Jacobian<Function, By, false>("jacobian", std::move(f), by, where);
}
/// The same in forward mode: a pass per element of the argument, all at once.
template <class Function, class By = FixedArguments<0>>
auto jacobian_forward(Function f, By by = {},
                      std::source_location where = std::source_location::current()) {
  return detail::Jacobian<Function, By, true>("jacobian_forward", std::move(f), by, where);
}
/// The second derivatives of `f`, which gives a scalar, by its first argument, an array, or by the
/// one that is named: an array of the argument's shape twice. Forward over reverse mode.
template <class Function, class By = FixedArguments<0>>
auto hessian(Function f, By by = {}, std::source_location where = std::source_location::current()) {
  using Inner = detail::Gradient<Function, By, false, false>;
  return detail::Jacobian<Inner, By, true>("hessian", Inner("hessian", std::move(f), by, where), by,
                                           where);
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
