// TracedFunction: a user's function of trees as a graph of its arrays, which is what the transforms
// take, and a graph called with arrays.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "anabranch/detail/carry.h"
#include "anabranch/export.h"
#include "anabranch/graph.h"

namespace ANABRANCH_API anabranch {
namespace detail {

/// A function that is being traced at the types of its arguments, wherever the call is: inside of
/// another trace, a loop or a branch, or outside of them.
class FunctionTrace {
 public:
  FunctionTrace();
  ~FunctionTrace();
  FunctionTrace(const FunctionTrace&) = delete;
  FunctionTrace& operator=(const FunctionTrace&) = delete;

  /// What the function sees in place of an argument; `weak` of one that is made from C++ numbers.
  Array parameter(const Type& type, bool weak);
  /// One of the type of an argument. Throws Error where that is empty; `transform` and `path` name
  /// it.
  Array parameter(const char* transform, const std::string& path, const Array& argument,
                  SourceLocation where);

  /// The function has given these. Throws Error where one of them is empty.
  void finish(const char* transform, const Tree& result, SourceLocation where);

  /// Once finished: its parameters are the function's own, then what it captures.
  const Graph& graph() const;
  const Leaves& captures() const;
  /// Per output: whether it is made from C++ numbers alone.
  const std::vector<bool>& weak() const;
  /// The operands of its graph: the arguments, then the captures.
  Leaves with_captures(Leaves arguments) const;
  /// Makes arrays that stand for its outputs weak where those are.
  void mark_weak(const Leaves& outputs) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// The outputs of `graph`, each its own array: part of the trace that an operand belongs to, or
/// compiled (once for equal graphs) and dispatched. `transform` names it in messages.
Leaves call_graph(const char* transform, const Graph& graph, const Leaves& operands,
                  SourceLocation where);

/// Throws Error for an empty array.
const Type& type_of_leaf(const char* transform, const std::string& path, const Array& array,
                         SourceLocation where);
bool is_traced(const Array& array);
bool any_traced(const Leaves& leaves);
/// Whether an array is made from C++ numbers alone.
bool is_weak(const Array& array);
void set_weak(const Array& array, bool weak);
/// An array of zeros.
Array zeros_of(const Type& type, SourceLocation where);
std::vector<Type> types_of_leaves(const Leaves& leaves);
/// The path of each array: "argument 0.weight".
std::vector<std::string> paths_of(const Form& form);

/// The arguments of a transformed function: numbers are arrays, as in a loop's carry.
template <class... Args>
using ArgumentTuple = std::tuple<CarriedType<Args>...>;

/// A call of a function that is transformed: its arguments, taken apart.
struct ArgumentLeaves {
  Leaves leaves;
  std::vector<std::string> paths;
  std::vector<std::size_t> first;  ///< per argument its first leaf, then the number of all
};

template <class... Args>
ArgumentLeaves taken_apart_arguments(const std::tuple<Args...>& arguments) {
  ArgumentLeaves parts;
  const auto take = [&](const auto& argument) {
    const std::string name = "argument " + std::to_string(parts.first.size());
    const Tree tree = taken_apart(argument, name.c_str());
    parts.first.push_back(parts.leaves.size());
    parts.leaves.insert(parts.leaves.end(), tree.leaves.begin(), tree.leaves.end());
    const std::vector<std::string> paths = paths_of(tree.form);
    parts.paths.insert(parts.paths.end(), paths.begin(), paths.end());
  };
  std::apply([&](const auto&... argument) { (take(argument), ...); }, arguments);
  parts.first.push_back(parts.leaves.size());
  return parts;
}

/// The tuple of arguments with parameters of the trace in place of its arrays.
template <class Tuple>
Tuple with_parameters(const char* transform, FunctionTrace& trace, Tuple arguments,
                      const ArgumentLeaves& parts, SourceLocation where) {
  std::size_t next = 0;
  tree::for_each_array(arguments, [&](Array& array) {
    array = trace.parameter(transform, parts.paths[next], parts.leaves[next], where);
    ++next;
  });
  return arguments;
}

/// Traces `function` at the types of the arguments; gives its result, which `trace` has finished
/// with.
template <class Function, class Tuple>
auto trace_function(const char* transform, FunctionTrace& trace, const Function& function,
                    const Tuple& arguments, const ArgumentLeaves& parts, SourceLocation where) {
  Tuple own = with_parameters(transform, trace, arguments, parts, where);
  using Result = std::decay_t<decltype(std::apply(function, own))>;
  static_assert(!std::is_void_v<Result>,
                "the function that is transformed returns nothing: return its results, an "
                "ab::Array or a tree (a struct, a tuple ...) of them");
  Result result = std::apply(function, own);
  trace.finish(transform, taken_apart(result, "the result"), where);
  return result;
}

}  // namespace detail
}  // namespace anabranch
