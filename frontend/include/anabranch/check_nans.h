// check_nans: where a NaN comes from.
#pragma once

#include <source_location>
#include <utility>
#include <vector>

#include "anabranch/custom_rules.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {
namespace detail {

/// Waits for the outputs; throws Error where one of them holds a NaN.
void demand_no_nans(const FunctionTrace& function, const ArgumentLeaves& arguments,
                    const Leaves& outputs, SourceLocation where);

template <class Function>
class CheckNans {
 public:
  CheckNans(Function function, SourceLocation where)
      : function_(std::move(function)), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    ArgumentTuple<Args...> arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    using Result = std::decay_t<decltype(std::apply(function_, arguments))>;
    if (any_traced(parts.leaves)) return Result(std::apply(function_, arguments));
    FunctionTrace trace;
    Result result = trace_function("check_nans", trace, function_, arguments, parts, where_);
    const Leaves outputs =
        call_graph("check_nans", trace.graph(), trace.with_captures(parts.leaves), where_);
    demand_no_nans(trace, parts, outputs, where_);
    return put_together(std::move(result), outputs);
  }

 private:
  Function function_;
  SourceLocation where_;
};

}  // namespace detail

/// `f`, which throws Error where a result holds a NaN: with the op that gave the first one of
/// operands without, its types and the line where the user wrote it, and the turn of the loops that
/// it is in. Gradients are functions, so `check_nans(grad(f))` looks at the backward pass as well.
/// The call waits for its results; where there is a NaN, f is computed again, op by op, by the
/// interpreter, which is slow. Inside a trace it is f and checks nothing.
template <class Function>
auto check_nans(Function f, std::source_location where = std::source_location::current()) {
  return detail::CheckNans<Function>(std::move(f), where);
}

}  // namespace anabranch
