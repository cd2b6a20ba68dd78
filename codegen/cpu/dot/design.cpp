#include "codegen/cpu/dot/design.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/dot/one_thread.h"

namespace anabranch::cpu {
namespace {

constexpr double predicted_gflops = 200;

dnnl::memory::data_type dnnl_type(Dtype dtype) {
  return dtype == bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

// A matrix, or several of them.
dnnl::memory::desc matrix_desc(Dtype dtype, std::int64_t batches, const dnnl::memory::dims& sizes,
                               const dnnl::memory::dims& strides) {
  if (batches == 1) return {sizes, dnnl_type(dtype), {strides[1], strides[2]}};
  return {{batches, sizes[0], sizes[1]}, dnnl_type(dtype), strides};
}

// Takes strides that one dimension of the two has as 1.
std::optional<LibraryOperand> as_it_is(const DotOperand& operand, Dtype compute) {
  auto free = folded(operand.free);
  auto contracting = folded(operand.contracting);
  if (operand.dtype != compute || !free || !contracting) return std::nullopt;
  // The stride along a single element is anything.
  if (free->size == 1) free->stride = contracting->stride == 1 ? contracting->size : 1;
  if (contracting->size == 1) contracting->stride = free->stride == 1 ? free->size : 1;
  if (free->stride == 1) {
    if (contracting->stride < free->size) return std::nullopt;
  } else if (contracting->stride != 1 || free->stride < contracting->size) {
    return std::nullopt;
  }
  LibraryOperand seen{.from = operand};
  seen.free_stride = free->stride;
  seen.contracting_stride = contracting->stride;
  if (auto batch = folded(operand.batch)) seen.batch_stride = batch->stride;
  return seen;
}

LibraryOperand packed(const DotOperand& operand) {
  LibraryOperand seen{.from = operand, .is_packed = true};
  auto free = folded(operand.free);
  // As the source has it, so that packing reads consecutive elements. A single row is one, not a
  // matrix of rows of one element.
  seen.is_transposed = free && free->stride == 1 && free->size > 1;
  seen.free_stride = seen.is_transposed ? 1 : size_of(operand.contracting);
  seen.contracting_stride = seen.is_transposed ? size_of(operand.free) : 1;
  return seen;
}

// A tile is a run of whole iterations of the epilogue: rows of a product, or a product, or several
// where an iteration spans them.
void fit_epilogue(DotShape& shape, std::int64_t extent) {
  const std::int64_t size = shape.batches * shape.rows * shape.columns;
  const std::int64_t per_iteration = size / std::max<std::int64_t>(1, extent);
  const DotTile& tile = shape.tile;
  const std::int64_t run =
      tile.columns == shape.columns ? tile.batches * tile.rows * tile.columns : tile.columns;
  if (per_iteration * extent == size && run % per_iteration == 0) return;
  // Tiles of whole rows in place of those of columns.
  constexpr std::int64_t rows = 64;
  if (shape.batches == 1 && shape.tiles > 1 && shape.rows > rows &&
      rows * shape.columns % per_iteration == 0) {
    shape.tile = {.rows = rows, .columns = shape.columns};
    shape.tiles = (shape.rows + rows - 1) / rows;
    return;
  }
  const std::int64_t product = shape.rows * shape.columns;
  const std::int64_t products = std::max<std::int64_t>(1, per_iteration / product);
  if (product * products % per_iteration != 0) {
    throw InternalError("dot", "an epilogue whose iterations span parts of products");
  }
  shape.tile = {.batches = products, .rows = shape.rows, .columns = shape.columns};
  shape.tiles = shape.batches / products;
}

std::shared_ptr<const PackedRight> share_right(const DotDesign& design) {
  const DotShape& shape = design.shape;
  const dnnl::memory::dims sizes = {shape.inner, shape.columns};
  const dnnl::memory::desc any(sizes, dnnl_type(design.compute), dnnl::memory::format_tag::any);
  const dnnl::memory::desc liked = design.describe(shape.at(0), &any).weights_desc();
  const LibraryOperand& right = design.right;
  const dnnl::memory::desc as_it_is =
      matrix_desc(design.compute, 1, sizes, {0, right.contracting_stride, right.free_stride});
  // For a last tile of few rows the library may have nothing but its reference for this layout.
  auto last = design.describe(shape.at(shape.tiles - 1), &liked);
  if (std::string_view(last.impl_info_str()).starts_with("ref")) return nullptr;
  return PackedRight::make(as_it_is, liked, design.engine);
}

void see_operands(DotDesign& design, Dtype compute) {
  design.compute = compute;
  design.left = as_it_is(design.shape.left, compute).value_or(packed(design.shape.left));
  design.right = as_it_is(design.shape.right, compute).value_or(packed(design.shape.right));
}

// bf16 needs AVX-512.
bool has_bf16(const DotDesign& design) {
  try {
    design.describe(design.call_of(design.shape.at(0)), nullptr);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

const dnnl::engine& cpu_engine() {
  // Never destroyed: tasks may run while the process ends.
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

std::int64_t DotDesign::extent() const { return std::max<std::int64_t>(1, shape.tiles); }

std::int64_t DotDesign::grain() const {
  const DotTile& tile = shape.tile;
  const double operations = 2.0 * static_cast<double>(tile.batches * tile.rows * tile.columns) *
                            static_cast<double>(shape.inner);
  const auto grain =
      1 + static_cast<std::int64_t>(worthwhile_ns * predicted_gflops / std::max(1.0, operations));
  return packs_per_range() ? std::max(grain, (extent() + 3) / 4) : grain;
}

DotTile DotDesign::call_of(DotTile tile) const {
  const bool has_strides = folded(shape.left.batch) && folded(shape.right.batch);
  if (is_packed() || !has_strides || library == DotLibrary::openblas) tile.batches = 1;
  return tile;
}

dnnl::matmul::primitive_desc DotDesign::describe(const DotTile& tile,
                                                 const dnnl::memory::desc* right_layout) const {
  auto matrix = [&](std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                    std::int64_t column_stride, std::int64_t batch_stride) {
    return matrix_desc(compute, tile.batches, {rows, columns},
                       {batch_stride, row_stride, column_stride});
  };
  auto lhs =
      matrix(tile.rows, shape.inner, left.free_stride, left.contracting_stride, left.batch_stride);
  auto rhs = matrix(shape.inner, tile.columns, right.contracting_stride, right.free_stride,
                    right.batch_stride);
  const std::int64_t row_stride = is_direct && compute == dtype ? shape.columns : tile.columns;
  auto result = matrix(tile.rows, tile.columns, row_stride, 1, row_stride * tile.rows);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {dnnl::matmul::desc(lhs, right_layout ? *right_layout : rhs, result), attributes, engine};
}

DotDesign design(const DotStep& dot, std::optional<std::int64_t> epilogue_extent, bool may_share) {
  DotDesign made;
  made.shape = dot_shape(dot.lhs, dot.rhs, dot.attributes, dot.is_symmetric, may_share);
  made.dtype = dot.result.dtype;
  made.is_direct = !dot.epilogue || dot.epilogue->in_place;
  if (epilogue_extent && made.shape.tiles > 0) fit_epilogue(made.shape, *epilogue_extent);
  if (!made.has_work()) return made;
  if (made.dtype == f64) {
    made.library = DotLibrary::openblas;
    see_operands(made, f64);
    return made;
  }
  const OneThread alone;
  see_operands(made, made.dtype == bf16 ? bf16 : f32);
  if (made.dtype == bf16 && !has_bf16(made)) see_operands(made, f32);
  if (!made.shape.shares_right || made.shape.tiles <= 1 || made.is_packed()) {
    return made;
  }
  try {
    made.shared_right = share_right(made);
  } catch (const dnnl::error& error) {
    throw InternalError("dot", error.what());
  }
  return made;
}

}  // namespace anabranch::cpu
