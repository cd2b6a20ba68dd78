// Functions that arrange elements anew: shift, repeat, cut apart, lay out along other axes.
//
// They are made of the index maps of ops_shape.h, so kernels read through them without copies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// Axis source[i] goes to place destination[i]; the others keep their order.
Array moveaxis(const Operand& x, const Axes& source, const Axes& destination);
/// Two axes exchanged.
Array swapaxes(const Operand& x, Axis a, Axis b);

/// Elements start, start + stride, ... below limit along one axis; negative bounds count from its
/// end.
Array slice_in_dim(const Operand& x, std::int64_t start, std::int64_t limit, Axis axis = 0,
                   std::int64_t stride = 1);
/// Elements moved on by `shift` along an axis; those pushed off the end come in at the front.
Array roll(const Operand& x, std::int64_t shift, Axis axis);
/// The same in row-major order over all axes.
Array roll(const Operand& x, std::int64_t shift);
/// Each element `count` times in a row along an axis.
Array repeat(const Operand& x, std::int64_t count, Axis axis);
/// The same of all elements in row-major order, as one axis.
Array repeat(const Operand& x, std::int64_t count);
/// The whole array counts[i] times along axis i, counted from the last; axes are added in front.
Array tile(const Operand& x, const Sizes& counts);

/// `sections` equal parts along an axis.
std::vector<Array> split(const Operand& x, std::int64_t sections, Axis axis = 0);
/// The parts before, between and after the given positions of an axis.
std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& positions,
                         Axis axis = 0);
inline std::vector<Array> split(const Operand& x, std::initializer_list<std::int64_t> positions,
                                Axis axis = 0) {
  return split(x, std::vector<std::int64_t>(positions), axis);
}
/// The slabs of an axis, which goes.
std::vector<Array> unstack(const Operand& x, Axis axis = 0);

/// All arrays broadcast to one shape.
std::vector<Array> broadcast_arrays(const Operands& arrays);

/// `xy`: the first array runs along the second axis, as in a plot. `ij`: array i runs along axis i.
enum class Indexing : std::uint8_t { xy, ij };
/// One array of coordinates per vector, all of the shape that the vectors span.
std::vector<Array> meshgrid(const Operands& vectors, Indexing indexing = Indexing::xy);

/// Each element less the one before it along an axis, `times` times.
Array diff(const Operand& x, Axis axis = -1, std::int64_t times = 1);

/// Elements whose column - row is `offset`, of the last two axes, as a new last axis.
Array diagonal(const Operand& x, std::int64_t offset = 0);
/// A square matrix with that vector on its diagonal, 0 elsewhere.
Array diag(const Operand& vector);

}  // namespace anabranch
