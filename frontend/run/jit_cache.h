// JitCache: the programs that one jitted function has compiled, by the types it was called with.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "frontend/array/array.h"
#include "frontend/ops/operand.h"
#include "frontend/run/donate.h"
#include "frontend/trace/signature.h"
#include "ir/source_location.h"

namespace anabranch {

/// A function compiled for one signature.
struct Specialization {
  struct Parameter {
    Type type;
    bool weak = false;
    std::optional<Device> device;  ///< nothing for a number, which goes where it is wanted
  };
  struct Output {
    Type type;
    bool weak = false;  ///< made from C++ numbers alone
  };
  const void* form = nullptr;
  std::vector<Parameter> parameters;
  Key statics;
  Description description;
  std::shared_ptr<const Compilation> compilation;
  std::vector<Output> outputs;
  std::string notes;                   ///< a comment per captured array, for dumps
  std::shared_ptr<const void> result;  ///< of the traced function, its Arrays empty
};

using SpecializationPtr = std::shared_ptr<const Specialization>;

/// The least recently used go when there are more than `limit`. Several threads may use it at once.
class JitCache {
 public:
  static constexpr std::size_t limit = 512;

  struct Traced {
    Graph graph;
    std::vector<bool> weak;               ///< per output
    std::vector<std::uint32_t> captured;  ///< the constants that are arrays from outside, as nodes
    std::shared_ptr<const void> result;   ///< its Arrays empty
  };
  using Trace = std::function<Traced()>;

  /// A fixed one compiles once and refuses every other signature. `made` is where the user wrote
  /// jit, or what compile was given: errors end with it.
  JitCache(Options options, bool fixed, SourceLocation made);

  /// Null if there is none.
  SpecializationPtr find(const Signature& signature);

  /// Traces and compiles, once however many threads ask. Throws Error for empty arrays.
  SpecializationPtr add(const Signature& signature, Description description, const Trace& trace);

  /// Dispatches one call, which consumes what is donated to it. Throws Error, and consumes nothing,
  /// for an argument that was donated before.
  std::vector<Array> run(const Specialization& compiled, const Signature& signature,
                         std::span<const Donation> donations) const;

  const SourceLocation& made() const { return made_; }
  int traces() const { return traces_.load(std::memory_order_relaxed); }
  std::string last_retrace() const;

 private:
  std::vector<std::string> explain(const Signature& signature,
                                   const Description& description) const;
  std::shared_ptr<const Compilation> compiled(const Graph& graph, const Options& options) const;
  [[noreturn]] void fail_call(const std::string& what) const;

  const Options options_;
  const bool fixed_;
  const SourceLocation made_;
  mutable std::mutex mutex_;             // of recent_, held for a few instructions at a time
  std::list<SpecializationPtr> recent_;  // most recently used first
  std::atomic<int> traces_ = 0;
  mutable std::recursive_mutex adding_;  // recursive: a traced function may call itself, compiled
  std::string last_retrace_;             // guarded by adding_
};

/// A number as an array of rank 0 that takes the dtype of what it meets.
Array weak_number(const Operand& number);

}  // namespace anabranch
