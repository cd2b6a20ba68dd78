// What reverse mode keeps of a function, and what it computes again: `checkpoint`, policies, and
// `checkpoint_name`.
//
//   auto block = ab::checkpoint(
//       [](Layer layer, ab::Array x) {
//         ab::Array a = ab::checkpoint_name(attention(layer, x), "attention");
//         return x + mlp(layer, a);
//       },
//       ab::save_only_names({"attention"}));
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/detail/callable.h"
#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"
#include "anabranch/type.h"
// Last: it defines a macro.
#include "anabranch/detail/assert_callable.inc"

namespace ANABRANCH_API anabranch {

/// A value that a function computes, for a policy to say whether it is kept.
struct CheckpointCandidate {
  std::string_view op;    ///< what computes it, as docs/ir.md names it: "dot"; "parameter" of a
                          ///< named value that a loop carries into its turns
  Type type;              ///< in a loop or a branch, that of one turn
  std::string_view name;  ///< what checkpoint_name calls it; empty where it has no name
  SourceLocation where;   ///< the line that computes it
};

// --- policies: functions from a candidate to a bool ----------------------------------------------

/// The arguments alone are kept.
inline bool save_nothing(const CheckpointCandidate&) { return false; }
/// All that the derivatives read is kept, and nothing of the function computed again.
inline bool save_everything(const CheckpointCandidate&) { return true; }
/// Results of products are kept: matmul, dot, einsum, conv.
inline bool save_dots(const CheckpointCandidate& value) {
  return value.op == "dot" || value.op == "convolution";
}

/// Values that have one of these names are kept.
struct SaveOnlyNames {
  std::vector<std::string> names;

  bool operator()(const CheckpointCandidate& value) const {
    for (const std::string& name : names) {
      if (name == value.name) return true;
    }
    return false;
  }
};
/// The policy that keeps values of these names. `checkpoint` throws Error where no value of the
/// function has one of them.
inline SaveOnlyNames save_only_names(std::vector<std::string> names) { return {std::move(names)}; }

namespace detail {

using CheckpointPolicy = AnyFunction<bool(const CheckpointCandidate&)>;

/// `demanded` are names that values of the function must have.
Leaves call_checkpoint(const FunctionTrace& function, const CheckpointPolicy& policy,
                       const std::vector<std::string>& demanded, const Leaves& arguments,
                       SourceLocation where);
Leaves with_name(const Leaves& leaves, std::string_view name, SourceLocation where);

template <class Function, class Policy>
class Checkpoint {
 public:
  Checkpoint(Function function, Policy policy, SourceLocation where)
      : function_(std::move(function)), policy_(std::move(policy)), where_(where) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    ANABRANCH_ASSERT_CALLABLE("the function of checkpoint", "f(arguments...)", Function,
                              CarriedType<Args> & ...);
    ArgumentTuple<Args...> arguments{carried_as<CarriedType<Args>>(args)...};
    const ArgumentLeaves parts = taken_apart_arguments(arguments);
    using Result = std::decay_t<decltype(std::apply(function_, arguments))>;
    if (!any_traced(parts.leaves)) return Result(std::apply(function_, arguments));
    FunctionTrace function;
    Result result = trace_function("checkpoint", function, function_, arguments, parts, where_);
    return put_together(std::move(result),
                        call_checkpoint(function, policy_, demanded(), parts.leaves, where_));
  }

 private:
  std::vector<std::string> demanded() const {
    if constexpr (std::same_as<Policy, SaveOnlyNames>) {
      return policy_.names;
    } else {
      return {};
    }
  }

  Function function_;
  Policy policy_;
  SourceLocation where_;
};

}  // namespace detail

/// `f`, of which reverse mode keeps the arguments, and of the values that it computes those for
/// which `policy(const CheckpointCandidate&)` is true; it computes the rest again. Memory for time.
/// Asked about is each value of f, of its loops and branches, where f is traced: once, or with each
/// of its names; not about constants, nor about values of another `checkpoint` in f, which has a
/// policy of its own. Of a loop, a value is kept for each turn; of a `while_loop` none, since it is
/// computed again turn by turn. An exception of the policy goes through the call of f.
template <class Function, class Policy = bool (*)(const CheckpointCandidate&)>
auto checkpoint(Function f, Policy policy = save_nothing,
                std::source_location where = std::source_location::current()) {
  static_assert(std::is_invocable_r_v<bool, Policy&, const CheckpointCandidate&>,
                "the policy of checkpoint is a function from a const ab::CheckpointCandidate& to a "
                "bool, such as ab::save_dots or ab::save_only_names({\"a\"})");
  return detail::Checkpoint<Function, Policy>(std::move(f), std::move(policy), where);
}

/// x, an array or a tree of them, with a name that the policy of a `checkpoint` around it sees.
/// Throws Error for an empty name.
template <class T>
T checkpoint_name(const T& x, std::string_view name,
                  std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<T>());
  const detail::Tree parts = detail::taken_apart(x, "x");
  return detail::put_together(x, detail::with_name(parts.leaves, name, where));
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
