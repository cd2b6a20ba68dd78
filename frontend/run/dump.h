// The dumps that the environment asks for.
#pragma once

#include "codegen/compile.h"

namespace anabranch {

/// As `compile`, and writes what ANABRANCH_DUMP names of it, stages and what passes made: to
/// stderr, or as PROGRAM.NUMBER.STAGE.txt and PROGRAM.NUMBER.after_COUNT_PASS.txt in
/// ANABRANCH_DUMP_DIR.
Compilation compile_dumped(const Graph& graph, const Options& options,
                           const PassObserver& after = {});

}  // namespace anabranch
