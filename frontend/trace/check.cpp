#include "anabranch/check.h"

#include <algorithm>
#include <utility>

#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/pending_checks.h"

namespace anabranch {

// A handler of leaving may ask for them once the objects of its thread are destroyed.
PendingChecks& PendingChecks::of_thread() {
  thread_local PendingChecks* checks = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(checks, nullptr); }
  };
  thread_local const Owner owner;
  if (!checks) checks = new PendingChecks;
  return *checks;
}

void PendingChecks::end_trace(std::uint64_t tracer) {
  std::erase(open_, tracer);
  take(tracer);
}

void PendingChecks::add(const Array& predicate, std::string message, SourceLocation where) {
  checks_.push_back({predicate, std::move(message), where, open_.back()});
}

bool PendingChecks::has(std::uint64_t tracer) const {
  return std::ranges::find(checks_, tracer, &PendingCheck::tracer) != checks_.end();
}

std::vector<PendingCheck> PendingChecks::take(std::uint64_t tracer) {
  const auto first =
      std::stable_partition(checks_.begin(), checks_.end(),
                            [tracer](const PendingCheck& check) { return check.tracer != tracer; });
  std::vector<PendingCheck> taken(std::make_move_iterator(first),
                                  std::make_move_iterator(checks_.end()));
  checks_.erase(first, checks_.end());
  return taken;
}

void check(const Array& predicate, std::string message, std::source_location where) {
  if (!predicate.expression()) fail("check: the predicate is an empty Array", where);
  const Type type = type_of(predicate);
  if (type.dtype != bool_) {
    fail("check: the predicate is " + to_string(type) +
             ", and has to be bool; compare it with "
             "what it should be",
         where);
  }
  message += ", at " + to_string(SourceLocation(where));
  PendingChecks& pending = PendingChecks::of_thread();
  if (pending.is_tracing()) return pending.add(predicate, std::move(message), where);
  if (!all(predicate).item<bool>()) throw Error("check failed: " + message);
}

}  // namespace anabranch
