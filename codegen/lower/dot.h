// Lowering of a dot that no library takes, with its epilogue, to loops of multiply and add.
#pragma once

#include <string>

#include "codegen/lower/lower_target.h"
#include "codegen/lower/lowered.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// `region` is a dot of two parameters, then an elementwise epilogue over the dot's shape.
Lowered lower_dot(const Graph& region, const std::string& name, const LowerTarget& target);

}  // namespace anabranch
