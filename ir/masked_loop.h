// Loops that end at each place by themselves, as a `while` does under `vmap`: they turn as long as
// a carried array of bool is true anywhere, and where it is false all stays as it is.
//
//   while %on, %x graph(%on, %x) {
//     return reduce_any %on
//   } graph(%on, %x) {
//     %next = %x * %x
//     %x1 = select %on, %next, %x
//     return %on & (%x1 < 9), %x1
//   }
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/graph.h"

namespace anabranch {

/// Which carried value of a `while` is that array; nothing where it is no such loop. One turn more
/// than the loop takes would change nothing.
std::optional<std::uint32_t> mask_of(const Node& loop);

}  // namespace anabranch
