// check: what must hold inside of a traced function.
#pragma once

#include <source_location>
#include <string>

#include "anabranch/array.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Demands that all elements of `predicate`, bool of any shape, hold. In a traced function this
/// becomes part of the function: where it does not hold in a call, reading a result of that call
/// throws Error("check failed: MESSAGE, at model.cpp:12"), as does what depends on it; other work
/// goes on, and so does the next call. Of several that fail the first is reported, in the order in
/// which they were written and of the turns of a loop; one in a branch is asked only where that is
/// taken. A failed check ends a `while_loop`. Outside of traced functions it waits for the
/// predicate, and throws at once. Throws Error for a predicate that is not bool.
void check(const Array& predicate, std::string message,
           std::source_location where = std::source_location::current());

}  // namespace anabranch
