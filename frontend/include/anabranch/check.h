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
/// goes on, and so does the next call. Of several that fail in one function or turn the first is
/// reported, of a loop that of the first turn; one in a body or a branch comes before those around
/// it, and is asked only where that runs. A failed check ends a `while_loop`. The predicate and the
/// results of the function are on one device. Outside of traced functions it waits for the
/// predicate, and throws at once. Throws Error for a predicate that is not bool.
void check(const Array& predicate, std::string message,
           std::source_location where = std::source_location::current());

}  // namespace anabranch
