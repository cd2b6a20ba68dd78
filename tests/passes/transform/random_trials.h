// Graphs of random shapes whose derivatives are checked, in f64 and in complex numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/transform/quantity.h"
#include "tests/support/derivative_check.h"

namespace anabranch::testing {

/// A graph that is being made.
struct Trial {
  GraphBuilder& graph;
  Dtype dtype;
  std::mt19937& random;
  std::vector<std::int64_t> batch;

  std::int64_t below(std::int64_t count) const {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(count));
  }
  bool percent(std::int64_t chance) const { return below(100) < chance; }
  /// From 0 on.
  std::int64_t size(std::int64_t most = 4) const { return below(most + 1); }
  Quantity parameter(std::vector<std::int64_t> sizes) const {
    return {&graph, graph.parameter({dtype, Shape(std::move(sizes))})};
  }
  /// One for each of the batch.
  Quantity matrix(std::int64_t rows, std::int64_t columns) const { return of_batch({rows, columns}); }
  Quantity vector(std::int64_t length) const { return of_batch({length}); }

 private:
  Quantity of_batch(std::initializer_list<std::int64_t> own) const {
    std::vector<std::int64_t> sizes = batch;
    sizes.insert(sizes.end(), own);
    return parameter(std::move(sizes));
  }
};

/// What `make` makes of a trial, `count` times for each dtype; all parameters are drawn from -1 to
/// 1.
template <class Make>
void check_trials(const std::string& what, Make make, const DerivativeCheck& check = {},
                  int count = 20) {
  for (Dtype dtype : {f64, c128}) {
    std::mt19937 random(static_cast<unsigned>(what.size()));
    for (int k = 0; k < count; ++k) {
      GraphBuilder builder;
      Trial trial{builder, dtype, random, {}};
      for (std::int64_t axes = trial.below(3); axes > 0; --axes) {
        trial.batch.push_back(trial.percent(10) ? 0 : 1 + trial.below(2));
      }
      std::vector<Value> results;
      for (const Quantity& result : make(trial)) results.push_back(result.value);
      const Graph graph = builder.build(results);
      std::vector<Literal> inputs;
      for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
        inputs.push_back(spread_numbers(graph.parameter_type(i), random, -1, 1));
      }
      const std::string which =
          what + ", " + std::string(name(dtype)) + ", trial " + std::to_string(k);
      check_derivatives(graph, inputs, random, which, check);
      ASSERT_FALSE(::testing::Test::HasFailure()) << which;
    }
  }
}

}  // namespace anabranch::testing
