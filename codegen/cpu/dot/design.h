// How a dot is computed: by which library, how it is cut, and how the library sees its operands.
// Decided before anything is compiled for it.
#pragma once

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "codegen/cpu/dot/packed_right.h"
#include "codegen/cpu/dot/shape.h"
#include "ir/program/steps.h"

namespace anabranch::cpu {

/// How the library sees an operand: where its matrices are, in memory as it is or packed before.
struct LibraryOperand {
  DotOperand from;
  bool is_packed = false;
  bool is_transposed = false;  ///< packed with the contracting axes outermost
  std::int64_t free_stride = 1, contracting_stride = 1, batch_stride = 0;
};

/// The engine of the process: where memory fails while oneDNN makes one, it ends the process.
const dnnl::engine& cpu_engine();

/// oneDNN has no products of f64.
enum class DotLibrary : std::uint8_t { onednn, openblas };

struct DotDesign {
  DotLibrary library = DotLibrary::onednn;
  DotShape shape;
  Dtype dtype = f32;    ///< of the result
  Dtype compute = f32;  ///< that the library works in
  LibraryOperand left, right;
  bool is_direct = true;  ///< computed into the memory of the first output
  /// What the right operand is laid out by, once for all tiles; null where they read it as it is.
  std::shared_ptr<const PackedRight> shared_right;
  dnnl::engine engine = cpu_engine();

  bool has_work() const { return shape.tiles > 0 && shape.inner > 0; }
  bool is_packed() const { return left.is_packed || right.is_packed; }
  /// Whether each range of the task packs operands for itself.
  bool packs_per_range() const { return has_work() && is_packed(); }
  /// The operand that `shared_right` lays out: 0 is lhs, 1 is rhs.
  std::uint32_t shared_operand() const { return static_cast<std::uint32_t>(right.from.buffer); }

  /// Of the task: its iterations are tiles.
  std::int64_t extent() const;
  std::int64_t grain() const;
  std::int64_t cut() const { return packs_per_range() ? grain() : 1; }

  /// The part of a tile that one call of the library computes: one product of several where an
  /// operand is packed or its matrices have no common stride.
  DotTile call_of(DotTile tile) const;

  /// The products of a call, with `right_layout` in place of the right operand as it is in memory
  /// unless that is null.
  dnnl::matmul::primitive_desc describe(const DotTile& tile,
                                        const dnnl::memory::desc* right_layout) const;
};

/// Sizes decide; the machine decides only whether bf16 is computed as it is. `epilogue_extent` is
/// that of the epilogue's parallel loop; nothing where there is none. Without `may_share` each tile
/// reads the right operand as it is. Throws InternalError where the library refuses it.
DotDesign design(const DotStep& dot, std::optional<std::int64_t> epilogue_extent, bool may_share);

}  // namespace anabranch::cpu
