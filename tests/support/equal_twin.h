// A graph and its equal twin: the same graph, rewritten by random valid identities.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/identities.h"
#include "tests/support/shrink.h"

namespace anabranch {

/// Those of every table of identities.h.
std::span<const Identity> all_identities();

struct EqualTwin {
  GraphCase twin;                           ///< the same inputs, at the same places
  std::vector<std::string_view> equations;  ///< of the identities, in the order they were applied
};

/// Identities are applied to values anywhere, in loops and branches too, and to what others gave.
/// What reads a value then reads it, or any of those that equal it. The same for the same seed.
EqualTwin equal_twin(const GraphCase& original, std::uint64_t seed);

}  // namespace anabranch
