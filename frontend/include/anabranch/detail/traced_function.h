// TracedFunction: a user's function of trees as a graph of its arrays, which is what the transforms
// take, and a graph called with arrays.
#pragma once

#include <memory>
#include <string>
#include <tuple>
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
/// Whether an array is made from C++ numbers alone.
bool is_weak(const Array& array);
void set_weak(const Array& array, bool weak);
/// The path of each array: "argument 0.weight".
std::vector<std::string> paths_of(const Form& form);

/// The arguments of a transformed function: numbers are arrays, as in a loop's carry.
template <class... Args>
using ArgumentTuple = std::tuple<CarriedType<Args>...>;

}  // namespace detail
}  // namespace anabranch
