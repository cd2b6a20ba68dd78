// The op by which a reduction combines.
#pragma once

#include <optional>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// The op that folds two scalars into one; nothing where a pair of them or a body does.
std::optional<Op> combine_op(Combine combine);

}  // namespace anabranch
