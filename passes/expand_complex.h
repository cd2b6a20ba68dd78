// Arithmetic on complex numbers as arithmetic on their parts.
//
//   %2: c64[8] = multiply %0, %1   ->   real, imag of both; multiply, subtract, add; complex
#pragma once

#include <vector>

#include "passes/rewrite.h"

namespace anabranch {

/// Rules after which only these ops touch complex numbers: parameters, constants, index maps,
/// select, real, imag, complex, calls, control flow and general reductions.
std::vector<Rule> complex_rules();

}  // namespace anabranch
