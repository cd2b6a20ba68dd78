// The error analysis of ops on complex numbers: a bound holds for either part.
#pragma once

#include <span>

#include "tests/support/error_bounds.h"

namespace anabranch {

/// Whether the op computes with complex numbers (and does not only move them).
bool computes_with_complex(const Node& node, std::span<const Bounded> operands);

/// `value` is what the interpreter gives.
Bounded complex_bounded(const Node& node, std::span<const Bounded> operands, Literal value,
                        double units);

}  // namespace anabranch
