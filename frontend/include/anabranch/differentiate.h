// Derivatives of functions of trees of arrays: `grad`, `value_and_grad`, `jvp`, `vjp`, `linearize`.
//
//   auto loss = [&](Params p, ab::Array x, ab::Array t) { return ab::mean(ab::square(net(p, x) -
//   t)); }; auto step = ab::jit([&](Params p, ab::Array x, ab::Array t) {
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

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/callable.h"
#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"
#include "anabranch/trace.h"
// Last: it defines a macro.
#include "anabranch/detail/assert_callable.inc"

namespace ANABRANCH_API anabranch {

/// Which argument a derivative is by: number `index`. Where the arguments have different types, it
/// is an ab::Array; ab::argument<1>() says it of any type.
struct ChosenArgument {
  std::size_t index = 0;
};
inline ChosenArgument argument(std::size_t index) { return {index}; }

/// By several: the derivatives are a tuple, in this order.
template <std::size_t Count>
struct ChosenArguments {
  std::array<std::size_t, Count> indices;
};
template <std::convertible_to<std::size_t>... Indices>
requires(sizeof...(Indices) > 0) ChosenArguments<sizeof...(Indices)> arguments(Indices... indices) {
  return {{static_cast<std::size_t>(indices)...}};
}

/// The same, known to the compiler: of arguments of any types.
template <std::size_t... Indices>
struct FixedArguments {};
template <std::size_t Index>
FixedArguments<Index> argument() {
  return {};
}
template <std::size_t... Indices>
requires(sizeof...(Indices) > 0) FixedArguments<Indices...> arguments() { return {}; }

/// The function gives a pair: what is differentiated, and something else that comes with it.
struct HasAux {};
inline constexpr HasAux has_aux{};

namespace detail {

/// A call of a function that is transformed: its arguments, taken apart.
struct ArgumentLeaves {
  Leaves leaves;
  std::vector<std::string> paths;
  std::vector<std::size_t> first;  ///< per argument its first leaf, then the number of all
};

template <class Tuple>
ArgumentLeaves taken_apart_arguments(const Tuple& arguments) {
  ArgumentLeaves parts;
  std::apply(
      [&](const auto&... argument) {
        const auto take = [&](const auto& one) {
          const std::string name = "argument " + std::to_string(parts.first.size());
          Tree tree = taken_apart(one, name.c_str());
          parts.first.push_back(parts.leaves.size());
          parts.leaves.insert(parts.leaves.end(), tree.leaves.begin(), tree.leaves.end());
          const std::vector<std::string> paths = paths_of(tree.form);
          parts.paths.insert(parts.paths.end(), paths.begin(), paths.end());
        };
        (take(argument), ...);
      },
      arguments);
  parts.first.push_back(parts.leaves.size());
  return parts;
}

/// Traces `function` at the types of the arguments; gives its result, which `trace` has finished
/// with.
template <class Function, class Tuple>
auto trace_function(const char* transform, FunctionTrace& trace, const Function& function,
                    const Tuple& arguments, const ArgumentLeaves& parts, SourceLocation where) {
  Tuple own = arguments;
  std::size_t next = 0;
  std::apply(
      [&](auto&... argument) {
        const auto replace = [&](auto& one) {
          tree::for_each_array(one, [&](Array& array) {
            array = trace.parameter(transform, parts.paths[next], parts.leaves[next], where);
            ++next;
          });
        };
        (replace(argument), ...);
      },
      own);
  using Result = std::decay_t<decltype(std::apply(function, own))>;
  static_assert(!std::is_void_v<Result>,
                "the function that is transformed returns nothing: return its results, an "
                "ab::Array or a tree (a struct, a tuple ...) of them");
  Result result = std::apply(function, own);
  trace.finish(transform, taken_apart(result, "the result"), where);
  return result;
}

/// The outputs of the function, then its gradients by the leaves that are marked. Throws Error
/// unless the first output is a real scalar of floats and those leaves are floats or complex
/// numbers.
Leaves value_and_gradients(const char* transform, const FunctionTrace& function,
                           const ArgumentLeaves& arguments, const std::vector<bool>& by,
                           SourceLocation where);

/// The results of a function and their derivative, as a linear function of leaves.
struct LinearMap {
  const char* name;
  std::shared_ptr<const Graph> graph;
  Leaves residuals;
  std::vector<Type> operands, results;  ///< the types of all leaves that go in and come out
  std::vector<bool> takes, gives;       ///< which of them the graph has
  std::vector<std::string> paths;       ///< of what goes in
  SourceLocation where;

