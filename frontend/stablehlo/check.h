// Self-checking functions: a graph that gives what assertions compare, and the comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anabranch/stablehlo.h"
#include "frontend/stablehlo/source_text.h"
#include "ir/literal.h"

namespace anabranch::stablehlo {

enum class CheckKind : std::uint8_t {
  equal,         ///< the same numbers; NaN equals NaN
  almost_equal,  ///< at most `tolerance` apart
  close,         ///< at most `most_ulps` floats apart, and at least `least_ulps`
};

/// One assertion: that an output of the graph is as another one, or as a constant.
struct Check {
  std::string name;  ///< "check.expect_eq"
  CheckKind kind = CheckKind::equal;
  std::size_t actual = 0;               ///< an output of the graph
  std::optional<std::size_t> expected;  ///< an output of the graph; nothing for the constant
  Literal constant;
  double tolerance = 0;
  std::uint64_t least_ulps = 0, most_ulps = 0;
  LineAndColumn place;
};

/// A function without arguments. Its constants are the graph's inputs, so that no pass can compute
/// with them what the program should.
struct SelfChecking {
  Graph graph;
  std::vector<Literal> inputs;
  std::vector<Check> checks;
};

/// Throws Error for what cannot be translated.
SelfChecking self_checking(const Function& function);

/// How `actual` is not as `expected`: the first element that differs, and both values; empty where
/// the check holds.
std::string difference(const Check& check, const Literal& actual, const Literal& expected);

}  // namespace anabranch::stablehlo
