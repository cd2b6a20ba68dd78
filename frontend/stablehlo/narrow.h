// Arrays of narrow elements, rounded in the dtype that carries them.
#pragma once

#include "anabranch/array.h"
#include "frontend/stablehlo/narrow_format.h"

namespace anabranch::stablehlo {

class Site;

/// Each element of an array of the carrier, as the format holds it.
Array narrowed(const Site& site, const Array& array, const NarrowFormat& format);

}  // namespace anabranch::stablehlo
