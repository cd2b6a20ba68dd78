// custom_call: a C++ function over plain memory as an operation.
#pragma once

#include <concepts>
#include <map>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/custom_function.h"
#include "anabranch/detail/carry.h"
#include "anabranch/detail/signature.h"
#include "anabranch/export.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {

/// The name of a custom call, and the line where the user wrote it.
struct CallName {
  std::string name;
  std::source_location where;

  CallName(const char* text, std::source_location written = std::source_location::current())
      : name(text), where(written) {}
  CallName(std::string text, std::source_location written = std::source_location::current())
      : name(std::move(text)), where(written) {}
};

namespace detail {

template <class T, class... Parts>
struct Rebind;
template <class A, class B, class... Parts>
struct Rebind<std::pair<A, B>, Parts...> {
  using type = std::pair<Parts...>;
};
template <class... Old, class... Parts>
struct Rebind<std::tuple<Old...>, Parts...> {
  using type = std::tuple<Parts...>;
};
/// The pair or tuple of other parts.
template <class T, class... Parts>
using Rebound = typename Rebind<T, Parts...>::type;

/// The tree `specs` with `array_of(spec)` in place of each spec, in order.
template <class T, class ArrayOf>
auto arrays_for(const T& specs, const ArrayOf& array_of) {
  if constexpr (std::same_as<T, Spec>) {
    return array_of(specs);
  } else if constexpr (tree::is_list<T>) {
    std::vector<decltype(arrays_for(specs[0], array_of))> arrays;
    for (const auto& part : specs) arrays.push_back(arrays_for(part, array_of));
    return arrays;
  } else if constexpr (tree::is_map<T>) {
    std::map<std::string, decltype(arrays_for(specs.begin()->second, array_of))> arrays;
    for (const auto& [key, part] : specs) arrays.emplace(key, arrays_for(part, array_of));
    return arrays;
  } else {
    static_assert(
        is_tuple_like<T>,
        "the results of a custom_call are a tree of ab::spec(...): one, or pairs, tuples, "
        "vectors and string maps of them");
    return std::apply(
        [&](const auto&... parts) {
          return Rebound<T, decltype(arrays_for(parts, array_of))...>{
              arrays_for(parts, array_of)...};  // braces: one after the other
        },
        specs);
  }
}

/// What `function` writes for these operands: an array per type.
std::vector<Array> call_custom(const CallName& name, std::vector<Type> results,
                               CustomFunction function, FunctionIdentity identity,
                               const std::vector<Array>& operands);

}  // namespace detail

/// Arrays that `function(call)` writes, one per spec of the tree `results`: one array for one spec,
/// a pair of arrays for a pair of specs, and so on. The function reads `call.operand<float>(0)`,
/// writes `call.result<float>(0)`, `call.result<float>(1)` in the order of the tree, and has no
/// other effect (see CustomFunction); what it does not write is zero. What it throws becomes the
/// error of all the results. It may not wait for arrays or call `wait_all`, which throw Error
/// there: what it needs is an operand.
///
/// The name is for dumps and errors. Two calls mean the same function if its C++ type is the same
/// and it holds no data, or plain data of the same bytes (trivially copyable captures); what holds
/// anything else is a function of its own at each call, which compiles anew outside of `jit`: pass
/// `std::ref(function)` of one that lives on, then its address says which it is.
///
///     auto [middle, spread] = ab::custom_call("quartiles", [](const ab::CustomCall& call) {
///       auto [q1, q2, q3] = quartiles(call.operand<float>(0));
///       call.result<float>(0)[0] = q2;
///       call.result<float>(1)[0] = q3 - q1;
///     }, std::pair{ab::spec(ab::f32, {}), ab::spec(ab::f32, {})}, x);
template <class Function, class Results, class... Arrays>
auto custom_call(const CallName& name, Function function, const Results& results,
                 const Arrays&... operands) {
  static_assert(
      std::is_invocable_v<Function&, const CustomCall&>,
      "the function of a custom_call is not called as function(call): take one parameter, "
      "const ab::CustomCall&");
  static_assert((std::is_same_v<Arrays, Array> && ...),
                "the operands of a custom_call are ab::Arrays: make a number one with "
                "ab::scalar(x), and pass the arrays of a struct one by one");
  detail::FunctionIdentity identity = detail::identity_of(function);
  std::vector<Type> types;
  detail::arrays_for(results, [&](const Spec& spec) {
    types.push_back(spec.type);
    return Array();
  });
  const std::vector<Array> arrays = detail::call_custom(name, std::move(types), std::move(function),
                                                        std::move(identity), {operands...});
  std::size_t next = 0;
  return detail::arrays_for(results, [&](const Spec&) { return arrays[next++]; });
}

}  // namespace anabranch
