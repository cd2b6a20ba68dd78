// The backend of null devices, which run nothing: programs are planned and scheduled alone.
#pragma once

#include "codegen/backend.h"

namespace anabranch::null {

const Backend& backend();

}  // namespace anabranch::null
