// Slices that begin where an array says: at a place that is known only when the program runs.
//
// Places beyond the edges do not count from the end: the block is moved until it is inside.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// The block of `sizes` that begins at `starts`: one integer scalar (or C++ number) per axis of x,
/// each clamped so that the block is inside. Throws Error for a start that is no integer scalar,
/// and for a block larger than x.
Array dynamic_slice(const Operand& x, const Operands& starts, const Sizes& sizes);
/// x with the block that begins at `starts` replaced by `update`, of x's dtype and rank. In a loop
/// that carries x the block is written in place.
Array dynamic_update_slice(const Operand& x, const Operand& update, const Operands& starts);

/// `size` elements along one axis, all along the others.
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           Axis axis = 0);
/// The slab at position `index` of an axis, which goes.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, Axis axis = 0);
/// x with `update` in place of as many slabs of an axis, from `start` on.
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  Axis axis = 0);
/// x with `update`, which has no such axis or one of size 1, in place of the slab at `index`.
Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  Axis axis = 0);

}  // namespace anabranch
