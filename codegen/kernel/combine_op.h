// How a reduction combines, and the op that does so.
#pragma once

#include <optional>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Whether a reduction takes pairs of a value and its position.
inline bool has_position(Combine combine) {
  return combine == Combine::argmax || combine == Combine::argmin;
}

/// The op that folds two scalars into one; nothing where a pair of them or a body does.
std::optional<Op> combine_op(Combine combine);

}  // namespace anabranch