  Leaves operator()(const Leaves& leaves) const;
};
/// Outputs, and the map from cotangents of the outputs to those of the arguments, or from tangents
/// of the arguments to those of the outputs.
std::pair<Leaves, LinearMap> pulled_back(const FunctionTrace& function,
                                         const ArgumentLeaves& arguments, const Form& result,
                                         SourceLocation where);
std::pair<Leaves, LinearMap> pushed_forward(const char* transform, const FunctionTrace& function,
                                            const ArgumentLeaves& arguments, SourceLocation where);

/// The leaves of the outputs, then of their tangents.
std::pair<Leaves, Leaves> push(const FunctionTrace& function, const ArgumentLeaves& primals,
                               const ArgumentLeaves& tangents, SourceLocation where);

[[noreturn]] void fail_no_such_argument(const char* transform, std::size_t index, std::size_t count,
                                        SourceLocation where);
[[noreturn]] void fail_not_an_array(const char* transform, std::size_t index, SourceLocation where);

// --- which arguments -----------------------------------------------------------------------------

template <class... Args>
struct Common {
  using type = Array;
};
template <class First, class... Rest>
struct Common<First, Rest...> {
  using type = std::conditional_t<(std::is_same_v<First, Rest> && ...), First, Array>;
};
/// The type of all arguments; Array where there are several types.
template <class... Args>
using CommonArgument = typename Common<Args...>::type;

/// The derivative by argument `index`, from the leaves of its own.
template <class Wanted, std::size_t At = 0, class Tuple>
Wanted gradient_of(const char* transform, const Tuple& arguments, std::size_t index,
                   const Leaves& leaves, std::size_t first, SourceLocation where) {
  if constexpr (At < std::tuple_size_v<Tuple>) {
    if (At != index) {
      return gradient_of<Wanted, At + 1>(transform, arguments, index, leaves, first, where);
    }
    if constexpr (std::is_same_v<std::tuple_element_t<At, Tuple>, Wanted>) {
      return put_together(std::get<At>(arguments), leaves, first);
    } else {
      fail_not_an_array(transform, index, where);
    }
  } else {
    fail_no_such_argument(transform, index, std::tuple_size_v<Tuple>, where);
  }
}

template <class By>
struct Selection;

template <>
struct Selection<ChosenArgument> {
  static std::vector<std::size_t> indices(const ChosenArgument& by) { return {by.index}; }
  template <class... Args>
  static auto result(const char* transform, const std::tuple<Args...>& arguments,
                     const ChosenArgument& by, const Leaves& leaves, std::size_t first,
                     const ArgumentLeaves&, SourceLocation where) {
    return gradient_of<CommonArgument<Args...>>(transform, arguments, by.index, leaves, first,
                                                where);
  }
};

template <std::size_t Count>
struct Selection<ChosenArguments<Count>> {
  static std::vector<std::size_t> indices(const ChosenArguments<Count>& by) {
    return {by.indices.begin(), by.indices.end()};
  }
  template <class... Args>
  static auto result(const char* transform, const std::tuple<Args...>& arguments,
                     const ChosenArguments<Count>& by, const Leaves& leaves, std::size_t first,
                     const ArgumentLeaves& parts, SourceLocation where) {
    const auto one = [&](std::size_t index) {
      auto gradient =
          gradient_of<CommonArgument<Args...>>(transform, arguments, index, leaves, first, where);
      first += parts.first[index + 1] - parts.first[index];
      return gradient;
    };
    return [&]<std::size_t... At>(std::index_sequence<At...>) {
      return std::tuple<decltype(one(At))...>{one(by.indices[At])...};  // braces: in order
    }
    (std::make_index_sequence<Count>());
  }
};

template <std::size_t... Indices>
struct Selection<FixedArguments<Indices...>> {
  static std::vector<std::size_t> indices(const FixedArguments<Indices...>&) {
    return {Indices...};
  }
  template <class... Args>
  static auto result(const char*, const std::tuple<Args...>& arguments,
                     const FixedArguments<Indices...>&, const Leaves& leaves, std::size_t first,
                     const ArgumentLeaves& parts, SourceLocation) {
    static_assert(((Indices < sizeof...(Args)) && ...),
                  "ab::argument<I>() names an argument that the function is not called with");
    const auto one = [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
      auto gradient = put_together(std::get<Index>(arguments), leaves, first);
      first += parts.first[Index + 1] - parts.first[Index];
      return gradient;
    };
    if constexpr (sizeof...(Indices) == 1) {
      return (one(std::integral_constant<std::size_t, Indices>()), ...);
    } else {
      return std::tuple<std::tuple_element_t<Indices, std::tuple<Args...>>...>{
          one(std::integral_constant<std::size_t, Indices>())...};
    }
  }
};

std::vector<bool> marked(const char* transform, const std::vector<std::size_t>& indices,
                         const ArgumentLeaves& arguments, SourceLocation where);
/// The leaves of the chosen arguments in the order chosen, from those in the order of arguments.
Leaves in_order_chosen(const std::vector<std::size_t>& indices, const ArgumentLeaves& arguments,
                       const Leaves& gradients, std::size_t first);

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

/// The function that value_and_grad gives.
template <class Function, class By, bool Aux, bool WithValue>
class Gradient {
 public:
  Gradient(Function function, By by, SourceLocation where)
      : function_(std::move(function)), by_(by), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr const char* transform = WithValue ? "value_and_grad" : "grad";
    ANABRANCH_ASSERT_CALLABLE("the function of grad", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    const ArgumentTuple<Args...> arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    const std::vector<std::size_t> chosen = Selection<By>::indices(by_);
    const std::vector<bool> by = marked(transform, chosen, parts, where_);
    FunctionTrace trace;
    auto result = trace_function(transform, trace, function_, arguments, parts, where_);
    static_assert(is_differentiable_result<decltype(result), Aux>());
    Leaves leaves = value_and_gradients(transform, trace, parts, by, where_);
    const std::size_t outputs = trace.weak().size();
    leaves = in_order_chosen(chosen, parts, leaves, outputs);
    result = put_together(std::move(result), leaves);
    auto gradient =
        Selection<By>::result(transform, arguments, by_, leaves, outputs, parts, where_);
    if constexpr (WithValue) {
      return std::pair(std::move(result), std::move(gradient));
    } else if constexpr (Aux) {
      return std::pair(std::move(gradient), std::get<1>(std::move(result)));
    } else {
      return gradient;
    }
  }

