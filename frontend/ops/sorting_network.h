// Sorting by a comparator that only a call can answer: a network of compare-and-exchange, written
// as a loop.
#pragma once

#include <vector>

#include "anabranch/array.h"
#include "anabranch/source_location.h"
#include "frontend/trace/scalar_function.h"

namespace anabranch {

/// Matrices of one shape with each column in order: Batcher's bitonic sort, in log2(n)^2 turns of a
/// loop whose shuffles make the partners of each turn neighbours (Stone, "Parallel processing with
/// the perfect shuffle", IEEE Transactions on Computers 20(2), 1971). Stable: elements that the
/// comparator leaves equal are in the order of their places.
std::vector<Array> network_sort(const std::vector<Array>& matrices,
                                const ScalarFunction& comparator, SourceLocation where);

}  // namespace anabranch
