// jit: a C++ function over arrays, compiled once for the types that it is called with.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "anabranch/detail/jit_cache.h"
#include "anabranch/detail/signature.h"
#include "anabranch/donate.h"
#include "anabranch/export.h"
#include "anabranch/trace.h"

namespace ANABRANCH_API anabranch {

/// A compiled function: a handle, copied freely, that several threads may call at once.
///
/// The first call with arguments of new types traces and compiles; later ones only dispatch.
/// Numbers are inputs, so a changed number does not compile again; a changed static_arg does.
/// Called on traced arrays it becomes part of that trace.
///
/// What the function captures is not an argument. It is read while the function is traced, and
/// what is compiled keeps what was there then: a capture by reference sees no later value, of an
/// array or of anything else, until other types trace again. An array that may change is passed as
/// an argument. The stage `trace` of `dump` names the arrays that were captured.
template <class Function>
class Jit {
 public:
  Jit(Function function, JitCache cache)
      : function_(std::move(function)), cache_(std::move(cache)) {}

  /// Returns at once, with results that arrive later. What is wrong with the call throws Error.
  /// Arguments may be donated: see donate.
  template <class... Args>
  auto operator()(const Args&... args) const {
    std::vector<Donation> donations;
    (detail::add_donations(donations, args), ...);
    return call(donations, detail::argument(args)...);
  }
  /// The text of one stage of what these arguments (or specs) compile to. The stage `trace` begins
  /// with a comment for each array that the function captures.
  template <class... Args>
  std::string dump(Stage stage, const Args&... args) const {
    return detail::dump(*specialized(args...), stage);
  }
  /// The picture of one stage, as Graphviz DOT. Throws Error for a stage other than `trace`,
  /// `optimized` and `schedule`.
  template <class... Args>
  std::string to_dot(Stage stage, const Args&... args) const {
    return detail::to_dot(*specialized(args...), stage);
  }
  /// What one call computes and moves.
  template <class... Args>
  ProgramCost cost(const Args&... args) const {
    return detail::cost(*specialized(args...));
  }
  /// What one call takes, in bytes.
  template <class... Args>
  ProgramMemory memory(const Args&... args) const {
    return detail::memory(*specialized(args...));
  }
  /// Everything between the trace and the executable for these arguments (or specs): for the
  /// library's own tests and tools, since no public header says what a Compilation is.
  template <class... Args>
  std::shared_ptr<const Compilation> compilation(const Args&... args) const {
    return detail::compilation_of(*specialized(args...));
  }

  /// How often it was traced.
  int traces() const { return cache_.traces(); }
  /// Which arguments of the last trace differed from the nearest one before; empty after the first.
  std::string last_retrace() const { return cache_.last_retrace(); }

 private:
  template <class... Args>
  auto call(std::span<const Donation> donations, const Args&... args) const {
    Signature signature = signature_of(args...);
    using Result = decltype(detail::trace_call(function_, {}, args...).result);
    if (signature.any_traced()) {
      Result result = inlined<Result>(args...);
      consume(donations);
      return result;
    }
    const SpecializationPtr compiled = specialization(signature, args...);
    std::vector<Array> outputs = cache_.run(*compiled, signature, donations);
    if constexpr (std::same_as<Result, Array>) {
      return std::move(outputs[0]);
    } else {
      Result result = *static_cast<const Result*>(detail::result_of(*compiled));
      std::size_t next = 0;
      tree::for_each_array(result, [&](Array& array) { array = std::move(outputs[next++]); });
      return result;
    }
  }

  template <class... Args>
  SpecializationPtr specialized(const Args&... args) const {
    return specialization(signature_of(detail::argument(args)...), detail::argument(args)...);
  }

  template <class... Args>
  SpecializationPtr specialization(const Signature& signature, const Args&... args) const {
    if (SpecializationPtr known = cache_.find(signature)) return known;
    return cache_.add(signature, describe_call(args...), [&] {
      auto traced = detail::trace_call(function_, cache_.made(), args...);
      using Result = decltype(traced.result);
      return JitCache::Traced{std::move(traced.traced),
                              std::shared_ptr<const void>(new Result(std::move(traced.result)))};
    });
  }

  template <class Result, class... Args>
  Result inlined(const Args&... args) const {
    std::tuple<detail::Traced<Args>...> whole{as_argument(args)...};
    return detail::call(function_, whole);
  }

  template <class T>
  static detail::Traced<T> as_argument(const T& argument) {
    if constexpr (std::is_arithmetic_v<T>)
      return detail::weak_array(argument);
    else
      return argument;
  }

  Function function_;
  JitCache cache_;
};

/// Compiles `function` when it is called, once per types of the arguments; the 512 most recently
/// used are kept. What it captures, by reference too, keeps the value of that call: see Jit.
template <class Function>
auto jit(Function function, const Options& options,
         std::source_location where = std::source_location::current()) {
  return Jit<Function>(std::move(function), JitCache(options, false, where));
}
template <class Function>
auto jit(Function function, std::source_location where = std::source_location::current()) {
  return Jit<Function>(std::move(function), JitCache(false, where));
}

/// Compiles `function` now, for arguments of exactly these types (specs, or trees of arrays). A
/// call with others throws Error, with the line of the first spec, or where the first array was
/// made.
template <class Function, class... Args>
requires(!std::same_as<Function, Graph>) auto compile(Function function, const Args&... args) {
  Jit<Function> compiled(std::move(function), JitCache(true, detail::location_of(args...)));
  compiled.compilation(args...);
  return compiled;
}

}  // namespace anabranch
