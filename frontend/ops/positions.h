// Arrays of positions, as gather and scatter take them.
#pragma once

#include <cstdint>
#include <string>

#include "anabranch/array.h"
#include "anabranch/operand.h"
#include "anabranch/source_location.h"

namespace anabranch {

/// Throws Error: `position` is not among the `size` of an axis of `of`, and those are.
[[noreturn]] void fail_out_of_range(const char* function, std::int64_t position, std::size_t axis,
                                    const std::string& of, std::int64_t size, SourceLocation where);

/// Integers of any kind as i32 or i64 of the same order: u64 beyond the greatest i64 become that.
/// Throws Error for anything else.
Array positions(const char* function, const Operand& indices);

/// The same of a dtype that holds `size`, that of an axis.
Array positions_along(const char* function, const Operand& indices, std::int64_t size);

/// The same with negative ones counted from the end of an axis of `size`: what is still negative is
/// out of range.
Array positions_from_end(const char* function, const Operand& indices, std::int64_t size);

/// Updates as an array of `dtype`, where they are numbers or made from numbers alone.
Array updates_of(const char* function, const Operand& updates, Dtype dtype);

}  // namespace anabranch
