// trace: a C++ function over arrays as a graph.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/assert_callable.inc"
#include "anabranch/detail/callable.h"
#include "anabranch/detail/signature.h"
#include "anabranch/export.h"
#include "anabranch/graph.h"
#include "anabranch/operand.h"
#include "anabranch/tree.h"

namespace anabranch {  // of the library alone, so not exported
class Tracer;          // frontend/trace/tracer.h
struct TracedGraph;    // frontend/trace/traced_graph.h
}  // namespace anabranch

namespace ANABRANCH_API anabranch {

namespace detail {

const Graph& graph_of(const TracedGraph& traced);

/// A function that is being traced; its arrays refuse further use when this goes.
class OpenTrace {
 public:
  OpenTrace();
  ~OpenTrace();
  OpenTrace(const OpenTrace&) = delete;
  OpenTrace& operator=(const OpenTrace&) = delete;

  Array parameter(const Type& type);
  /// One that stands for an argument. Throws Error where that is empty.
  Array parameter(const Array& argument);
  /// One that stands for a C++ number.
  Array number(Dtype dtype);

  /// The graph of what the outputs need, and of all parameters. `result` describes them, as
  /// "result.path"; `made` is the line of the function. Throws Error where one is empty.
  std::shared_ptr<const TracedGraph> finish(const std::vector<Array>& outputs,
                                            const Description& result, SourceLocation made);

 private:
  std::shared_ptr<Tracer> tracer_;
};

/// Where the array was made; nothing where that is not known.
SourceLocation location_of_array(const Array& array);

/// A traced function: its graph, and its result with an empty Array wherever an output of the graph
/// goes.
template <class Result>
struct TracedFunction {
  std::shared_ptr<const TracedGraph> traced;
  Result result;
};

template <class T>
Traced<T> traced_argument(OpenTrace& trace, const T& argument) {
  if constexpr (std::is_arithmetic_v<T>) {
    return trace.number(dtype_of<T>);
  } else if constexpr (std::same_as<T, Spec>) {
    return trace.parameter(argument.type);
  } else {
    T copy = argument;
    tree::for_each_array(copy, [&](Array& array) { array = trace.parameter(array); });
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
  return Result(std::apply(function, args));
}

/// `made` is where the user wrote what is traced, for errors.
template <class Function, class... Args>
auto trace_call(const Function& function, SourceLocation made, const Args&... args) {
  static_assert((is_argument<Args>() && ...));
  OpenTrace trace;
  std::tuple<Traced<Args>...> traced{traced_argument(trace, args)...};
  auto result = call(function, traced);
  Description parts;
  DescriptionVisitor visitor(parts, "result");
  tree::walk(result, visitor);
  std::vector<Array> outputs;
  tree::for_each_array(result, [&](Array& array) { outputs.push_back(std::exchange(array, {})); });
  return TracedFunction<decltype(result)>{trace.finish(outputs, parts, made), std::move(result)};
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
      if (!location) location = location_of_array(array);
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
  return detail::graph_of(
      *detail::trace_call(function, detail::location_of(args...), args...).traced);
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
