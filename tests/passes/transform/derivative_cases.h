// Small random graphs of every op that has a derivative, with inputs away from its kinks.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "tests/support/random_literal.h"

namespace anabranch::testing {

struct Example {
  Graph graph;
  std::vector<Literal> inputs;
  std::vector<std::size_t> fixed = {};  ///< parameters that are not differentiated by
};

/// A graph in the making. What is drawn does not depend on the dtype: the same seed gives the same
/// graph, and inputs that differ by their rounding alone.
class ExampleMaker {
 public:
  ExampleMaker(Random& random, Dtype dtype) : random(random), dtype(dtype) {}

  Random& random;
  const Dtype dtype;  ///< of what is differentiated
  GraphBuilder graph;

  /// From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + random.below(high - low + 1);
  }
  double uniform(double low, double high) { return low + (high - low) * random.fraction(); }
  /// Sizes up to 5, some of them 0 and 1.
  Shape shape(int least_rank = 0, int most_rank = 3);

  /// A parameter whose elements, or both of their parts, are what `draw` gives.
  Value parameter(Type type, const std::function<double()>& draw);
  Value numbers(Shape shape, double low = -2, double high = 2);
  /// Of either sign, of a magnitude from `low` to `high`.
  Value away_from_zero(Shape shape, double low = 0.5, double high = 2);
  /// No two of all that are drawn from one pool of `count` are close to each other.
  std::vector<double> distinct(std::int64_t count);
  Value distinct_numbers(Shape shape);
  Value integers(Type type, std::int64_t low, std::int64_t high);
  /// An i32 or i64.
  Value index(std::int64_t low, std::int64_t high);
  void fix_last() { fixed_.push_back(inputs_.size() - 1); }
  /// A parameter with that value.
  Value given(Literal literal);

  Example build(std::vector<Value> outputs) {
    return {graph.build(std::move(outputs)), std::move(inputs_), std::move(fixed_)};
  }

 private:
  std::vector<Literal> inputs_;
  std::vector<std::size_t> fixed_;
};

struct DerivativeCase {
  Op op;
  std::string name;
  std::function<Example(ExampleMaker&)> make;
  enum Dtypes : std::uint8_t { real = 1, complex = 2, both = 3 } dtypes = real;
  int order = 2;
  bool narrow = true;  ///< takes f16 and bf16 where it takes real numbers
};
inline void PrintTo(const DerivativeCase& each, std::ostream* out) { *out << each.name; }

std::vector<DerivativeCase> cases_of_numbers();
std::vector<DerivativeCase> cases_of_index_maps();
std::vector<DerivativeCase> cases_of_windows();
std::vector<DerivativeCase> cases_of_reductions();
std::vector<DerivativeCase> cases_of_calls();

}  // namespace anabranch::testing
