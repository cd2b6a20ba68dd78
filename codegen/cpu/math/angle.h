// Reduction of angles of any size: x = r + n unit (+ pi/2 for the cosine).
#pragma once

#include "codegen/cpu/math/value.h"

namespace anabranch::cpu::math {

/// By which the angle is reduced: pi (sine), pi after taking pi/2 off (cosine), or pi/2 (tangent).
enum class Turn { half, half_from_quarter, quarter };

/// r is within half a unit of 0, relatively exact; the lowest bit of `n` (integers) tells odd from
/// even. For quarter turns r + `low` is the angle: next to a pole of the tangent all that r misses
/// shows, and twice of it where the tangent is 1. Elsewhere `low` is not looked at.
struct Angle {
  Simd r, n, low;
};

/// Cody and Waite's reduction by fused multiply-adds for ordinary x; where any lane is beyond their
/// reach, a branch to Payne and Hanek's (M. Payne, R. Hanek, "Radian reduction for trigonometric
/// functions", SIGNUM 18, 1983) for those lanes. NaN for an infinite x.
Angle reduce_angle(Simd x, Turn turn);

}  // namespace anabranch::cpu::math
