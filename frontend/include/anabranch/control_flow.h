// Loops and branches that are part of the program: `cond`, `switch_`, `while_loop`, `fori_loop`,
// `scan`, `map`.
//
//   auto [steps, x] = ab::while_loop(
//       [&](auto& state) { return std::get<0>(state) < limit; },
//       [&](auto& state) {
//         auto& [i, x] = state;
//         return std::tuple{i + 1, ab::tanh(ab::matmul(w, x))};
//       },
//       std::tuple{0, x0});
//
// What is carried, and what branches take and give, are trees (anabranch/tree.h); a number in
// a tuple, or on its own, is traced too. The functions are traced, not run: they are called once or
// twice with arrays that have no values yet, and whatever traced arrays they capture become
// operands of the loop. What a loop's functions compute from captured arrays alone is computed
// once, before the loop; what a branch computes, only when it is taken.
//
// Inside a trace the loop becomes one node; outside, it is compiled at once and the results arrive
// later. Every carried array keeps its type: one that would change it is an Error that names it.
#pragma once

#include <optional>

#include "anabranch/detail/any_function.h"
#include "anabranch/detail/assert_callable.inc"
#include "anabranch/detail/callable.h"
#include "anabranch/detail/carry.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// How a loop is taken backwards where the number of its turns is known only once it has run:
/// `while_loop`, and `fori_loop` with bounds that are arrays.
struct WhileOptions {
  /// How many states of what is carried are kept at once; nothing means 32. The others are computed
  /// again: n turns take less than t n where binomial(kept_states + t, t) >= n (Griewank, Walther:
  /// Algorithm 799, ACM TOMS 26(1), 2000). Below 1: Error.
  std::optional<std::int64_t> kept_states = {};
};

namespace detail {

/// A loop over leaves. `invariants` are handed to both functions in every turn.
struct Loop {
  const char* function;
  SourceLocation where;
  Tree init;
  WhileOptions options = {};
  Leaves invariants = {};
  AnyFunction<Array(const Leaves& carry, const Leaves& invariants)> condition = {};
  AnyFunction<Tree(const Leaves& carry, const Leaves& invariants)> body = {};
};
Leaves run_while(const Loop& loop);

/// The same with an index that counts from `lower` to `upper` in front of the carry.
Leaves run_fori(const Operand& lower, const Operand& upper, Tree init,
                const AnyFunction<Tree(const Array& index, const Leaves& carry)>& body,
                const WhileOptions& options = {});

struct Scan {
  SourceLocation where;
  Tree init;
  Tree xs;
  std::optional<std::int64_t> length;  ///< that of xs where nothing is given
  AnyFunction<std::pair<Tree, Tree>(const Leaves& carry, const Leaves& x)> step = {};
};
/// The last carry, and what every step gave, one above the other.
std::pair<Leaves, Leaves> run_scan(const Scan& scan);

/// What each of these functions gives, for the one that runs. `names` are theirs in messages.
struct Branches {
  const char* function;
  SourceLocation where;
  Leaves arguments;
  std::vector<std::string> names;
  std::vector<AnyFunction<Tree(const Leaves& arguments)>> functions;
};
Leaves run_branches(const Array& index, const Branches& branches);

/// The bool scalar `predicate` as the number of a branch.
Array branch_of(const char* function, const Operand& predicate);
/// The integer scalar `index` within the branches' numbers.
Array branch_of(const char* function, const Operand& index, std::size_t branches);

template <class To, class From>
Tree next_carry(const From& value, const char* name = "carry") {
  return taken_apart(carried_as<To>(value), name);
}

/// Whether what a loop's function gives may be the next carry; else the compiler's first error says
/// why not.
template <class Carry, class Next>
consteval bool is_next_carry() {
  static_assert(!std::is_void_v<Next>,
                "the body of a loop returns nothing: return the next carry, of the type of the "
                "first; what changes inside the body is no part of it");
  if constexpr (!std::is_void_v<Next>) {
    static_assert(is_carried_as<Carry, std::decay_t<Next>>(),
                  "the body of a loop returns another type than it carries: return the next carry, "
                  "of the type of the first: the same structs and tuples of arrays");
  }
  return true;
}

template <class Result, class Given>
consteval bool is_branch_result() {
  static_assert(!std::is_void_v<Result> && !std::is_void_v<Given>,
                "a branch returns nothing: return its results, an ab::Array or a tree (a struct, a "
                "tuple ...) of them");
  if constexpr (!std::is_void_v<Result> && !std::is_void_v<Given>) {
    static_assert(tree::is_tree<Result>());
    static_assert(is_carried_as<Result, std::decay_t<Given>>(),
                  "the branches return different types: return the same structs and tuples of "
                  "arrays from each");
  }
  return true;
}

template <class Function, class... Args>
consteval bool is_branch() {
  ANABRANCH_ASSERT_CALLABLE("a branch", "f(arguments...)", Function, Args...);
  return callable<Function, Args...> == Callable::yes;
}

/// Whether the functions of a tuple may be the branches that take `Args`.
template <class Functions, class... Args, std::size_t... At>
consteval bool are_branches(std::index_sequence<At...>) {
  if constexpr ((is_branch<std::remove_cvref_t<std::tuple_element_t<At, Functions>>, Args...>() &&
                 ...)) {
    using First = CarriedType<std::invoke_result_t<std::tuple_element_t<0, Functions>, Args...>>;
    return (
        is_branch_result<First,
                         std::invoke_result_t<std::tuple_element_t<At, Functions>, Args...>>() &&
        ...);
  } else {
    return false;
  }
}

// The functions with their index and arguments bound to one result type.
template <class Functions, class... Args>
auto branch(const char* name, const Array& index, SourceLocation where,
            std::vector<std::string> names, const Functions& functions, const Args&... args) {
  static_assert(are_branches<const Functions, CarriedType<Args>&...>(
      std::make_index_sequence<std::tuple_size_v<Functions>>()));
  using First = std::tuple_element_t<0, Functions>;
  using Arguments = std::tuple<CarriedType<Args>...>;
  const Arguments arguments{carried_as<CarriedType<Args>>(args)...};
  using Result = CarriedType<std::invoke_result_t<const First&, CarriedType<Args>&...>>;
  std::optional<Result> like;
  Branches branches{name, where, taken_apart(arguments, "argument").leaves, std::move(names), {}};
  auto add = [&](const auto& function) {
    branches.functions.push_back([&](const Leaves& leaves) {
      Arguments own = put_together(arguments, leaves);
      const auto given = std::apply(function, own);
      Result result = carried_as<Result>(given);
      Tree tree = taken_apart(result, "result");
      if (!like) like = std::move(result);
      return tree;
    });
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, functions);
  const Leaves results = run_branches(index, branches);
  return put_together(std::move(*like), results);
}

}  // namespace detail

