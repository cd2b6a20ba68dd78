// Derivatives of the user's, and what is not differentiated: `custom_jvp`, `custom_vjp`,
// `stop_gradient`.
//
//   auto log1pexp = ab::custom_jvp(
//       [](ab::Array x) { return ab::log(1 + ab::exp(x)); },
//       [](const std::tuple<ab::Array>& primals, const std::tuple<ab::Array>& tangents) {
//         auto [x] = primals;
//         auto [dx] = tangents;
//         return std::pair(ab::log(1 + ab::exp(x)), dx * ab::sigmoid(x));
//       });
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/callable.h"
#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"
// Last: it defines a macro.
#include "anabranch/detail/assert_callable.inc"

namespace ANABRANCH_API anabranch {

namespace detail {

/// Whether arrays of the dtype have tangents.
bool is_differentiable(const Array& array);

/// The function and the rule as one operation on the arguments. The rule's own parameters are the
/// arguments, then a tangent per argument that has one; its outputs those of the function, then a
/// tangent per output that has one.
Leaves call_with_jvp(const FunctionTrace& function, const FunctionTrace& rule,
                     const Leaves& arguments, SourceLocation where);
/// The same of `forward`, which gives the outputs, then residuals, and of `backward`, of residuals
/// and a cotangent per output that has one.
Leaves call_with_vjp(const FunctionTrace& function, const FunctionTrace& forward,
                     const FunctionTrace& backward, const Leaves& arguments, SourceLocation where);
Leaves stop_gradients(const Leaves& leaves, SourceLocation where);

/// Throws Error where a rule gives another tree than it should.
void demand_leaves_like(const char* transform, const Tree& given, const std::vector<Type>& wanted,
                        SourceLocation where);
/// Those that have tangents.
Leaves differentiable(const Leaves& leaves);

/// Parameters for what has tangents, zeros for the rest.
template <class T>
T tangent_parameters(const char* transform, FunctionTrace& trace, T like, SourceLocation where) {
  tree::for_each_array(like, [&](Array& array) {
    array = is_differentiable(array)
                ? trace.parameter(transform, "a tangent", array, where)
                : zeros_of(type_of_leaf(transform, "a tangent", array, where), where);
  });
  return like;
}

template <class Function, class Rule>
class CustomJvp {
 public:
  CustomJvp(Function function, Rule rule, SourceLocation where)
      : function_(std::move(function)), rule_(std::move(rule)), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr const char* transform = "custom_jvp";
    ANABRANCH_ASSERT_CALLABLE("the function of custom_jvp", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    using Tuple = ArgumentTuple<Args...>;
    ANABRANCH_ASSERT_CALLABLE("the rule of custom_jvp",
                              "rule(std::tuple of arguments, std::tuple of tangents)", Rule, Tuple&,
                              Tuple&);
    Tuple arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    using Result = std::decay_t<decltype(std::apply(function_, arguments))>;
    if (!any_traced(parts.leaves)) {
      Result result = std::apply(function_, arguments);
      // What the function captures may be traced, which the rule has to refuse.
      if (!any_traced(taken_apart(result, "the result").leaves)) return result;
    }
    FunctionTrace function;
    Result result = trace_function(transform, function, function_, arguments, parts, where_);
    FunctionTrace rule;
    Tuple primals = with_parameters(transform, rule, arguments, parts, where_);
    Tuple tangents = tangent_parameters(transform, rule, arguments, where_);
    auto given = rule_(primals, tangents);
    static_assert(is_carried_as<std::pair<Result, Result>, decltype(given)>(),
                  "the rule of custom_jvp returns std::pair(result, tangent), both of the type of "
                  "the function's result");
    Tree value = taken_apart(carried_as<Result>(std::get<0>(given)), "the rule's result");
    const Tree tangent = taken_apart(carried_as<Result>(std::get<1>(given)), "the rule's tangent");
    const std::vector<Type> types = types_of_leaves(taken_apart(result, "the result").leaves);
    demand_leaves_like(transform, value, types, where_);
    demand_leaves_like(transform, tangent, types, where_);
    for (const Array& leaf : differentiable(tangent.leaves)) value.leaves.push_back(leaf);
    rule.finish(transform, {value.leaves, {}}, where_);
    return put_together(std::move(result), call_with_jvp(function, rule, parts.leaves, where_));
  }

