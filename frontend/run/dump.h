// The dumps that the environment asks for.
#pragma once

#include "codegen/compile.h"

namespace anabranch {

/// Writes the stages of ANABRANCH_DUMP: to stderr, or as PROGRAM.NUMBER.STAGE.txt in
/// ANABRANCH_DUMP_DIR.
void dump_as_asked(const Compilation& compilation);

}  // namespace anabranch
