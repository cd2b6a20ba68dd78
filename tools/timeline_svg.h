// A picture of a timeline: a row per stream, worker and thread of the program, a bar per event.
#pragma once

#include <string>

#include "anabranch/timeline.h"

namespace anabranch {

/// SVG of the time from the first launch to the last. Bars have the colour of their stream, also on
/// the workers that ran them; arrows lead from what a stream waited for to where it went on.
std::string to_svg(const timeline::Timeline& timeline);

}  // namespace anabranch
