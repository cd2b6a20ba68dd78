#include "codegen/cpu/dot/dot.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <tuple>
#include <unordered_map>

#include "anabranch/error.h"
#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/dot/design.h"
#include "codegen/cpu/dot/one_thread.h"
#include "codegen/cpu/dot/pack.h"
#include "codegen/cpu/kernel_time.h"
#include "codegen/host/aligned_bytes.h"
#include "codegen/host/idle.h"
#include "codegen/linalg/product.h"
#include "codegen/lower/product.h"

namespace anabranch::cpu {
namespace {

using host::AlignedBytes;

// What one thread needs while it works, kept for the next call.
struct Workspace {
  std::optional<dnnl::stream> stream;
  std::map<const dnnl::matmul*, std::unordered_map<int, dnnl::memory>> arguments;
  std::optional<AlignedBytes> scratchpad, left, right, accumulated, result;
  std::int64_t packed_batch = -1;  // whose matrices `left` and `right` hold
};

struct Product {
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
};

class Dot {
 public:
  Dot(DotDesign design, std::optional<DotStep::Epilogue> epilogue, HostTask epilogue_task);
  static DotTasks tasks(std::shared_ptr<const Dot> self);

 private:
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;
  void run_tile(void* const* buffers, const DotTile& tile, Workspace& workspace) const;
  void multiply(void* const* buffers, const DotTile& tile, std::byte* to, std::int64_t row_stride,
                Workspace& workspace) const;
  void run_openblas(const std::byte* left, const std::byte* right, const DotTile& tile,
                    std::byte* result, std::int64_t row_stride) const;
  void run_onednn(std::byte* left, std::byte* right, const std::array<std::int64_t, 3>& sizes,
                  std::byte* result, Workspace& workspace) const;
  std::unordered_map<int, dnnl::memory> arguments_of(const Product& product,
                                                     const Workspace& workspace) const;
  std::byte* matrix(const LibraryOperand& operand, void* const* buffers, std::int64_t batch,
                    std::optional<AlignedBytes>& room) const;
  void mirror(const DotTile& tile, double* rows) const;
  void round(const DotTile& tile, std::byte* from, std::byte* to, std::int64_t row_stride) const;
  void run_epilogue(void* const* buffers, const DotTile& tile, std::byte* result) const;
  std::int64_t first_element(const DotTile& tile) const {
    return (tile.batch * design_.shape.rows + tile.row) * design_.shape.columns + tile.column;
  }
  std::size_t output_buffer() const { return 2 + (epilogue_ ? epilogue_->inputs : 0); }
  void make_primitives();
  void prepare(const OneThread& alone, const DotTile& tile);
  void compile_kernels_around();
  std::unique_ptr<Workspace> make_workspace() const;

