// JitCache: the programs that one jitted function has compiled, by the types it was called with.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "frontend/array.h"
#include "frontend/operand.h"
#include "frontend/signature.h"

namespace anabranch {

/// A function compiled for one signature.
struct Specialization {
  struct Parameter {
    Type type;
    bool weak = false;
  };
  const void* form = nullptr;
  std::vector<Parameter> parameters;
  std::string statics;
  Description description;
  std::shared_ptr<const Compilation> compilation;
  std::vector<Type> outputs;
  std::shared_ptr<const void> result;  ///< of the traced function, its Arrays empty
  std::unique_ptr<Specialization> next;
};

/// Finding takes no lock: specializations are only ever added, at the head of a list.
class JitCache {
 public:
  using Trace = std::function<std::pair<Graph, std::shared_ptr<const void>>()>;

  /// A fixed one compiles once and refuses every other signature.
  JitCache(Options options, bool fixed);
  ~JitCache();

  /// Null if there is none.
  const Specialization* find(const Signature& signature) const;

  /// Traces and compiles, once however many threads ask. Throws Error for empty arrays.
  const Specialization& add(const Signature& signature, Description description,
                            const Trace& trace);

  /// Dispatches one call. Throws Error for an argument on another device.
  std::vector<Array> run(const Specialization& compiled, const Signature& signature) const;

  int traces() const { return traces_.load(std::memory_order_relaxed); }
  std::string last_retrace() const;

 private:
  std::string explain(const Signature& signature, const Description& description) const;

  const Options options_;
  const bool fixed_;
  std::atomic<Specialization*> head_ = nullptr;
  std::atomic<int> traces_ = 0;
  mutable std::recursive_mutex adding_;  // recursive: a traced function may call itself, compiled
  std::string last_retrace_;             // guarded by adding_
};

/// A number as an array of rank 0 that takes the dtype of what it meets.
Array weak_number(const Operand& number);

}  // namespace anabranch