 private:
  Function function_;
  Rule rule_;
  SourceLocation where_;
};

template <class Function, class Forward, class Backward>
class CustomVjp {
 public:
  CustomVjp(Function function, Forward forward, Backward backward, SourceLocation where)
      : function_(std::move(function)),
        forward_(std::move(forward)),
        backward_(std::move(backward)),
        where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr const char* transform = "custom_vjp";
    ANABRANCH_ASSERT_CALLABLE("the function of custom_vjp", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    ANABRANCH_ASSERT_CALLABLE("the forward function of custom_vjp", "forward(arguments...)",
                              Forward, CarriedType<Args> & ...);
    using Tuple = ArgumentTuple<Args...>;
    Tuple arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    using Result = std::decay_t<decltype(std::apply(function_, arguments))>;
    if (!any_traced(parts.leaves)) {
      Result result = std::apply(function_, arguments);
      // What the function captures may be traced, which the rule has to refuse.
      if (!any_traced(taken_apart(result, "the result").leaves)) return result;
    }
    FunctionTrace function;
    Result result = trace_function(transform, function, function_, arguments, parts, where_);

    FunctionTrace forward;
    Tuple primals = with_parameters(transform, forward, arguments, parts, where_);
    auto given = std::apply(forward_, primals);
    using Given = decltype(given);
    static_assert(is_tuple_like<Given>,
                  "the forward function of custom_vjp returns std::pair(result, residuals)");
    using Residuals = CarriedType<std::tuple_element_t<1, Given>>;
    Residuals residuals = carried_as<Residuals>(std::get<1>(given));
    Tree outputs = taken_apart(carried_as<Result>(std::get<0>(given)), "the forward's result");
    demand_leaves_like(transform, outputs,
                       types_of_leaves(taken_apart(result, "the result").leaves), where_);
    const Tree kept = taken_apart(residuals, "the residuals");
    for (const Array& leaf : kept.leaves) outputs.leaves.push_back(leaf);

    FunctionTrace backward;
    tree::for_each_array(residuals, [&](Array& array) {
      array = backward.parameter(transform, "a residual", array, where_);
    });
    Result cotangent = tangent_parameters(transform, backward, result, where_);
    ANABRANCH_ASSERT_CALLABLE("the backward function of custom_vjp",
                              "backward(residuals, cotangent)", Backward, Residuals&, Result&);
    Tree gradients = taken_apart_gradients<Tuple>(backward_(residuals, cotangent));
    demand_leaves_like(transform, gradients, types_of_leaves(parts.leaves), where_);
    backward.finish(transform, {differentiable(gradients.leaves), {}}, where_);
    forward.finish(transform, {outputs.leaves, {}}, where_);
    return put_together(std::move(result),
                        call_with_vjp(function, forward, backward, parts.leaves, where_));
  }

 private:
  template <class Tuple, class Given>
  static Tree taken_apart_gradients(const Given& given) {
    if constexpr (std::tuple_size_v<Tuple> == 1 && !is_tuple_like<Given>) {
      return taken_apart(carried_as<std::tuple_element_t<0, Tuple>>(given), "the gradient");
    } else {
      static_assert(is_carried_as<Tuple, Given>(),
                    "the backward function of custom_vjp returns a std::tuple with a gradient for "
                    "each argument, of its type");
      return taken_apart(carried_as<Tuple>(given), "the gradient");
    }
  }

  Function function_;
  Forward forward_;
  Backward backward_;
  SourceLocation where_;
};

}  // namespace detail

/// `f` with a derivative of the user's: `rule(primals, tangents)`, of two tuples with an element
/// per argument, gives a pair: what f gives, and its tangent, which is linear in the tangents. Both
/// modes and all transforms go by it. What f or the rule captures has no derivative: to
/// differentiate by it is an Error.
template <class Function, class Rule>
auto custom_jvp(Function f, Rule rule,
                std::source_location where = std::source_location::current()) {
  return detail::CustomJvp<Function, Rule>(std::move(f), std::move(rule), where);
}

/// `f` with a derivative of the user's for reverse mode: `forward(x...)` gives a pair of what f
/// gives and residuals, any tree; `backward(residuals, cotangent)` a tuple with the gradient by
/// each argument (of one argument, the gradient itself). There is no forward mode: jvp is an Error.
template <class Function, class Forward, class Backward>
auto custom_vjp(Function f, Forward forward, Backward backward,
                std::source_location where = std::source_location::current()) {
  return detail::CustomVjp<Function, Forward, Backward>(std::move(f), std::move(forward),
                                                        std::move(backward), where);
}

/// x, an array or a tree of them, as a constant for all derivatives.
template <class T>
T stop_gradient(const T& x, std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<T>());
  const detail::Tree parts = detail::taken_apart(x, "x");
  return detail::put_together(x, detail::stop_gradients(parts.leaves, where));
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
