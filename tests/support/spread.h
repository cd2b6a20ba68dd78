// The error analysis of single numbers: how far the result of an op moves when its operands move
// within their bounds, and what rounding adds.
#pragma once

#include <span>

#include "anabranch/dtype.h"
#include "ir/op.h"

namespace anabranch {

/// A number that may be anywhere in [value - error, value + error].
struct Point {
  double value = 0;
  double error = 0;
};

/// The distance between floats of `dtype` next to `number`, which is finite.
double ulp(Dtype dtype, double number);

/// Whether the op of one float is monotone (or convex) wherever it is defined, so that the ends of
/// its operand's range bound its result.
bool goes_by_ends(Op op);

/// The farthest that the exact result of any other elementwise op of floats moves; infinity where
/// nothing can be said.
double spread_of(Op op, std::span<const Point> operands);

/// `spread`, and the rounding of a result near `number` to `dtype`, and `own` ULPs of an
/// approximate op; infinity where the result may overflow.
double rounding_bound(Dtype dtype, double number, double spread, double own);

}  // namespace anabranch