/// What `on_true(args...)` gives where the bool scalar `predicate` holds, else what
/// `on_false(args...)` gives; only that one is computed. Both give the same types: throws Error
/// naming the array that differs.
template <class OnTrue, class OnFalse, class... Args>
auto cond(const Operand& predicate, const OnTrue& on_true, const OnFalse& on_false,
          const Args&... args) {
  return detail::branch("cond", detail::branch_of("cond", predicate), predicate.where(),
                        {"the false branch", "the true branch"},
                        std::tuple<const OnFalse&, const OnTrue&>(on_false, on_true), args...);
}

/// What the function number `index` of the tuple `functions` gives for `args`; only that one is
/// computed. An index below 0 means the first, one beyond the last means the last (JAX calls this
/// `switch`). Throws Error unless index is an integer scalar and all give the same types.
template <class... Functions, class... Args>
auto switch_(const Operand& index, const std::tuple<Functions...>& functions, const Args&... args) {
  constexpr std::size_t count = sizeof...(Functions);
  static_assert(count > 0, "switch_ needs at least one function");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("branch " + std::to_string(i));
  return detail::branch("switch_", detail::branch_of("switch_", index, count), index.where(),
                        std::move(names), functions, args...);
}

/// The carry once `condition(carry)`, a bool scalar, fails: it begins as `init` and becomes
/// `body(carry)` as long as it holds. Each array keeps its shape and dtype; one made from a number
/// takes the dtype that the body gives it.
template <class Condition, class Body, class Init>
auto while_loop(const Condition& condition, const Body& body, const Init& init,
                const WhileOptions& options = {},
                std::source_location where = std::source_location::current()) {
  using Carry = detail::CarriedType<Init>;
  static_assert(tree::is_tree<Carry>());
  ANABRANCH_ASSERT_CALLABLE("the condition of while_loop", "condition(carry)", Condition, Carry&);
  static_assert(
      std::is_convertible_v<std::invoke_result_t<const Condition&, Carry&>, Operand>,
      "the condition of while_loop returns neither an ab::Array nor a bool: return a bool "
      "scalar");
  ANABRANCH_ASSERT_CALLABLE("the body of while_loop", "body(carry)", Body, Carry&);
  static_assert(detail::is_next_carry<Carry, std::invoke_result_t<const Body&, Carry&>>());
  using detail::Leaves;
  const Carry start = detail::carried_as<Carry>(init);
  detail::Loop loop{"while_loop", where, detail::taken_apart(start, "carry"), options};
  loop.condition = [&](const Leaves& leaves, const Leaves&) -> Array {
    Carry carry = detail::put_together(start, leaves);
    return as_array("while_loop", Operand(std::apply(condition, std::tie(carry)), where));
  };
  loop.body = [&](const Leaves& leaves, const Leaves&) {
    Carry carry = detail::put_together(start, leaves);
    return detail::next_carry<Carry>(std::apply(body, std::tie(carry)));
  };
  return detail::put_together(start, detail::run_while(loop));
}

