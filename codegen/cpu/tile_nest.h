// The choice of a kernel's outer loops and of the loop whose iterations become vector lanes.
#pragma once

#include <optional>

#include "codegen/cpu/target.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

struct TiledNest {
  Kernel kernel;
  /// Which of the outer loops is the vector loop; none: the innermost of those inside them are.
  std::optional<std::size_t> vector_loop;
  /// The vector loop is short and goes by remainders, which are constants where all of it is
  /// unrolled.
  bool unroll_whole = false;
};

/// Reorders, merges and splits the outer loops. With `row_major`, only merges.
TiledNest choose_nest(Kernel kernel, const Target& target, bool row_major);

/// Lanes of a vector of `bytes`-wide elements, a power of two.
int lanes_of(int bytes, const Target& target);

}  // namespace anabranch
