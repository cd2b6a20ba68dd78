// Dot through oneDNN or OpenBLAS, with any elementwise epilogue of our own run on each block of
// rows while it is still in the cache.
#pragma once

#include <optional>

#include "codegen/lower/product_tiles.h"
#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Whether a library computes this dot: oneDNN those of f32, bf16 and f16, but of bf16 where
/// nothing is summed; OpenBLAS those of f64. Others are lowered to loops.
bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

/// Whether loops take less time than that library: for products with a vector, which are bound by
/// memory, for those that are over before a library is called, for those of f64 in tiles
/// (codegen/lower/product.h) or of which a core has one operand in its cache, and for those of f32
/// that are one tile or two of the library's (docs/benchmarks.md).
bool loops_are_faster(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

/// Whether half of the product of an array with itself is computed and mirrored: of one of f64 that
/// is so large that this is worth an epilogue of its own kernels, as rows are whole only at the
/// end.
bool is_half_enough(const DotStep& dot);

/// How loops compute a product: 24 vectors of sums and four of operands in 32 registers, or 12 and
/// three in 16.
ProductTiles product_tiles();

/// A dot's tasks, to run one after the other.
struct DotTasks {
  /// Lays out the operand `DotStep::packed` for all blocks of rows. Its buffers: the operand, room.
  std::optional<HostTask> pack;
  /// Over blocks of rows, with the buffers of the step.
  HostTask dot;
};

/// Primitives are created here, not per call; how the rows are cut depends on the shapes alone.
/// `epilogue` runs the kernel of `dot.epilogue`, if there is one: its parallel loop runs over the
/// result in row-major order.
DotTasks make_dot(const DotStep& dot, const HostTask& epilogue = {});

}  // namespace anabranch::cpu
