// trace: a C++ function over arrays as a graph.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/array/array.h"
#include "frontend/ops/operand.h"
#include "frontend/trace/callable.h"
#include "frontend/trace/signature.h"
#include "frontend/trace/tracer.h"
#include "frontend/trace/tree.h"
#include "ir/graph/graph.h"

namespace anabranch {

namespace detail {

/// A traced function: its graph, and its result with an empty Array wherever an output of the graph
/// goes.
template <class Result>
struct TracedFunction {
  Graph graph;
  std::vector<bool> weak;               ///< per output: made from C++ numbers alone
  std::vector<std::uint32_t> captured;  ///< the constants that are arrays from outside, as nodes
  Result result;
};

struct CloseTrace {
  Tracer& tracer;
  ~CloseTrace() { tracer.close(); }
};

/// Throws Error where an Array of the result, described as "result.path", is empty. `made` is the
/// line of the function.
void demand_results(const Description& result, SourceLocation made);

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

/// `made` is where the user wrote what is traced, for errors.
template <class Function, class... Args>
auto trace_call(const Function& function, SourceLocation made, const Args&... args) {
  static_assert((is_argument<Args>() && ...));
  auto tracer = std::make_shared<Tracer>("main");
  CloseTrace close{*tracer};
  std::tuple<Traced<Args>...> traced{traced_argument(*tracer, args)...};
  auto result = call(function, traced);
  Description parts;
  DescriptionVisitor visitor(parts, "result");
  tree::walk(result, visitor);
  demand_results(parts, made);
  std::vector<Array> outputs;
  std::vector<bool> weak;
  tree::for_each_array(result, [&](Array& array) {
    weak.push_back(array.expression()->weak);
    outputs.push_back(std::exchange(array, {}));
  });
  Graph graph = tracer->finish(outputs);
  return TracedFunction<decltype(result)>{std::move(graph), std::move(weak),
                                          tracer->captured_constants(), std::move(result)};
}

template <class T>
SourceLocation location_of_argument(const T& argument) {
  if constexpr (std::same_as<T, Spec>) {
    return argument.where;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {};
  } else {
    SourceLocation location;
    tree::for_each_array(argument, [&](const Array& array) {
      if (!location && array.expression()) location = array.expression()->location;
    });
    return location;
  }
}

/// The line of the first spec among the arguments, or of the first array whose line is known.
template <class... Args>
SourceLocation location_of(const Args&... args) {
  static_assert((is_argument<Args>() && ...));
  SourceLocation location;
  ((location = location ? location : location_of_argument(args)), ...);
  return location;
}

}  // namespace detail

/// The graph of `function` on arguments of the given types: specs, or trees of arrays whose values
/// do not matter. One parameter per array, in order; one output per array of the result.
template <class Function, class... Args>
Graph trace(const Function& function, const Args&... args) {
  return detail::trace_call(function, detail::location_of(args...), args...).graph;
}

}  // namespace anabranch
