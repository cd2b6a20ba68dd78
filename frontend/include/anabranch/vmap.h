// vmap: a function of single examples as a function of batches of them, without a loop.
//
//   auto loss = [](const Params& p, ab::Array x, ab::Array t) { ... };             // of one
//   example auto losses = ab::vmap(loss, ab::in_axes(ab::unmapped, 0, 0));                 // of
//   each ab::Array all = losses(params, xs, ts);                                        // [batch]
//
// The function is traced once, at the types of one example, and each of its operations becomes one
// on the whole batch: a dot of vectors becomes a product of matrices. What does not depend on a
// mapped argument is computed once. It works inside `jit`, `trace`, loops, other transforms and
// another `vmap`, on jitted functions, and on arrays outside of all of these. What the function
// captures is unmapped.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/assert_callable.inc"
#include "anabranch/detail/callable.h"
#include "anabranch/detail/carry.h"
#include "anabranch/detail/traced_function.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// In place of an axis: the same argument for every example, or a result that is the same for all.
struct Unmapped {};
inline constexpr Unmapped unmapped{};

namespace detail {

/// The axis of one argument or result that counts the examples.
struct MappedAxis {
  std::int64_t axis = 0;  ///< a negative one counts from the end
  bool is_mapped = true;
  bool is_default = true;  ///< nobody wrote it

  MappedAxis() = default;
  template <std::integral T>
  MappedAxis(T number) : axis(static_cast<std::int64_t>(number)), is_default(false) {}
  MappedAxis(Unmapped) : is_mapped(false), is_default(false) {}
};

template <class... Axes>
consteval bool are_axes() {
  static_assert(sizeof...(Axes) > 0,
                "in_axes and out_axes take at least one axis: leave them out for axis 0 of all");
  constexpr bool all =
      ((std::integral<Axes> || std::same_as<std::remove_const_t<Axes>, Unmapped>)&&...);
  static_assert(all, "an entry of in_axes or out_axes is neither a whole number nor ab::unmapped");
  return all && sizeof...(Axes) > 0;
}

}  // namespace detail

/// The mapped axis of each argument; of none: axis 0 of all.
template <std::size_t count>
struct InAxes {
  std::vector<detail::MappedAxis> axes = {};
};
/// The mapped axis of the result, or of each element of a tuple; of none: axis 0 of all.
template <std::size_t count>
struct OutAxes {
  std::vector<detail::MappedAxis> axes = {};
};

/// One entry per argument: the axis of each array in it, negative from the end, or `ab::unmapped`.
template <class... Axes>
InAxes<sizeof...(Axes)> in_axes(Axes... axes) {
  if constexpr (detail::are_axes<Axes...>()) return {{detail::MappedAxis(axes)...}};
  return {};
}
/// One entry for the whole result, or one per element where it is a tuple or a pair: the axis of
/// each array in it, negative from the end, or `ab::unmapped`.
template <class... Axes>
OutAxes<sizeof...(Axes)> out_axes(Axes... axes) {
  if constexpr (detail::are_axes<Axes...>()) return {{detail::MappedAxis(axes)...}};
  return {};
}

namespace detail {

/// The arrays of a call's arguments, and the mapped axis of each.
struct MappedArguments {
  Tree tree;
  std::vector<MappedAxis> axes;
  int count = 0;

  template <class T>
  void add(const T& argument, const MappedAxis& axis) {
    FormVisitor visitor(tree.form, "argument", count++);
    tree::walk(argument, visitor);
    tree::for_each_array(argument, [&](const Array& array) {
      tree.leaves.push_back(array);
      axes.push_back(axis);
    });
  }
};

/// One call: it begins by tracing the function at the types of one example.
class VmapCall {
 public:
  /// Throws Error where an argument has no such axis, where the sizes of the axes differ, or where
  /// nothing is mapped.
  VmapCall(const MappedArguments& arguments, SourceLocation where);
  ~VmapCall();
  VmapCall(const VmapCall&) = delete;
  VmapCall& operator=(const VmapCall&) = delete;

