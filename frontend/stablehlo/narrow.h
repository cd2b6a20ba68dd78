// Arrays of narrow elements, rounded in the dtype that carries them.
#pragma once

#include "anabranch/array.h"
#include "frontend/stablehlo/narrow_format.h"

namespace anabranch::stablehlo {

class Site;

/// Each element of an array of the carrier, as the format holds it.
Array narrowed(const Site& site, const Array& array, const NarrowFormat& format);

/// f64 as f32, inexact ones with the last bit set: rounded again to fewer bits, they are as if
/// rounded once (Boldo and Melquiond, "Emulation of a FMA and Correctly Rounded Sums: Proved
/// Algorithms Using Rounding to Odd", IEEE Transactions on Computers 57).
Array rounded_to_odd(const Site& site, const Array& x);

}  // namespace anabranch::stablehlo