 private:
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
  return detail::Gradient<Function, By, false, false>(std::move(f), by, where);
}
template <class Function>
auto grad(Function f, HasAux, std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, FixedArguments<0>, true, false>(std::move(f), {}, where);
}
template <class Function, class By>
auto grad(Function f, By by, HasAux, std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, true, false>(std::move(f), by, where);
}

/// The same with the value: a pair (value, gradient), and with `has_aux` ((value, aux), gradient).
template <class Function, class By = FixedArguments<0>>
auto value_and_grad(Function f, By by = {},
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, false, true>(std::move(f), by, where);
}
template <class Function>
auto value_and_grad(Function f, HasAux,
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, FixedArguments<0>, true, true>(std::move(f), {}, where);
}
template <class Function, class By>
auto value_and_grad(Function f, By by, HasAux,
                    std::source_location where = std::source_location::current()) {
  return detail::Gradient<Function, By, true, true>(std::move(f), by, where);
}

namespace detail {

/// Per output of the function, per leaf that is marked: an array of the output's shape, then the
/// leaf's.
Leaves jacobians(const char* transform, const FunctionTrace& function,
                 const ArgumentLeaves& arguments, const std::vector<bool>& by, bool forward,
                 SourceLocation where);

/// The function that jacobian gives.
template <class Function, class By, bool Forward>
class Jacobian {
 public:
  Jacobian(Function function, By by, SourceLocation where)
      : function_(std::move(function)), by_(by), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr const char* transform = Forward ? "jacobian_forward" : "jacobian";
    ANABRANCH_ASSERT_CALLABLE("the function of jacobian", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    const ArgumentTuple<Args...> arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    const std::vector<std::size_t> chosen = Selection<By>::indices(by_);
    const std::vector<bool> by = marked(transform, chosen, parts, where_);
    FunctionTrace trace;
    auto result = trace_function(transform, trace, function_, arguments, parts, where_);
    Leaves leaves = jacobians(transform, trace, parts, by, Forward, where_);
    if constexpr (std::is_same_v<decltype(result), Array>) {
      leaves = in_order_chosen(chosen, parts, leaves, 0);
      return Selection<By>::result(transform, arguments, by_, leaves, 0, parts, where_);
    } else {
      using By_ =
          decltype(Selection<By>::result(transform, arguments, by_, leaves, 0, parts, where_));
      static_assert(std::is_same_v<By_, Array>,
                    "jacobian takes a function that gives an ab::Array, of any arguments, or one "
                    "that gives a tree, by an argument that is an ab::Array");
      return put_together(std::move(result), leaves);
    }
  }

