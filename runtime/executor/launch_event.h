// How a launch is drawn on the timeline.
#pragma once

#include "runtime/executor/executable.h"
#include "runtime/timeline/timeline.h"

namespace anabranch::timeline {

Category category_of(const Launch& launch);
Details details_of(const Launch& launch);

}  // namespace anabranch::timeline
