// Sums over several loops, of which the innermost is one of vectors: its lanes are added up by
// themselves in the loops around it as well, and put together once, after the outermost.
//
//   for k < 26 { for l < 26 vector(16) { sum r = x[k * 28 + l] }  sum s = r }
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

struct LaneSums {
  std::map<std::uint32_t, int> lanes;  ///< by loop around such a loop: how many
  std::set<std::uint32_t> go_on;       ///< loops whose sums the loop around them takes as lanes

  int lanes_of(Ref loop) const {
    const auto found = lanes.find(loop.index);
    return found == lanes.end() ? 0 : found->second;
  }
};

/// Of loops that reduce in no other way.
LaneSums lane_sums(const Kernel& kernel);

}  // namespace anabranch::cpu
