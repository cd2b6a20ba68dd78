// How a step is drawn on the timeline.
#pragma once

#include "anabranch/timeline.h"
#include "ir/program/program.h"

namespace anabranch::timeline {

Category category_of(const Step& step);
/// Nothing unless it is recorded.
Details details_of(const Program& program, const Step& step);

}  // namespace anabranch::timeline
