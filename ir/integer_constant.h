// The integer that a constant of a graph is, and back.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/graph.h"

namespace anabranch {

/// Of a constant integer of rank 0; nothing of any other value.
std::optional<std::int64_t> integer_of(const Graph& graph, Value value);
std::optional<std::int64_t> integer_of(const Node& node);

/// The scalar of an integer dtype that is `number`, which it has room for.
Literal integer_literal(Dtype dtype, std::int64_t number);

}  // namespace anabranch
