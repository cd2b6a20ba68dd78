// The proof that a program can be written down: it is, and read again.
#pragma once

#include "ir/program/program.h"

namespace anabranch {

/// What comes back of a program that was written as text and in its binary form: the same one, on
/// the same constants. Throws InternalError where it is another one or is refused.
Program read_back(const Program& program);

}  // namespace anabranch
