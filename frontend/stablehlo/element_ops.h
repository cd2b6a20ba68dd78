// Functions of each element that operations of several names come to: stablehlo.maximum and
// chlo.broadcast_maximum. Their operands have one shape.
#pragma once

#include <vector>

#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {

/// The op of these operands; of bools the logic that it is, of complex numbers what it means where
/// the IR's op takes none.
Array element_op(const Site& site, Op op, const std::vector<Array>& operands);

/// The comparison that `comparison_direction` and `compare_type` name, of two operands.
Array compared(const Site& site, std::vector<Array> operands);

}  // namespace anabranch::stablehlo
