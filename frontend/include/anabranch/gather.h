// Windows of an array picked, or replaced, at places that another array says.
//
//   ab::take(x, {2, 0, 2}, 0)         rows 2, 0 and 2 of x
//   ab::take_along_axis(x, order)     each row in an order of its own
//
// `gather` and `scatter` are the general forms, StableHLO's, with its names for what says which
// axis is which (https://openxla.org/stablehlo/spec#gather). `take` and its kin are made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// Which axes of what `gather` takes and gives are which. An index vector is along
/// `index_vector_dim` of the indices, or is one number each where that is their rank.
struct GatherDimensions {
  /// Axes of the result that a window has; the others are the indices', in their order.
  std::vector<std::int64_t> offset_dims = {};
  /// Axes of x on which a window has one element and the result no axis, ascending.
  std::vector<std::int64_t> collapsed_slice_dims = {};
  /// Axes of x, ascending, that go with axes of the indices: a window is at the place there that
  /// its index vector has.
  std::vector<std::int64_t> operand_batching_dims = {};
  std::vector<std::int64_t> start_indices_batching_dims = {};
  /// Component k of an index vector says where a window begins on axis start_index_map[k] of x.
  std::vector<std::int64_t> start_index_map = {};
  std::int64_t index_vector_dim = 0;
};

/// Windows of `slice_sizes` elements (one size per axis of x), each where an index vector says,
/// moved so that it is inside x. `indices` are integers of any kind; of x's dtype is the result. A
/// window of none on an axis that the result has not gives zeros. Kernels read through it without a
/// copy. Throws Error where axes or sizes do not fit.
Array gather(const Operand& x, const Operand& indices, const GatherDimensions& dimensions,
             const Sizes& slice_sizes);

/// The same for `scatter`, whose updates are as the result of a gather.
struct ScatterDimensions {
  std::vector<std::int64_t> update_window_dims = {};    ///< axes of the updates that a window has
  std::vector<std::int64_t> inserted_window_dims = {};  ///< of x, that the updates have not
  std::vector<std::int64_t> input_batching_dims = {};
  std::vector<std::int64_t> scatter_indices_batching_dims = {};
  std::vector<std::int64_t> scatter_dims_to_operand_dims = {};
  std::int64_t index_vector_dim = 0;
};

/// How an update meets the element that is there.
enum class Update : std::uint8_t {
  replace,
  add,
  multiply,
  minimum,
  maximum,
  bitwise_and,
  bitwise_or,
  bitwise_xor
};

/// x with `updates` combined into it, window by window where an index vector says. An update that
/// would be outside is left out, element by element. Where several go to one element they are taken
/// in row-major order of `updates`, and f16 and bf16 are rounded each time: the result is the same
/// on every run. A number, or updates made from numbers, take x's dtype. Several threads share the
/// work by parts of x. Throws Error where axes, sizes or dtypes do not fit.
Array scatter(const Operand& x, const Operand& indices, const Operand& updates,
              const ScatterDimensions& dimensions, Update update = Update::replace);

/// What becomes of an element of each of N arrays, and an update of each: 2N scalars, the elements
/// first, to N scalars of the elements' dtypes. It may read arrays from outside.
using ScatterBody = detail::AnyFunction<std::vector<Array>(const std::vector<Array>& scalars)>;

/// The same of several arrays of one shape at once, with any body. One that combines each array
/// with its own updates by an operation of `Update` alone is as many scatters; any other runs as a
/// loop over the updates, one after the other, in their order.
std::vector<Array> scatter(const Operands& xs, const Operand& indices, const Operands& updates,
                           const ScatterDimensions& dimensions, const ScatterBody& body);

/// What is picked by a position beyond the last or, counted from the end, the first element.
enum class OutOfRange : std::uint8_t {
  fill,  ///< NaN, of complex numbers the real part; the least number of signed integers, the
         ///< greatest of unsigned ones, true
  clip,  ///< the nearest element
  wrap   ///< positions count on from the start again, as remainders
};

/// The slabs of x at these positions of an axis: integers of any shape, which stands in the axis's
/// place. Negative positions count from the end.
Array take(const Operand& x, const Operand& indices, Axis axis, OutOfRange mode = OutOfRange::fill);
/// The same of all elements of x in row-major order.
Array take(const Operand& x, const Operand& indices, OutOfRange mode = OutOfRange::fill);

/// Element indices[..., i, ...] along an axis of x, at each place of `indices`, which has as many
/// axes as x and, on the others, its sizes or 1: the counterpart of argsort and argmax.
Array take_along_axis(const Operand& x, const Operand& indices, Axis axis = -1,
                      OutOfRange mode = OutOfRange::fill);
/// x with `values`, broadcast to the shape of `indices`, where take_along_axis would read;
/// positions out of range are left out.
Array put_along_axis(const Operand& x, const Operand& indices, const Operand& values,
                     Axis axis = -1, Update update = Update::replace);

}  // namespace anabranch
