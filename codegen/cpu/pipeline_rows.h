// Software pipelining, where a kernel's rows are worth it on a CPU.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch::cpu {

/// Pipelines blocks of rows (codegen/kernel/software_pipeline.h) where memory would rest while rows
/// are computed on: some pass over them has much to compute, and there are rows enough that no
/// cache holds.
Kernel pipeline_rows(const Kernel& kernel, KernelContext& context);

}  // namespace anabranch::cpu
