// How far a right Fourier transform may be from the interpreter's.
#pragma once

#include "tests/support/error_bounds.h"

namespace anabranch {

/// `value` is what the interpreter gives of `operand`. Each element is within a few times log2 n
/// roundings of the sum of all magnitudes (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 24.1), and moves by no more than all elements together.
Bounded fft_bounded(const Node& node, const Bounded& operand, Literal value);

}  // namespace anabranch
