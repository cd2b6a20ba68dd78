// The registry of backends: the one place that names them.
#pragma once

#include "codegen/backend.h"

namespace anabranch {

const Backend& backend_of(const Device& device);

}  // namespace anabranch
