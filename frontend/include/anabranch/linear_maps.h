// The derivative of a function as a linear map: `jvp`, `vjp`, `linearize`.
//
//   auto [y, pull] = ab::vjp(f, x);
//   ab::Array dx = pull(dy);
//
// See anabranch/differentiate.h for gradients and for what derivatives are at kinks.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"
#include "anabranch/graph.h"
#include "anabranch/trace.h"

namespace ANABRANCH_API anabranch {

namespace detail {

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

/// From a cotangent of the result, of its form, to those of the arguments.
template <class Result, class Tuple>
class Pullback {
 public:
  Pullback(LinearMap map, Tuple like) : map_(std::move(map)), like_(std::move(like)) {}
  template <class Cotangent>
  auto operator()(const Cotangent& cotangent) const {
    LinearMap map = map_;
    const Leaves leaves = leaves_like<Result>(cotangent, "the cotangent", map.paths);
    return one_or_tuple(put_together(like_, map(leaves)));
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