 private:
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
  return detail::Jacobian<Function, By, false>(std::move(f), by, where);
}
/// The same in forward mode: a pass per element of the argument, all at once.
template <class Function, class By = FixedArguments<0>>
auto jacobian_forward(Function f, By by = {},
                      std::source_location where = std::source_location::current()) {
  return detail::Jacobian<Function, By, true>(std::move(f), by, where);
}
/// The second derivatives of `f`, which gives a scalar, by its first argument, an array, or by the
/// one that is named: an array of the argument's shape twice. Forward over reverse mode.
template <class Function, class By = FixedArguments<0>>
auto hessian(Function f, By by = {}, std::source_location where = std::source_location::current()) {
  return jacobian_forward(grad(std::move(f), by, where), by, where);
}

namespace detail {

/// A tree in place of another's arrays, numbers taking the dtype of what they stand for.
template <class Like, class Given>
Leaves leaves_like(const Given& given, const char* name, std::vector<std::string>& paths) {
  static_assert(is_carried_as<Like, Given>(),
                "a tangent or cotangent has the form of what it belongs to: the same structs and "
                "tuples of arrays");
  Tree tree = taken_apart(carried_as<Like>(given), name);
  paths = paths_of(tree.form);
  return std::move(tree.leaves);
}

template <class... Args>
auto one_or_tuple(std::tuple<Args...> results) {
  if constexpr (sizeof...(Args) == 1) {
    return std::get<0>(std::move(results));
  } else {
    return results;
  }
}

template <class Tuple>
Tuple put_together_arguments(Tuple like, const Leaves& leaves) {
  std::size_t next = 0;
  std::apply(
      [&](auto&... argument) {
        const auto replace = [&](auto& one) {
          tree::for_each_array(one, [&](Array& array) { array = leaves[next++]; });
        };
        (replace(argument), ...);
      },
      like);
  return like;
}

/// From a cotangent of the result, of its form, to those of the arguments.
template <class Result, class Tuple>
class Pullback {
 public:
  Pullback(LinearMap map, Tuple like) : map_(std::move(map)), like_(std::move(like)) {}
  template <class Cotangent>
  auto operator()(const Cotangent& cotangent) const {
    LinearMap map = map_;
    const Leaves leaves = leaves_like<Result>(cotangent, "the cotangent", map.paths);
    return one_or_tuple(put_together_arguments(like_, map(leaves)));
  }

