// The lists of passes, as data.
#pragma once

#include "passes/pass.h"

namespace anabranch {

/// What `compile` runs.
Pipeline default_pipeline();

}  // namespace anabranch
