// Loop splitting: a loop whose body asks where its index is becomes several, each of which knows.
//
//   for i < 8000 { out[i] = i < 4000 ? a[i] if i < 4000 : b[i - 4000] if i >= 4000 }
//
//   for i < 4000         { out[i] = a[i] }
//   for 4000 <= i < 8000 { out[i] = b[i - 4000] }
//
// (Index set splitting: M. Wolfe, "High Performance Compilers for Parallel Computing", 1996, 9.4.)
// A pad, a concatenation or a roll leaves such conditions behind, and loads that are masked by
// them.
#pragma once

#include "ir/kernel/kernel.h"

namespace anabranch {

/// The kernel with its loops cut where conditions on one loop's index change. Pieces
/// of vector loops begin at multiples of the width: a vector across a seam stays masked. Results
/// keep their bits but for products that are fused with sums where a selection stood between them,
/// and for sums and products over a loop, which are those of its pieces together. The kernel grows
/// by a constant factor at most; loops of argmax, argmin and carries stay whole.
Kernel split_loops(const Kernel& kernel);

/// The same of one loop alone.
Kernel split_loop(const Kernel& kernel, Ref loop);

}  // namespace anabranch
