// Whether a batched graph gives what the single one gives for each element of the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/literal.h"
#include "tests/support/random_literal.h"
#include "tests/support/shrink.h"

namespace anabranch::testing {

/// `literals`, of one type, along a new first axis; `type` is theirs, for where there are none.
Literal stacked(const Type& type, const std::vector<Literal>& literals);
/// Element `index` of an array's first axis.
Literal element_of(const Literal& whole, std::int64_t index);

/// A graph with the inputs of each element of a batch: an input that is not batched is the same in
/// all.
struct BatchCase {
  Graph graph;
  std::int64_t size = 0;
  std::vector<bool> batched;
  std::vector<std::vector<Literal>> inputs;  ///< per element
  std::vector<Literal> whole;                ///< those of the batched graph
};

/// Batched inputs are `first` for the first element, and random for the others.
BatchCase batch_case(const Graph& graph, std::int64_t size, std::vector<bool> batched,
                     const std::vector<Literal>& first, Random& random);

/// The batched graph with its inputs; outputs that depend on nothing batched stay single.
GraphCase batched_graph(const BatchCase& tested);

/// What is wrong with the interpreted results of the batched graph, whose bits are those that the
/// single one gives: a rule keeps the order in which a reduction, a dot or a factorisation
/// computes.
std::optional<std::string> batch_problem(const BatchCase& tested);

}  // namespace anabranch::testing