 private:
  LinearMap map_;
  Tuple like_;
};

/// From tangents of the arguments to that of the result.
template <class Result, class Tuple>
class Pushforward {
 public:
  Pushforward(LinearMap map, Result like) : map_(std::move(map)), like_(std::move(like)) {}
  template <class... Tangents>
  Result operator()(const Tangents&... tangents) const {
    static_assert(sizeof...(Tangents) == std::tuple_size_v<Tuple>,
                  "a tangent for each argument: pass as many as the function has");
    const Tuple given = carried_as<Tuple>(std::tuple<Tangents...>(tangents...));
    LinearMap map = map_;
    auto parts = taken_apart_arguments(given);
    map.paths = std::move(parts.paths);
    for (std::string& path : map.paths) path = "the tangent of " + path;
    return put_together(like_, map(parts.leaves));
  }

 private:
  LinearMap map_;
  Result like_;
};

}  // namespace detail

/// f(x...) and a function that pulls a cotangent of it back to cotangents of the arguments: of one
/// argument its tree, of several a tuple. Arrays of integers and bools have zeros.
///
///   auto [y, pull] = ab::vjp(f, x);
///   ab::Array dx = pull(dy);
template <class Function, class... Args>
auto vjp(const Function& f, const Args&... args) {
  const SourceLocation where = detail::location_of(args...);
  const detail::ArgumentTuple<Args...> arguments{
      detail::carried_as<detail::CarriedType<Args>>(args)...};
  const detail::ArgumentLeaves parts = detail::taken_apart_arguments(arguments);
  detail::FunctionTrace trace;
  auto result = detail::trace_function("vjp", trace, f, arguments, parts, where);
  auto [leaves, map] =
      detail::pulled_back(trace, parts, detail::taken_apart(result, "the result").form, where);
  result = detail::put_together(std::move(result), leaves);
  using Result = decltype(result);
  return std::pair(
      result, detail::Pullback<Result, detail::ArgumentTuple<Args...>>(std::move(map), arguments));
}

/// f(x...) and a function that pushes tangents of the arguments forward to the tangent of f: its
/// derivative at x, which is linear and does not compute f again.
template <class Function, class... Args>
auto linearize(const Function& f, const Args&... args) {
  const SourceLocation where = detail::location_of(args...);
  const detail::ArgumentTuple<Args...> arguments{
      detail::carried_as<detail::CarriedType<Args>>(args)...};
  const detail::ArgumentLeaves parts = detail::taken_apart_arguments(arguments);
  detail::FunctionTrace trace;
  auto result = detail::trace_function("linearize", trace, f, arguments, parts, where);
  auto [leaves, map] = detail::pushed_forward("linearize", trace, parts, where);
  result = detail::put_together(std::move(result), leaves);
  using Result = decltype(result);
  return std::pair(
      result, detail::Pushforward<Result, detail::ArgumentTuple<Args...>>(std::move(map), result));
}

/// f(x...) and its derivative along dx...: the tuples have the same form.
///
///   auto [y, dy] = ab::jvp(f, std::tuple{x}, std::tuple{dx});
template <class Function, class... Args, class... Tangents>
auto jvp(const Function& f, const std::tuple<Args...>& primals,
         const std::tuple<Tangents...>& tangents,
         std::source_location where = std::source_location::current()) {
  static_assert(sizeof...(Args) == sizeof...(Tangents),
                "jvp takes a tangent for each argument: two tuples of one length");
  using Tuple = detail::ArgumentTuple<Args...>;
  const Tuple arguments = detail::carried_as<Tuple>(primals);
  static_assert(detail::is_carried_as<Tuple, std::tuple<Tangents...>>(),
                "a tangent has the form of its argument: the same structs and tuples of arrays");
  const Tuple directions = detail::carried_as<Tuple>(tangents);
  const detail::ArgumentLeaves parts = detail::taken_apart_arguments(arguments);
  detail::FunctionTrace trace;
  auto result = detail::trace_function("jvp", trace, f, arguments, parts, where);
  const auto [values, changes] =
      detail::push(trace, parts, detail::taken_apart_arguments(directions), where);
  return std::pair(detail::put_together(result, values), detail::put_together(result, changes));
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
