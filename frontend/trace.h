// trace: a C++ function over arrays as a graph.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/array.h"
#include "frontend/callable.h"
#include "frontend/operand.h"
#include "frontend/signature.h"
#include "frontend/tracer.h"
#include "frontend/tree.h"
#include "ir/graph.h"

namespace anabranch {

namespace detail {

/// A traced function: its graph, and its result with an empty Array wherever an output of the graph
/// goes.
template <class Result>
struct TracedFunction {
  Graph graph;
  Result result;
};

struct CloseTrace {
  Tracer& tracer;
  ~CloseTrace() { tracer.close(); }
};

Array traced_parameter(Tracer& tracer, const Array& like);
Array traced_number(Tracer& tracer, Dtype dtype);

template <class T>
Traced<T> traced_argument(Tracer& tracer, const T& argument) {
  if constexpr (std::is_arithmetic_v<T>) {
    return traced_number(tracer, dtype_of<T>);
  } else if constexpr (std::same_as<T, Spec>) {
    return tracer.parameter(argument.type);
  } else {
    T copy = argument;
    tree::for_each_array(copy, [&](Array& array) { array = traced_parameter(tracer, array); });
    return copy;
  }
}

/// Whether T may be an argument; see tree::is_tree.
template <class T>
consteval bool is_argument() {
  if constexpr (std::is_arithmetic_v<T> || std::same_as<T, Spec>) {
    return true;
  } else {
    return tree::is_tree<T>();
  }
}

/// Calls `function` with whole arguments, as an array where the argument is a number or a spec.
template <class Function, class... Args>
auto call(const Function& function, std::tuple<Args...>& args) {
  ANABRANCH_ASSERT_CALLABLE(
      "the traced function",
      "f(arguments...) (static_arg(v) passes a number's value, and compiles for it)", Function,
      std::add_lvalue_reference_t<Args>...);
  using Result = std::decay_t<std::invoke_result_t<const Function&, Args&...>>;
  static_assert(!std::is_void_v<Result>,
                "the traced function returns nothing: return its results, an ab::Array or a tree "
                "(a struct, a tuple ...) of them");
  if constexpr (!std::is_void_v<Result>) static_assert(tree::is_tree<Result>());
  return std::apply([&](Args&... each) -> Result { return std::invoke(function, each...); }, args);
}

template <class Function, class... Args>
auto trace_call(const Function& function, const Args&... args) {
  static_assert((is_argument<Args>() && ...));
  auto tracer = std::make_shared<Tracer>("main");
  CloseTrace close{*tracer};
  std::tuple<Traced<Args>...> traced{traced_argument(*tracer, args)...};
  auto result = call(function, traced);
  std::vector<Array> outputs;
  tree::for_each_array(result, [&](Array& array) { outputs.push_back(std::exchange(array, {})); });
  Graph graph = tracer->finish(outputs);
  return TracedFunction<decltype(result)>{std::move(graph), std::move(result)};
}

}  // namespace detail

/// The graph of `function` on arguments of the given types: specs, or trees of arrays whose values
/// do not matter. One parameter per array, in order; one output per array of the result.
template <class Function, class... Args>
Graph trace(const Function& function, const Args&... args) {
  return detail::trace_call(function, args...).graph;
}

}  // namespace anabranch
