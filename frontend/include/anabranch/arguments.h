// Which arguments a derivative is by: `argument`, `arguments`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"

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

namespace detail {

[[noreturn]] void fail_no_such_argument(const char* transform, std::size_t index, std::size_t count,
                                        SourceLocation where);
[[noreturn]] void fail_not_an_array(const char* transform, std::size_t index, SourceLocation where);

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

/// A call whose derivatives are by some of its arguments.
template <class By, class Tuple>
struct ChosenCall {
  const char* transform;
  Tuple arguments;
  By by;
  SourceLocation where;
  ArgumentLeaves parts = taken_apart_arguments(arguments);
  std::vector<std::size_t> chosen = Selection<By>::indices(by);
  std::vector<bool> marks = marked(transform, chosen, parts, where);  ///< per leaf
  FunctionTrace trace = {};

  /// The function's result, as it is traced.
  template <class Function>
  auto traced(const Function& function) {
    return trace_function(transform, trace, function, arguments, parts, where);
  }
  /// Of the leaves from `first` on, one per leaf that is marked, in the order of the arguments.
  auto derivatives(const Leaves& leaves, std::size_t first) const {
    return Selection<By>::result(transform, arguments, by,
                                 in_order_chosen(chosen, parts, leaves, first), first, parts,
                                 where);
  }
};

}  // namespace detail
}  // namespace anabranch
