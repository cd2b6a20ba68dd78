// A rule of a rewriting table, held to the interpreter: what the rule, alone, makes of a graph must
// mean what the graph meant, on every value there is or on those where arithmetic goes wrong.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "passes/match.h"
#include "tests/passes/enumerate.h"

namespace anabranch {

/// What was found out about one rule.
struct RuleReport {
  int fired = 0;                      ///< graphs that the rule changed
  std::vector<std::string> failures;  ///< each with the values that show it
};

/// How far the two sides may be from each other.
enum class Closeness {
  same_bits,  ///< any NaN for a NaN
  one_ulp,    ///< the same of approximate ops, which round as the host's libm does
  rounding    ///< what fast math may do: an error of the size that rounding any value has
};

/// Rewrites graphs with `rule` alone and compares what both mean.
class RuleCheck {
 public:
  explicit RuleCheck(Rule rule, bool fast_math = false);

  /// `left` takes arrays of one length and gives one. Where the rule changes it, the two graphs are
  /// run on all combinations of values from `sets`, one set per parameter. Gives whether it does.
  bool run(const std::function<Graph(std::int64_t count)>& left, std::span<const Bits> sets,
           Closeness closeness = Closeness::same_bits);

  /// Both sides of a rule made of patterns, in `dtype`: variables take all values where these are
  /// few. Nothing happens where the ops of the left side do not take the dtype; elsewhere the rule
  /// must fire if `admits` says so.
  void run_sides(Dtype dtype);

  void fail(std::string what) { report_.failures.push_back(std::move(what)); }
  const RuleReport& report() const { return report_; }

 private:
  void compare(const Graph& left, const Graph& right, std::span<const Literal> inputs,
               Closeness closeness);
  void run_constants(Dtype dtype, Closeness closeness);

  RuleTable table_;
  bool fast_math_;
  RuleReport report_;
};

/// The graphs that a rule without patterns is tried on: calls `check.run` for each.
using Cases = std::function<void(RuleCheck& check)>;

/// Everything that is wrong with `rules`: rules that no case fires, that change a meaning, and that
/// have neither patterns nor cases (`cases` is by equation).
std::vector<std::string> wrong_rules(std::span<const Rule> rules,
                                     const std::map<std::string_view, Cases>& cases,
                                     std::span<const Dtype> dtypes);

}  // namespace anabranch
