// What a node says besides its operands: one plain struct per form, in one variant.
//
// `fields(attributes, visit)` calls visit("name", member) for each member: printing, parsing,
// equality and hashing all derive from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "anabranch/device.h"
#include "ir/custom_call.h"
#include "ir/fields.h"
#include "ir/literal.h"

namespace anabranch {

struct NoAttributes {
  bool operator==(const NoAttributes&) const = default;
};

struct ConstantAttributes {
  Literal value;
  bool operator==(const ConstantAttributes&) const = default;
};

struct AxisAttributes {
  std::int64_t axis = 0;
  bool operator==(const AxisAttributes&) const = default;
};

struct AxesAttributes {
  std::vector<std::int64_t> axes;
  bool operator==(const AxesAttributes&) const = default;
};

enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
template <>
inline constexpr std::array<std::string_view, 6> words<Comparison> = {"eq", "ne", "lt",
                                                                      "le", "gt", "ge"};

struct CompareAttributes {
  Comparison direction = Comparison::eq;
  bool operator==(const CompareAttributes&) const = default;
};

/// One entry per axis.
struct SliceAttributes {
  std::vector<std::int64_t> start, limit, stride;
  bool operator==(const SliceAttributes&) const = default;
};

/// One size per axis.
struct SizesAttributes {
  std::vector<std::int64_t> sizes;
  bool operator==(const SizesAttributes&) const = default;
};

/// One entry per axis.
struct PadAttributes {
  std::vector<std::int64_t> low, high, interior;
  bool operator==(const PadAttributes&) const = default;
};

/// One entry per axis. A window spans `(sizes - 1) * dilations + 1` elements.
struct WindowsAttributes {
  std::vector<std::int64_t> sizes, strides, dilations;
  bool operator==(const WindowsAttributes&) const = default;
};

/// Which axes are which, as StableHLO's gather says (its names in brackets). The second operand
/// holds vectors along `index_vector_axis`, or is one number each where that is its rank: component
/// k says where a window begins on axis start_axes[k] (start_index_map) of the first operand. A
/// window has `sizes` (slice_sizes) elements on each axis; those of `collapsed_axes`
/// (collapsed_slice_dims) and of `operand_batch_axes` (operand_batching_dims), of one element, are
/// no axes of the result, the others are its `offset_axes` (offset_dims). The result's further axes
/// are those of the second operand, in their order. On operand_batch_axes[i] a window is at the
/// vector's own place on axis index_batch_axes[i] (start_indices_batching_dims).
struct GatherAttributes {
  std::vector<std::int64_t> offset_axes, collapsed_axes, operand_batch_axes, index_batch_axes,
      start_axes;
  std::int64_t index_vector_axis = 0;
  std::vector<std::int64_t> sizes;
  bool operator==(const GatherAttributes&) const = default;
};

/// How an update meets an element: by the op of that name, or in its place.
enum class ScatterCombiner : std::uint8_t {
  replace,
  add,
  multiply,
  minimum,
  maximum,
  and_,
  or_,
  xor_
};
template <>
inline constexpr std::array<std::string_view, 8> words<ScatterCombiner> = {
    "replace", "add", "multiply", "minimum", "maximum", "and", "or", "xor"};

/// The same of a scatter: `window_axes` (update_window_dims) of the updates are the axes of the
/// first operand but for `inserted_axes` (inserted_window_dims) and `operand_batch_axes`
/// (input_batching_dims), on which a window has one element. `start_axes` is StableHLO's
/// scatter_dims_to_operand_dims, `index_batch_axes` its scatter_indices_batching_dims.
struct ScatterAttributes {
  std::vector<std::int64_t> window_axes, inserted_axes, operand_batch_axes, index_batch_axes,
      start_axes;
  std::int64_t index_vector_axis = 0;
  ScatterCombiner combiner = ScatterCombiner::replace;
  bool operator==(const ScatterAttributes&) const = default;
};

/// Pairs of axes, by position: lhs_batch[i] goes with rhs_batch[i], and so for contracting.
struct DotAttributes {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
  bool operator==(const DotAttributes&) const = default;
};

/// Which axes are which: lhs_axes = batch, feature, spatial ones; rhs_axes = output feature, input
/// feature, spatial ones; result_axes as lhs_axes. The others have one entry per spatial axis; a
/// negative low or high crops. Features are in `groups`, each of which sees its own alone.
struct ConvolutionAttributes {
  std::vector<std::int64_t> lhs_axes, rhs_axes, result_axes;
  std::vector<std::int64_t> strides, low, high, lhs_dilations, rhs_dilations;
  std::vector<std::int64_t>
      rhs_reversals;  ///< per spatial axis, 1 where windows are read backwards
  std::int64_t groups = 1;
  /// Above 1, the features are summed in so many parts (split-K), and the result has a first axis
  /// of them in front of those that `result_axes` names.
  std::int64_t feature_splits = 1;
  bool operator==(const ConvolutionAttributes&) const = default;
};

struct SortAttributes {
  std::int64_t axis = 0;
  bool descending = false;
  bool operator==(const SortAttributes&) const = default;
};

/// What positions are written in.
enum class PositionDtype : std::uint8_t { i32, i64 };
template <>
inline constexpr std::array<std::string_view, 2> words<PositionDtype> = {"i32", "i64"};

struct ArgsortAttributes {
  std::int64_t axis = 0;
  bool descending = false;
  PositionDtype positions = PositionDtype::i64;
  bool operator==(const ArgsortAttributes&) const = default;
};

enum class Running : std::uint8_t { sum, product, maximum, minimum };
template <>
inline constexpr std::array<std::string_view, 4> words<Running> = {"sum", "product", "maximum",
                                                                   "minimum"};

/// Reverse: each element with those behind it.
struct CumulativeAttributes {
  std::int64_t axis = 0;
  Running of = Running::sum;
  bool reverse = false;
  bool operator==(const CumulativeAttributes&) const = default;
};

/// How a loop is taken backwards.
struct WhileAttributes {
  /// The most states that are kept at once where the number of turns is not known when it is
  /// traced; at least 1.
  std::optional<std::int64_t> kept_states = {};
  bool operator==(const WhileAttributes&) const = default;
};

/// Where a result is to be.
struct DeviceAttributes {
  Device device;
  bool operator==(const DeviceAttributes&) const = default;
};

/// The function's name, which of the functions under it is meant (ir/custom_call.h), and what it
/// gives.
struct CustomCallAttributes {
  std::string name;
  std::vector<Type> results;
  CustomFunctionHandle function = {};
  bool operator==(const CustomCallAttributes&) const = default;
};

/// What each number but 0 of a check's first operand says: "MESSAGE, at model.cpp:12".
struct CheckAttributes {
  std::vector<std::string> messages;
  bool operator==(const CheckAttributes&) const = default;
};

/// Which triangle is read and written: the upper one unless `lower`.
struct TriangleAttributes {
  bool lower = false;
  bool operator==(const TriangleAttributes&) const = default;
};

/// What a matrix stands for: itself, its transpose, its conjugate transpose.
enum class Transpose : std::uint8_t { no, transpose, adjoint };
template <>
inline constexpr std::array<std::string_view, 3> words<Transpose> = {"no", "transpose", "adjoint"};

struct TriangularSolveAttributes {
  bool left_side = false, lower = false, unit_diagonal = false;
  Transpose transpose_a = Transpose::no;
  bool operator==(const TriangularSolveAttributes&) const = default;
};

struct SvdAttributes {
  bool vectors = false, full_matrices = false;
  bool operator==(const SvdAttributes&) const = default;
};

struct EighAttributes {
  bool vectors = false, lower = false;
  bool operator==(const EighAttributes&) const = default;
};

/// Which eigenvectors are wanted.
struct EigAttributes {
  bool left = false, right = false;
  bool operator==(const EigAttributes&) const = default;
};

struct SchurAttributes {
  bool vectors = false;
  bool operator==(const SchurAttributes&) const = default;
};

/// The forward and the inverse transform, and those of reals.
enum class FftKind : std::uint8_t { fft, ifft, rfft, irfft };
template <>
inline constexpr std::array<std::string_view, 4> words<FftKind> = {"fft", "ifft", "rfft", "irfft"};

/// One length per transformed axis, as many elements as it has on the side that is longer.
struct FftAttributes {
  FftKind type = FftKind::fft;
  std::vector<std::int64_t> lengths;
  bool operator==(const FftAttributes&) const = default;
};

/// What the regions of a composite are, and so what its derivative is. `arguments` are the first
/// operands; what the functions capture comes after them and has no derivative.
enum class CompositeRule : std::uint8_t {
  /// The function, then its results and their tangents from its operands and the tangents of those
  /// arguments that have any.
  custom_jvp,
  /// The function; its results, then residuals, from its operands; a cotangent per argument that
  /// has tangents, from the residuals and a cotangent per result that has.
  custom_vjp,
  /// Linear in its arguments, tangents of a custom_vjp's: what gives their cotangents, from the
  /// other operands and the results' cotangents. There is nothing that gives the results.
  pullback,
  /// The function, which is computed again where its derivative is, but for values that are kept.
  checkpoint,
  /// One operand, which a checkpoint that it is part of keeps.
  kept,
  /// One operand, which has a name that policies of checkpoints ask for.
  named,
};
template <>
inline constexpr std::array<std::string_view, 6> words<CompositeRule> = {
    "custom_jvp", "custom_vjp", "pullback", "checkpoint", "kept", "named"};

struct CompositeAttributes {
  CompositeRule rule = CompositeRule::checkpoint;
  std::int64_t arguments = 0;
  std::vector<Type> results = {};  ///< of a pullback
  std::string name = {};           ///< of a value that is named
  bool operator==(const CompositeAttributes&) const = default;
};

/// Whether it says something of its operand, which it gives as it is.
inline bool is_mark(CompositeRule rule) {
  return rule == CompositeRule::kept || rule == CompositeRule::named;
}
/// Whether it has one region, and its derivative is that region's.
inline bool is_plain_call(const CompositeAttributes& attributes) {
  return attributes.rule == CompositeRule::checkpoint || is_mark(attributes.rule);
}

/// What the group compiles to: one loop nest without reductions, one with, one library call for a
/// dot and its epilogue, or one loop nest around the turns of a pointwise loop.
enum class FusionKind : std::uint8_t { elementwise, reduction, dot, loop };
template <>
inline constexpr std::array<std::string_view, 4> words<FusionKind> = {"elementwise", "reduction",
                                                                      "dot", "loop"};

struct FusionAttributes {
  FusionKind kind = FusionKind::elementwise;
  bool operator==(const FusionAttributes&) const = default;
};

using Attributes =
    std::variant<NoAttributes, ConstantAttributes, AxisAttributes, AxesAttributes,
                 CompareAttributes, SliceAttributes, SizesAttributes, PadAttributes,
                 WindowsAttributes, DotAttributes, ConvolutionAttributes, SortAttributes,
                 ArgsortAttributes, CumulativeAttributes, DeviceAttributes, CustomCallAttributes,
                 TriangleAttributes, TriangularSolveAttributes, SvdAttributes, EighAttributes,
                 FftAttributes, FusionAttributes, GatherAttributes, ScatterAttributes,
                 EigAttributes, CheckAttributes, WhileAttributes, CompositeAttributes,
                 SchurAttributes>;

template <class Visitor>
void fields(const NoAttributes&, Visitor&&) {}

// A literal is written as the constant's value, not as a field.
template <class Visitor>
void fields(const ConstantAttributes&, Visitor&&) {}

template <MaybeConst<AxisAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("axis", a.axis);
}
template <MaybeConst<AxesAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("axes", a.axes);
}
template <MaybeConst<CompareAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("direction", a.direction);
}
template <MaybeConst<SliceAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("start", a.start);
  visit("limit", a.limit);
  visit("stride", a.stride);
}
template <MaybeConst<SizesAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("sizes", a.sizes);
}
template <MaybeConst<PadAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("low", a.low);
  visit("high", a.high);
  visit("interior", a.interior);
}
template <MaybeConst<WindowsAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("sizes", a.sizes);
  visit("strides", a.strides);
  visit("dilations", a.dilations);
}
template <MaybeConst<DotAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("lhs_batch", a.lhs_batch);
  visit("rhs_batch", a.rhs_batch);
  visit("lhs_contracting", a.lhs_contracting);
  visit("rhs_contracting", a.rhs_contracting);
}
template <MaybeConst<ConvolutionAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("lhs_axes", a.lhs_axes);
  visit("rhs_axes", a.rhs_axes);
  visit("result_axes", a.result_axes);
  visit("strides", a.strides);
  visit("low", a.low);
  visit("high", a.high);
  visit("lhs_dilations", a.lhs_dilations);
  visit("rhs_dilations", a.rhs_dilations);
  visit("rhs_reversals", a.rhs_reversals);
  visit("groups", a.groups);
  visit("feature_splits", a.feature_splits);
}
template <MaybeConst<SortAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("axis", a.axis);
  visit("descending", a.descending);
}
template <MaybeConst<ArgsortAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("axis", a.axis);
  visit("descending", a.descending);
  visit("positions", a.positions);
}
template <MaybeConst<CumulativeAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("axis", a.axis);
  visit("of", a.of);
  visit("reverse", a.reverse);
}
template <MaybeConst<WhileAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("kept_states", a.kept_states);
}
template <MaybeConst<DeviceAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("device", a.device);
}
template <MaybeConst<CustomCallAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("name", a.name);
  visit("function", a.function);
  visit("results", a.results);
}
template <MaybeConst<GatherAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("offset_axes", a.offset_axes);
  visit("collapsed_axes", a.collapsed_axes);
  visit("operand_batch_axes", a.operand_batch_axes);
  visit("index_batch_axes", a.index_batch_axes);
  visit("start_axes", a.start_axes);
  visit("index_vector_axis", a.index_vector_axis);
  visit("sizes", a.sizes);
}
template <MaybeConst<ScatterAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("window_axes", a.window_axes);
  visit("inserted_axes", a.inserted_axes);
  visit("operand_batch_axes", a.operand_batch_axes);
  visit("index_batch_axes", a.index_batch_axes);
  visit("start_axes", a.start_axes);
  visit("index_vector_axis", a.index_vector_axis);
  visit("combiner", a.combiner);
}
template <MaybeConst<TriangleAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("lower", a.lower);
}
template <MaybeConst<TriangularSolveAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("left_side", a.left_side);
  visit("lower", a.lower);
  visit("unit_diagonal", a.unit_diagonal);
  visit("transpose_a", a.transpose_a);
}
template <MaybeConst<SvdAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("vectors", a.vectors);
  visit("full_matrices", a.full_matrices);
}
template <MaybeConst<EighAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("vectors", a.vectors);
  visit("lower", a.lower);
}
template <MaybeConst<EigAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("left", a.left);
  visit("right", a.right);
}
template <MaybeConst<SchurAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("vectors", a.vectors);
}
template <MaybeConst<FftAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("type", a.type);
  visit("lengths", a.lengths);
}
template <MaybeConst<CheckAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("messages", a.messages);
}
template <MaybeConst<CompositeAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("rule", a.rule);
  visit("arguments", a.arguments);
  visit("results", a.results);
  visit("name", a.name);
}
template <MaybeConst<FusionAttributes> A, class Visitor>
void fields(A& a, Visitor&& visit) {
  visit("kind", a.kind);
}

}  // namespace anabranch
