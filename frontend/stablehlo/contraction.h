// Products that sum over axes, which operations of several names come to: dot_general and
// chlo.ragged_dot.
#pragma once

#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {

/// The product of two arrays, summed in the dtype that holds most, in the dtype of the result.
Array contracted(const Site& site, const Array& lhs, const Array& rhs, DotAttributes axes);

/// Takes one of the four lists of axes of a product, where the entry of an attribute is one.
void read_axes(const Site& site, const NamedAttribute& entry, DotAttributes& axes);

}  // namespace anabranch::stablehlo
