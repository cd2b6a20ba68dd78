// The ways to run a graph, each of which must give what the interpreter gives.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tests/support/shrink.h"

namespace anabranch {

struct Way {
  std::string_view name;
  std::vector<Literal> (*run)(const GraphCase& tested);
};

std::span<const Way> ways();

}  // namespace anabranch
