// A campaign of random graphs: processes that check seeds, and one that starts them, so that a
// crash or a hang is a finding like any other.
#pragma once

#include <cstdint>
#include <string>

#include "worker.h"

namespace anabranch {

struct Campaign {
  std::uint64_t first = 0, count = 1'000;
  int jobs = 1;
  int most_shrunk = 20;
  double seconds = 0;            ///< no new graphs after so long; 0: until all are done
  std::string way;               ///< only the ways whose names have this in them
  MadeOf made;                   ///< not the graphs, but what is made of them
  bool times = false;            ///< say at the end what took how long
  double stalled_seconds = 120;  ///< a graph that takes longer is killed
};

/// Prints what is found as it is found, and a last line with counts. Whether nothing was.
bool run_campaign(const Campaign& campaign);

}  // namespace anabranch
