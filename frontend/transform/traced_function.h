// What a FunctionTrace is made of, for the transforms that join several.
#pragma once

#include <vector>

#include "anabranch/detail/traced_function.h"
#include "frontend/trace/region.h"

namespace anabranch::detail {

struct FunctionTrace::State {
  Region region{"function", TraceKind::loop};
  std::vector<bool> weak = {};

  static const Region& region_of(const FunctionTrace& trace);
};

}  // namespace anabranch::detail
