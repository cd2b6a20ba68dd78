// JitCache: the programs that one jitted function has compiled, by the types it was called with.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/cost.h"
#include "anabranch/detail/any_function.h"
#include "anabranch/detail/signature.h"
#include "anabranch/donate.h"
#include "anabranch/export.h"
#include "anabranch/options.h"
#include "anabranch/source_location.h"
#include "anabranch/stage.h"
#include "anabranch/trace.h"

namespace anabranch {   // of the library alone, so not exported
struct Compilation;     // codegen/compile.h
struct Specialization;  // a function compiled for one signature: frontend/run/jit_cache.cpp
}  // namespace anabranch

namespace ANABRANCH_API anabranch {

using SpecializationPtr = std::shared_ptr<const Specialization>;

/// A handle. The least recently used go when there are more than `limit`. Several threads may use
/// it at once.
class JitCache {
 public:
  static constexpr std::size_t limit = 512;

  struct Traced {
    std::shared_ptr<const TracedGraph> traced;
    std::shared_ptr<const void> result;  ///< its Arrays empty
  };
  using Trace = detail::AnyFunction<Traced()>;

  /// A fixed one compiles once and refuses every other signature. `made` is where the user wrote
  /// jit, or what compile was given: errors end with it.
  JitCache(const Options& options, bool fixed, SourceLocation made);
  /// With `default_options`.
  JitCache(bool fixed, SourceLocation made);

  /// Null if there is none.
  SpecializationPtr find(const Signature& signature) const;

  /// Traces and compiles, once however many threads ask. Throws Error for empty arrays.
  SpecializationPtr add(const Signature& signature, Description description,
                        const Trace& trace) const;

  /// Dispatches one call, which consumes what is donated to it. Throws Error, and consumes nothing,
  /// for an argument that was donated before.
  std::vector<Array> run(const Specialization& compiled, const Signature& signature,
                         std::span<const Donation> donations) const;

  SourceLocation made() const;
  int traces() const;
  std::string last_retrace() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

namespace detail {

const std::shared_ptr<const Compilation>& compilation_of(const Specialization& compiled);
/// Of the traced function, its Arrays empty.
const void* result_of(const Specialization& compiled);
/// The text of one stage, after a comment for each array that the function captures.
std::string dump(const Specialization& compiled, Stage stage);
std::string to_dot(const Specialization& compiled, Stage stage);
ProgramCost cost(const Specialization& compiled);
ProgramMemory memory(const Specialization& compiled);

/// A number as an array of rank 0 that takes the dtype of what it meets.
Array weak_array(const Operand& number);

}  // namespace detail
}  // namespace anabranch
