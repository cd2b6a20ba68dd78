// The ways to run a graph, each of which must give what the interpreter gives.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/literal.h"

namespace anabranch {

struct Way {
  std::string_view name;
  std::vector<Literal> (*run)(const Graph& graph, std::span<const Literal> inputs);
};

std::span<const Way> ways();

}  // namespace anabranch
