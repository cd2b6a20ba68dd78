// Random pointwise loops: graphs of one loop, each place of whose arrays is computed by itself.
#pragma once

#include <cstdint>

#include "tests/support/shrink.h"

namespace anabranch {

/// Most have one place or more and are one kernel. Of their ops, none rounds where a product and a
/// sum are rounded together, so that results have the same bits however they are computed.
GraphCase random_pointwise_loop(std::uint64_t seed);

}  // namespace anabranch
