// How a step is drawn on the timeline.
#pragma once

#include "anabranch/timeline.h"
#include "ir/program/program.h"

namespace anabranch::timeline {

Category category_of(const Step& step);
Details details_of(const Step& step);

}  // namespace anabranch::timeline
