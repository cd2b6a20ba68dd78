// The registry of backends: the one place that names them.
#pragma once

#include <span>

#include "codegen/backend.h"

namespace anabranch {

/// Backends are never destroyed: threads may compile while a process leaves main.
const Backend& backend_of(const Device& device);
/// One per kind of device.
std::span<const Backend* const> backends();

}  // namespace anabranch
