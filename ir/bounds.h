// Bounds: between which two numbers an integer is.
#pragma once

#include <cstdint>
#include <optional>

#include "anabranch/dtype.h"
#include "ir/attributes.h"

namespace anabranch {

struct Bounds {
  std::int64_t low = 0, high = 0;  ///< both included
};

/// What comparing anything in `a` with anything in `b` gives, where that is one answer.
std::optional<bool> compared(Bounds a, Bounds b, Comparison direction);

/// Whether the dtype is an integer's that has all of them.
bool holds(Dtype dtype, Bounds bounds);

}  // namespace anabranch
