// Checks that a function being traced has asked for, until its trace is finished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/source_location.h"

namespace anabranch {

struct PendingCheck {
  Array predicate;
  std::string message;       ///< with the user's line
  SourceLocation where;      ///< that line
  std::uint64_t tracer = 0;  ///< the serial of the one that it is for
};

/// Those of the calling thread. A check belongs to the function that is being traced, whatever its
/// predicate is computed from: in a branch that reads outer values alone, to the branch.
class PendingChecks {
 public:
  static PendingChecks& of_thread();

  void begin_trace(std::uint64_t tracer) { open_.push_back(tracer); }
  /// What the trace has not taken is forgotten.
  void end_trace(std::uint64_t tracer);
  bool is_tracing() const { return !open_.empty(); }
  bool is_innermost(std::uint64_t tracer) const { return is_tracing() && open_.back() == tracer; }

  /// For the trace that was begun last.
  void add(const Array& predicate, std::string message, SourceLocation where);
  /// Whether there are any of a trace that it has not taken.
  bool has(std::uint64_t tracer) const;
  /// Those of a trace, in order.
  std::vector<PendingCheck> take(std::uint64_t tracer);

 private:
  std::vector<std::uint64_t> open_;
  std::vector<PendingCheck> checks_;
};

}  // namespace anabranch
