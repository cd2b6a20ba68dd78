// Where blocks of rows pay: what a chain writes to memory and reads again, against what the turns
// of its loops cost.
#pragma once

#include <vector>

#include "passes/row_blocks/blocked.h"
#include "passes/row_blocks/chains.h"

namespace anabranch {

/// The loops that `chain` is best computed in, the outermost first; none where it is best left as
/// it is. The outermost axes are cut first, each as far as it has to be: a row of all heads is
/// shorter than the rows of one.
std::vector<BlockLevel> block_levels(const Chain& chain, const BlockCosts& costs);

}  // namespace anabranch
