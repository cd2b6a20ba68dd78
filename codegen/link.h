// Link: code for a program whose steps are final. The last stage, and the only one that makes
// something that runs.
#pragma once

#include "anabranch/options.h"
#include "ir/program/program.h"
#include "runtime/executor/executable.h"

namespace anabranch {

/// The code depends on the steps and on how inner programs are scheduled, not on the schedule of
/// `program` itself. Throws Error where a device cannot be used or a custom call has no function.
LinkedCode link(const Program& program, const Options& options);

}  // namespace anabranch