  const DotDesign design_;
  std::map<std::array<std::int64_t, 3>, Product> products_;  // by the sizes of the tile
  std::size_t scratchpad_bytes_ = 0;
  HostTask::Function pack_left_ = nullptr, pack_right_ = nullptr, round_ = nullptr;
  Code code_;
  const std::optional<DotStep::Epilogue> epilogue_;
  const HostTask epilogue_task_;
  mutable host::Idle<Workspace> workspaces_;
};

// To call oneDNN takes as long as so many multiplications and additions, twice over.
constexpr std::int64_t most_small_product = 8192;
// Rows that oneDNN computes as one tile or two, as many as there may be threads: ours are smaller.
constexpr std::int64_t least_rows_of_tile = 80, most_rows_of_tile = 192,
                       most_right_of_tile = 1 << 17;
// A right operand of f64 that leaves a core's own cache: OpenBLAS computes with blocks of it.
constexpr std::int64_t least_right_in_blocks = 1 << 17;
// Elements of a right operand in f32, or f64, beyond which memory bounds a product of few rows.
// Loops read it along its rows (codegen/lower/chunks.h); the libraries use it for more rows at
// once.
constexpr std::int64_t least_right_in_f32 = 1 << 25, least_right_in_f64 = 1 << 22;
constexpr std::int64_t few_rows = 8;

std::array<std::int64_t, 3> sizes_of(const DotTile& tile) {
  return {tile.batches, tile.rows, tile.columns};
}

Dot::Dot(DotDesign design, std::optional<DotStep::Epilogue> epilogue, HostTask epilogue_task)
    : design_(std::move(design)),
      epilogue_(std::move(epilogue)),
      epilogue_task_(std::move(epilogue_task)) {
  if (!design_.has_work()) return;
  if (design_.library == DotLibrary::onednn) make_primitives();
  compile_kernels_around();
}

void Dot::make_primitives() {
  const OneThread alone;
  try {
    prepare(alone, design_.shape.at(0));
    prepare(alone, design_.shape.at(design_.shape.tiles - 1));
  } catch (const dnnl::error& error) {
    throw InternalError("dot", error.what());
  }
}

void Dot::prepare(const OneThread& alone, const DotTile& whole) {
  const DotTile tile = design_.call_of(whole);
  if (products_.contains(sizes_of(tile))) return;
  const auto& shared = design_.shared_right;
  auto description = design_.describe(tile, shared ? &shared->layout() : nullptr);
  scratchpad_bytes_ = std::max(scratchpad_bytes_, description.scratchpad_desc().get_size());
  alone.prepare(description.impl_info_str());
  dnnl::matmul primitive(description);
  products_.emplace(sizes_of(tile), Product{std::move(description), std::move(primitive)});
}

void Dot::compile_kernels_around() {
  std::vector<Kernel> kernels;
  std::vector<HostTask::Function*> places;
  for (auto [operand, place] :
       {std::pair(&design_.left, &pack_left_), std::pair(&design_.right, &pack_right_)}) {
    if (!operand->is_packed) continue;
    const DotOperand& from = operand->from;
    const StridedAxes& rows = operand->is_transposed ? from.contracting : from.free;
    const StridedAxes& columns = operand->is_transposed ? from.free : from.contracting;
    kernels.push_back(pack_kernel(rows, columns, from.dtype, design_.compute));
    places.push_back(place);
  }
  if (design_.compute != design_.dtype) {
    const DotTile& tile = design_.shape.tile;
    kernels.push_back(
        convert_kernel(tile.batches * tile.rows * tile.columns, design_.compute, design_.dtype));
    places.push_back(&round_);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].name += std::to_string(i);
  code_ = compile_kernels(kernels);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = code_.functions[i];
}

std::unique_ptr<Workspace> Dot::make_workspace() const {
  auto workspace = std::make_unique<Workspace>();
  if (design_.library == DotLibrary::onednn) workspace->stream.emplace(design_.engine);
  const DotTile& tile = design_.shape.tile;
  const auto elements = static_cast<std::size_t>(tile.batches * tile.rows * tile.columns);
  workspace->scratchpad.emplace(scratchpad_bytes_);
  auto matrix_bytes = [&](std::int64_t size) {
    return static_cast<std::size_t>(size * design_.shape.inner) * byte_size(design_.compute);
  };
  if (design_.left.is_packed) workspace->left.emplace(matrix_bytes(design_.shape.rows));
  if (design_.right.is_packed) workspace->right.emplace(matrix_bytes(design_.shape.columns));
  if (design_.compute != design_.dtype)
    workspace->accumulated.emplace(elements * byte_size(design_.compute));
  workspace->result.emplace(elements * byte_size(design_.dtype));
  return workspace;
}

DotTasks Dot::tasks(std::shared_ptr<const Dot> self) {
  DotTasks tasks;
  if (self->design_.shared_right) tasks.pack = PackedRight::task(self->design_.shared_right);
  tasks.dot.function = [](const void* context, void* const* buffers, std::int64_t begin,
                          std::int64_t end) {
    static_cast<const Dot*>(context)->run(buffers, begin, end);
  };
  tasks.dot.extent = self->design_.extent();
  tasks.dot.grain = self->design_.grain();
  tasks.dot.cut = self->design_.cut();
  tasks.dot.context = std::move(self);
  return tasks;
}

void Dot::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  end = std::min(end, design_.shape.tiles);
  if (begin >= end) return;
  std::optional<OneThread> alone;
  if (design_.library == DotLibrary::onednn) alone.emplace();
  auto workspace = workspaces_.take([&] { return make_workspace(); });
  try {
    for (std::int64_t i = begin; i < end; ++i) run_tile(buffers, design_.shape.at(i), *workspace);
  } catch (const dnnl::error& error) {
    throw InternalError("dot", error.what());
  }
  workspace->packed_batch = -1;
  workspaces_.give_back(std::move(workspace));
}

void Dot::run_tile(void* const* buffers, const DotTile& tile, Workspace& workspace) const {
  const std::size_t width = byte_size(design_.dtype);
  std::byte* result = workspace.result->get();
  std::int64_t row_stride = tile.columns;
  if (design_.is_direct) {
    result = static_cast<std::byte*>(buffers[output_buffer()]) +
             static_cast<std::size_t>(first_element(tile)) * width;
    row_stride = design_.shape.columns;
  }
  if (design_.shape.inner == 0) {
    for (std::int64_t row = 0; row < tile.batches * tile.rows; ++row) {
      std::memset(result + static_cast<std::size_t>(row * row_stride) * width, 0,
                  static_cast<std::size_t>(tile.columns) * width);
    }
  } else if (round_) {
    multiply(buffers, tile, workspace.accumulated->get(), tile.columns, workspace);
    round(tile, workspace.accumulated->get(), result, row_stride);
  } else {
    multiply(buffers, tile, result, row_stride, workspace);
  }
  if (design_.shape.is_symmetric) mirror(tile, reinterpret_cast<double*>(result));
  if (epilogue_) run_epilogue(buffers, tile, result);
}

// What is left of the diagonal to its right, a square at a time, of which both copies are cached.
void Dot::mirror(const DotTile& tile, double* rows) const {
  constexpr std::int64_t side = 32;
  const std::int64_t stride = design_.shape.columns;
  double* matrix = rows - tile.row * stride;
  for (std::int64_t row = tile.row; row < tile.row + tile.rows; row += side) {
    const std::int64_t end = std::min(row + side, tile.row + tile.rows);
    for (std::int64_t column = 0; column < tile.row; column += side) {
      for (std::int64_t j = column; j < std::min(column + side, tile.row); ++j) {
        for (std::int64_t i = row; i < end; ++i) matrix[j * stride + i] = matrix[i * stride + j];
      }
    }
  }
}

// Where the operand's matrix for this batch element begins, as the library sees it.
std::byte* Dot::matrix(const LibraryOperand& operand, void* const* buffers, std::int64_t batch,
                       std::optional<AlignedBytes>& room) const {
  auto* base = static_cast<std::byte*>(buffers[operand.from.buffer]);
  base += static_cast<std::size_t>(offset_of(operand.from.batch, batch)) *
          byte_size(operand.from.dtype);
  return operand.is_packed ? room->get() : base;
}

void Dot::multiply(void* const* buffers, const DotTile& tile, std::byte* to,
                   std::int64_t row_stride, Workspace& workspace) const {
  const std::int64_t together = design_.call_of(tile).batches;
  const auto width = static_cast<std::int64_t>(byte_size(design_.compute));
  for (std::int64_t batch = tile.batch; batch < tile.batch + tile.batches; batch += together) {
    for (auto [operand, room, pack] : {std::tuple(&design_.left, &workspace.left, pack_left_),
                                       std::tuple(&design_.right, &workspace.right, pack_right_)}) {
      if (!operand->is_packed || workspace.packed_batch == batch) continue;
      auto* from = static_cast<std::byte*>(buffers[operand->from.buffer]);
      from += static_cast<std::size_t>(offset_of(operand->from.batch, batch)) *
              byte_size(operand->from.dtype);
      void* pointers[] = {from, (*room)->get()};
      const DotOperand& axes = operand->from;
      pack(nullptr, pointers, 0, size_of(operand->is_transposed ? axes.contracting : axes.free));
    }
    workspace.packed_batch = batch;
    std::byte* left = matrix(design_.left, buffers, batch, workspace.left) +
                      tile.row * design_.left.free_stride * width;
    std::byte* right = matrix(design_.right, buffers, batch, workspace.right) +
                       tile.column * design_.right.free_stride * width;
    std::byte* result = to + (batch - tile.batch) * tile.rows * row_stride * width;
    if (design_.library == DotLibrary::openblas) {
      run_openblas(left, right, tile, result, row_stride);
    } else {
      run_onednn(left, right, {together, tile.rows, tile.columns}, result, workspace);
    }
  }
}

void Dot::run_openblas(const std::byte* left, const std::byte* right, const DotTile& tile,
                       std::byte* result, std::int64_t row_stride) const {
  const auto matrix = [](const std::byte* at, std::int64_t row, std::int64_t column) {
    return StridedMatrix{reinterpret_cast<const double*>(at), row, column};
  };
  const LibraryOperand &a = design_.left, &b = design_.right;
  anabranch::multiply(matrix(left, a.free_stride, a.contracting_stride),
                      matrix(right, b.contracting_stride, b.free_stride), tile.rows,
                      design_.shape.inner, tile.columns, reinterpret_cast<double*>(result),
                      row_stride);
}

void Dot::run_onednn(std::byte* left, std::byte* right, const std::array<std::int64_t, 3>& sizes,
                     std::byte* result, Workspace& workspace) const {
  const Product& product = products_.at(sizes);
  auto& arguments = workspace.arguments[&product.primitive];
  if (arguments.empty()) arguments = arguments_of(product, workspace);
  arguments.at(DNNL_ARG_SRC).set_data_handle(left);
  arguments.at(DNNL_ARG_WEIGHTS).set_data_handle(right);
  arguments.at(DNNL_ARG_DST).set_data_handle(result);
  product.primitive.execute(*workspace.stream, arguments);
}

// Making these takes as long as a small product, so that a workspace keeps them.
std::unordered_map<int, dnnl::memory> Dot::arguments_of(const Product& product,
                                                        const Workspace& workspace) const {
  const auto& d = product.description;
  return {{DNNL_ARG_SRC, dnnl::memory(d.src_desc(), design_.engine, nullptr)},
          {DNNL_ARG_WEIGHTS, dnnl::memory(d.weights_desc(), design_.engine, nullptr)},
          {DNNL_ARG_DST, dnnl::memory(d.dst_desc(), design_.engine, nullptr)},
          {DNNL_ARG_SCRATCHPAD,
           dnnl::memory(d.scratchpad_desc(), design_.engine, workspace.scratchpad->get())}};
}

void Dot::round(const DotTile& tile, std::byte* from, std::byte* to,
                std::int64_t row_stride) const {
  std::int64_t rows = tile.batches * tile.rows;
  std::int64_t columns = tile.columns;
  if (row_stride == columns) {
    columns *= rows;
    rows = 1;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    void* pointers[] = {from + static_cast<std::size_t>(row * columns) * byte_size(design_.compute),
                        to + static_cast<std::size_t>(row * row_stride) * byte_size(design_.dtype)};
    round_(nullptr, pointers, 0, columns);
  }
}

void Dot::run_epilogue(void* const* buffers, const DotTile& tile, std::byte* result) const {
  const HostTask& task = epilogue_task_;
  std::vector<void*> pointers(1);
  for (std::size_t i = 0; i < epilogue_->inputs + epilogue_->outputs; ++i)
    pointers.push_back(buffers[2 + i]);
  const std::int64_t per_iteration = design_.shape.batches * design_.shape.rows *
                                     design_.shape.columns / std::max<std::int64_t>(1, task.extent);
  // Runs of consecutive elements: the whole tile, or a row of it at a time.
  std::int64_t runs = 1;
  std::int64_t run = tile.batches * tile.rows * tile.columns;
  if (tile.columns < design_.shape.columns) {
    runs = tile.rows;
    run = tile.columns;
  }
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t first = first_element(tile) + i * design_.shape.columns;
    // The epilogue indexes from the dot's first element on.
    pointers[0] =
        epilogue_->in_place
            ? buffers[output_buffer()]
            : result - (first - i * run) * static_cast<std::int64_t>(byte_size(design_.dtype));
    task.function(task.context.get(), pointers.data(), first / per_iteration,
                  (first + run) / per_iteration);
  }
}

}  // namespace

bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes& attributes) {
  if (lhs.dtype != rhs.dtype || !is_float(lhs.dtype)) return false;
  if (lhs.dtype == f64) {
    // OpenBLAS has sizes and strides of 32 bits.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return lhs.size() <= most && rhs.size() <= most;
  }
  // oneDNN 2.6 adds a zero times the left operand to each single product of bf16: NaN for infinity.
  return lhs.dtype != bf16 || dot_shape(lhs, rhs, attributes).inner > 1;
}

ProductTiles product_tiles() {
  const CpuModel& cpu = host_cpu();
  const std::int64_t packed_bytes = std::max<std::int64_t>(own_cache_bytes() / 8 * 5, 256 << 10);
  if (cpu.has("avx512f")) return {.rows = 8, .row_bytes = 3 * 64, .packed_bytes = packed_bytes};
  if (cpu.has("avx2")) return {.rows = 6, .row_bytes = 2 * 32, .packed_bytes = packed_bytes};
  return {};
}

bool loops_are_faster(const Type& lhs, const Type& rhs, const DotAttributes& attributes) {
  const DotShape shape = dot_shape(lhs, rhs, attributes);
  if (shape.columns == 1) return true;
  const std::int64_t right = shape.inner * shape.columns, product = shape.rows * right;
  const bool has_tiles = is_tiled(lhs, rhs, attributes, product_tiles());
  if (lhs.dtype == f64) {
    if (has_tiles) return true;
    if (shape.rows > few_rows && right >= least_right_in_f64) return false;
    const bool is_cached = right < least_right_in_blocks;
    const bool is_wide = shape.columns >= 1024 && shape.rows >= 256;
    return shape.rows < 32 || (is_cached && !is_wide);
  }
  if (lhs.dtype == f32 && shape.rows <= few_rows && right >= least_right_in_f32) {
    const auto columns = folded(shape.right.free);
    return columns && columns->stride == 1;
  }
  const bool is_one_tile = shape.rows >= least_rows_of_tile && shape.rows <= most_rows_of_tile &&
                           right <= most_right_of_tile;
  return (has_tiles && is_one_tile) || product <= most_small_product;
}

bool is_half_enough(const DotStep& dot) {
  constexpr std::int64_t least_rows = 256, least_inner = 64;
  if (dot.lhs.dtype != f64 || !reads_alike(dot)) return false;
  const DotShape shape = dot_shape(dot.lhs, dot.rhs, dot.attributes);
  return shape.rows >= least_rows && shape.inner >= least_inner;
}

DotTasks make_dot(const DotStep& dot, const HostTask& epilogue) {
  std::optional<std::int64_t> extent;
  if (dot.epilogue) extent = epilogue.extent;
  DotDesign designed = design(dot, extent, dot.packed.has_value());
  if (dot.packed.has_value() != (designed.shared_right != nullptr)) {
    throw InternalError("dot", "an operand is packed that the library reads as it is");
  }
  return Dot::tasks(std::make_shared<const Dot>(std::move(designed), dot.epilogue, epilogue));
}

}  // namespace anabranch::cpu
