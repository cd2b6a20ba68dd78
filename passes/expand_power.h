// Powers with a constant exponent as products, quotients and square roots.
//
//   %1: f32[8] = power %0, 3.0    ->    multiply (multiply %0, %0), %0
#pragma once

#include <vector>

#include "passes/rewrite.h"

namespace anabranch {

/// The rule for exponents that few ops do: 3, 4, -2 and the half-integers from -1.5 to 2.5, of f32
/// and f64. What it gives is within 3 ULP of the power, and takes a tenth to two thirds of its
/// time; signed zeros, infinities and NaN come out as IEEE 754-2019, section 9.2.1, has them.
std::vector<Rule> power_rules();

}  // namespace anabranch
