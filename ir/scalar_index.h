// Integer scalars of a graph as index expressions.
//
//   %2 = subtract 79, %0     with %0 known to be the loop's index i < 80:     79 - i
//   %3 = compare %2, 0 direction=lt
//   %4 = add %2, 80
//   %5 = select %3, %4, %2                                                    79 - i
#pragma once

#include <functional>
#include <optional>

#include "ir/graph/graph.h"
#include "ir/index.h"

namespace anabranch {

/// What is known of a graph's scalars, as expressions of one table.
using KnownIndex = std::function<std::optional<Index>(Value)>;

/// The integer scalar `value` as an expression, where it is arithmetic of constants and of what is
/// `known` that never wraps around; nothing where it is not.
std::optional<Index> scalar_index(const Graph& graph, Value value, const KnownIndex& known,
                                  IndexTable& table);

}  // namespace anabranch
