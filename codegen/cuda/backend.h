// The backend for GPUs of NVIDIA's.
#pragma once

#include "codegen/backend.h"

namespace anabranch::cuda {

/// In a build without the CUDA Toolkit it plans, predicts and dumps, but for dots; what needs the
/// toolkit throws Error.
const Backend& backend();

}  // namespace anabranch::cuda