  /// What the function sees.
  const Leaves& parameters() const;
  /// What the call gives, where the function has given `result`; an axis per array of it. Throws
  /// Error where a result has no such axis, or differs among the examples and is to be unmapped.
  Leaves results(const Tree& result, const std::vector<MappedAxis>& axes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The entries of `out_axes`, one per array of `result`.
template <std::size_t count, class Result>
std::vector<MappedAxis> axes_of_result(const Result& result, const OutAxes<count>& out) {
  std::vector<MappedAxis> axes;
  auto add = [&](const auto& part, const MappedAxis& axis) {
    tree::for_each_array(part, [&](const Array&) { axes.push_back(axis); });
  };
  if constexpr (count <= 1) {
    add(result, count == 0 ? MappedAxis() : out.axes[0]);
  } else {
    std::size_t at = 0;
    std::apply([&](const auto&... parts) { (add(parts, out.axes[at++]), ...); }, result);
  }
  return axes;
}

template <std::size_t count, class Result>
consteval bool fits_out_axes() {
  if constexpr (count > 1) {
    constexpr bool fits = [] {
      if constexpr (is_tuple_like<Result>) return std::tuple_size_v<Result> == count;
      return false;
    }();
    static_assert(fits,
                  "out_axes has several entries, and the function of vmap does not return a tuple "
                  "or a pair of as many elements: give one entry per element, or one for all");
  }
  return true;
}

}  // namespace detail

/// What `vmap` gives: a function, copied as the one that it holds is.
template <class Function, std::size_t in_count, std::size_t out_count>
class Vmap {
 public:
  Vmap(Function function, InAxes<in_count> in, OutAxes<out_count> out, SourceLocation where)
      : function_(std::move(function)), in_(std::move(in)), out_(std::move(out)), where_(where) {}

  /// The results of all examples. Returns at once; inside a trace it is part of that.
  template <class... Args>
  auto operator()(const Args&... args) const {
    static_assert(sizeof...(Args) > 0,
                  "the function of vmap takes no arguments, so that none can be mapped");
    static_assert(in_count == 0 || in_count == sizeof...(Args),
                  "in_axes of vmap has another number of entries than the call has arguments: give "
                  "one axis, or ab::unmapped, for each argument");
    static_assert((tree::is_tree<detail::CarriedType<Args>>() && ...));
    ANABRANCH_ASSERT_CALLABLE("the function of vmap", "f(arguments...)", Function,
                              detail::CarriedType<Args> & ...);
    using Given = std::invoke_result_t<const Function&, detail::CarriedType<Args>&...>;
    static_assert(!std::is_void_v<Given>,
                  "the function of vmap returns nothing: return its results, an ab::Array or a "
                  "tree (a struct, a tuple ...) of them");
    if constexpr (in_count == 0 || in_count == sizeof...(Args)) {
      return call<detail::CarriedType<Given>>(
          detail::ArgumentTuple<Args...>{detail::carried_as<detail::CarriedType<Args>>(args)...});
    }
  }

 private:
  template <class Result, class Tuple>
  Result call(Tuple arguments) const {
    static_assert(tree::is_tree<Result>() && detail::fits_out_axes<out_count, Result>());
    detail::MappedArguments mapped;
    std::size_t at = 0;
    auto add = [&](const auto& argument) {
      mapped.add(argument, in_count == 0 ? detail::MappedAxis() : in_.axes[at++]);
    };
    std::apply([&](const auto&... each) { (add(each), ...); }, arguments);
    detail::VmapCall call(mapped, where_);
    arguments = detail::put_together(std::move(arguments), call.parameters());
    Result result = detail::carried_as<Result>(std::apply(function_, arguments));
    const Leaves results =
        call.results(detail::taken_apart(result, "result"), detail::axes_of_result(result, out_));
    return detail::put_together(std::move(result), results);
  }

  using Leaves = detail::Leaves;

  Function function_;
  InAxes<in_count> in_;
  OutAxes<out_count> out_;
  SourceLocation where_;
};

/// `function` for every example at once: its arguments have an axis more, which counts the examples
/// (the first one unless `in` says otherwise), and its results too (`out`). A C++ number is the
/// same for all examples unless `in` says otherwise. Where it has a loop whose condition differs
/// among the examples, the loop runs until all are done; of a `cond` or `switch_` whose choice
/// differs, all branches are computed. Errors, thrown by the call, name the line of this.
template <class Function, std::size_t in_count, std::size_t out_count>
auto vmap(Function function, InAxes<in_count> in, OutAxes<out_count> out,
          std::source_location where = std::source_location::current()) {
  return Vmap<Function, in_count, out_count>(std::move(function), std::move(in), std::move(out),
                                             where);
}
template <class Function, std::size_t in_count>
auto vmap(Function function, InAxes<in_count> in,
          std::source_location where = std::source_location::current()) {
  return Vmap<Function, in_count, 0>(std::move(function), std::move(in), {}, where);
}
template <class Function, std::size_t out_count>
auto vmap(Function function, OutAxes<out_count> out,
          std::source_location where = std::source_location::current()) {
  return Vmap<Function, 0, out_count>(std::move(function), {}, std::move(out), where);
}
template <class Function>
auto vmap(Function function, std::source_location where = std::source_location::current()) {
  return Vmap<Function, 0, 0>(std::move(function), {}, {}, where);
}

}  // namespace anabranch

#undef ANABRANCH_ASSERT_CALLABLE
