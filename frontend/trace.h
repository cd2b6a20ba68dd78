// trace: a C++ function over arrays as a graph.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/array.h"
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

/// Calls `function` with whole arguments, as an array where the argument is a number or a spec.
template <class Function, class... Args>
auto call(const Function& function, std::tuple<Args...>& args) {
  static_assert(
      std::is_invocable_v<const Function&, Args&...>,
      "the function does not take these arguments. A C++ number is traced, so the function "
      "takes it as an Array; static_arg(v) passes its value instead and compiles for it");
  using Result = std::invoke_result_t<const Function&, Args&...>;
  static_assert(!std::is_void_v<Result>, "a traced function returns its results");
  return std::apply(
      [&](Args&... each) -> std::decay_t<Result> { return std::invoke(function, each...); }, args);
}

template <class Function, class... Args>
auto trace_call(const Function& function, const Args&... args) {
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
