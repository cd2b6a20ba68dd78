// Pass: what is on which device, as `place` puts it, in the notes.
#pragma once

#include "ir/graph/graph.h"
#include "passes/pass.h"

namespace anabranch {

/// What `place` makes of a graph, with a note per device where there are several: which values are
/// there.
Graph show_placement(const Graph& graph, PassContext& context);

}  // namespace anabranch
