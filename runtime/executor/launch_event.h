// How a step is drawn on the timeline.
#pragma once

#include "ir/program/program.h"
#include "runtime/timeline/timeline.h"

namespace anabranch::timeline {

Category category_of(const Step& step);
Details details_of(const Step& step);

}  // namespace anabranch::timeline