/// The carry after `body(i, carry)` for i = lower, ..., upper - 1: integer scalars, whose dtype i
/// takes; numbers, or arrays known only when it runs.
template <class Body, class Init>
auto fori_loop(const Operand& lower, const Operand& upper, const Body& body, const Init& init,
               const WhileOptions& options = {}) {
  using Carry = detail::CarriedType<Init>;
  static_assert(tree::is_tree<Carry>());
  ANABRANCH_ASSERT_CALLABLE("the body of fori_loop", "body(i, carry)", Body, const Array&, Carry&);
  static_assert(
      detail::is_next_carry<Carry, std::invoke_result_t<const Body&, const Array&, Carry&>>());
  const Carry start = detail::carried_as<Carry>(init);
  return detail::put_together(
      start, detail::run_fori(
                 lower, upper, detail::taken_apart(start, "carry"),
                 [&](const Array& index, const detail::Leaves& leaves) {
                   Carry carry = detail::put_together(start, leaves);
                   return detail::next_carry<Carry>(std::apply(body, std::tie(index, carry)));
                 },
                 options));
}

namespace detail {

/// Whether what a step of scan gives is a pair of the next carry and a tree.
template <class Carry, class Stepped>
consteval bool is_scan_step() {
  constexpr bool pair = [] {
    if constexpr (is_tuple_like<Stepped>) return std::tuple_size_v<Stepped> == 2;
    return false;
  }();
  static_assert(pair,
                "the step of scan does not return a pair: return std::pair(carry, y), the next "
                "carry and what to collect; std::tuple<>() for y collects nothing");
  if constexpr (pair) {
    static_assert(is_next_carry<Carry, std::tuple_element_t<0, Stepped>>());
    static_assert(tree::is_tree<CarriedType<std::tuple_element_t<1, Stepped>>>());
  }
  return true;
}

template <class Init, class Xs, class Step>
auto scan(const Init& init, const Xs& xs, std::optional<std::int64_t> length, const Step& step,
          SourceLocation where) {
  using Carry = CarriedType<Init>;
  using Stepped = std::decay_t<std::invoke_result_t<const Step&, Carry&, Xs&>>;
  static_assert(is_scan_step<Carry, Stepped>());
  using Y = CarriedType<std::tuple_element_t<1, Stepped>>;
  const Carry start = carried_as<Carry>(init);
  std::optional<Y> like;
  Scan scan{where, taken_apart(start, "carry"), taken_apart(xs, "xs"), length};
  scan.step = [&](const Leaves& carried, const Leaves& slabs) {
    Carry carry = put_together(start, carried);
    Xs x = put_together(xs, slabs);
    const auto stepped = std::apply(step, std::tie(carry, x));
    Y y = carried_as<Y>(std::get<1>(stepped));
    Tree collected = taken_apart(y, "y");
    if (!like) like = std::move(y);
    return std::pair(next_carry<Carry>(std::get<0>(stepped)), std::move(collected));
  };
  auto [last, ys] = run_scan(scan);
  return std::pair(put_together(start, last), put_together(std::move(*like), ys));
}

}  // namespace detail

/// `step(carry, x)` for each slab x of `xs`, a tree of arrays of one first size n, in order; it
/// returns a pair: the next carry and a y. Gives the last carry and the ys, each array with a first
/// axis of n more.
template <class Step, class Init, class Xs>
requires(!std::integral<Xs>) auto scan(
    const Step& step, const Init& init, const Xs& xs,
    std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<detail::CarriedType<Init>>() && tree::is_tree<Xs>());
  ANABRANCH_ASSERT_CALLABLE("the step of scan", "step(carry, x)", Step, detail::CarriedType<Init>&,
                            Xs&);
  return detail::scan(init, xs, std::nullopt, step, where);
}

/// The same of `step(carry)`, `length` times.
template <class Step, class Init, std::integral Length>
auto scan(const Step& step, const Init& init, Length length,
          std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<detail::CarriedType<Init>>());
  ANABRANCH_ASSERT_CALLABLE("the step of scan", "step(carry)", Step, detail::CarriedType<Init>&);
  return detail::scan(
      init, std::tuple<>(), static_cast<std::int64_t>(length),
      [&](auto& carry, const std::tuple<>&) { return std::apply(step, std::tie(carry)); }, where);
}

/// What `f` gives for each slab of `xs`, a tree of arrays of one first size n, each array with a
/// first axis of n more. Slab after slab, in the memory that one takes, but all at once where that
/// is one kernel (docs/control_flow.md).
template <class F, class Xs>
requires(!std::integral<Xs>) auto map(
    const F& f, const Xs& xs, std::source_location where = std::source_location::current()) {
  static_assert(tree::is_tree<Xs>());
  ANABRANCH_ASSERT_CALLABLE("the function of map", "f(x)", F, Xs&);
  const auto step = [&](auto& none, auto& x) {
    return std::pair(none, std::apply(f, std::tie(x)));
  };
  return detail::scan(std::tuple<>(), xs, std::nullopt, step, where).second;
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
