#include "codegen/cpu/dot/dot.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string_view>
#include <unordered_map>

#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/dot/one_thread.h"
#include "codegen/cpu/dot/pack.h"
#include "codegen/cpu/dot/shape.h"
#include "codegen/cpu/dot/share.h"
#include "ir/error.h"

namespace anabranch::cpu {
namespace {

constexpr double predicted_gflops = 200;
constexpr double worthwhile_ns = 20'000;

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {}
  std::byte* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

dnnl::memory::data_type dnnl_type(Dtype dtype) {
  return dtype == bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

// A matrix, or several of them.
dnnl::memory::desc matrix_desc(Dtype dtype, std::int64_t batches, const dnnl::memory::dims& sizes,
                               const dnnl::memory::dims& strides) {
  if (batches == 1) return {sizes, dnnl_type(dtype), {strides[1], strides[2]}};
  return {{batches, sizes[0], sizes[1]}, dnnl_type(dtype), strides};
}

// How the library sees an operand: where its matrices lie, in memory as it is or packed before.
struct LibraryOperand {
  DotOperand from;
  bool is_packed = false;
  bool is_transposed = false;  // packed with the contracting axes outermost
  std::int64_t free_stride = 1, contracting_stride = 1, batch_stride = 0;
  HostTask::Function pack = nullptr;
};

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
  // As the source has it, so that packing reads consecutive elements.
  seen.is_transposed = free && free->stride == 1;
  seen.free_stride = seen.is_transposed ? 1 : size_of(operand.contracting);
  seen.contracting_stride = seen.is_transposed ? size_of(operand.free) : 1;
  return seen;
}

// What one thread needs while it works, kept for the next call.
struct Workspace {
  dnnl::stream stream;
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
  Dot(const Type& lhs, const Type& rhs, const Type& result, const DotAttributes& attributes,
      std::optional<Epilogue> epilogue);
  static DotTasks tasks(std::shared_ptr<const Dot> self);

 private:
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;
  void run_tile(void* const* buffers, const DotTile& tile, Workspace& workspace) const;
  void multiply(void* const* buffers, const DotTile& tile, std::byte* to, std::int64_t row_stride,
                Workspace& workspace) const;
  std::unordered_map<int, dnnl::memory> arguments_of(const Product& product,
                                                     const Workspace& workspace) const;
  std::byte* matrix(const LibraryOperand& operand, void* const* buffers, std::int64_t batch,
                    std::optional<AlignedBytes>& room) const;
  void round(const DotTile& tile, std::byte* from, std::byte* to, std::int64_t row_stride) const;
  void run_epilogue(void* const* buffers, const DotTile& tile, std::byte* result) const;
  std::int64_t first_element(const DotTile& tile) const {
    return (tile.batch * shape_.rows + tile.row) * shape_.columns + tile.column;
  }
  bool is_direct() const { return !epilogue_ || epilogue_->in_place; }
  std::size_t output_buffer() const { return 2 + (epilogue_ ? epilogue_->inputs : 0); }
  void prepare(const DotTile& tile);
  void share_right();
  dnnl::matmul::primitive_desc describe(const DotTile& tile, const dnnl::memory::desc* right) const;
  HostTask task() const;
  void compile_kernels_around();
  bool is_packed() const { return left_.is_packed || right_.is_packed; }
  std::unique_ptr<Workspace> borrow_workspace() const;
  void give_back(std::unique_ptr<Workspace> workspace) const;

  DotShape shape_;
  Dtype dtype_;          // of the result
  Dtype compute_ = f32;  // that the library works in
  LibraryOperand left_, right_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  std::map<std::array<std::int64_t, 3>, Product> products_;  // by the sizes of the tile
  std::shared_ptr<const SharedRight> shared_right_;          // null where tiles read it as it is
  std::size_t scratchpad_bytes_ = 0;
  HostTask::Function round_ = nullptr;
  Code code_;
  std::optional<Epilogue> epilogue_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

std::array<std::int64_t, 3> sizes_of(const DotTile& tile) {
  return {tile.batches, tile.rows, tile.columns};
}

Dot::Dot(const Type& lhs, const Type& rhs, const Type& result, const DotAttributes& attributes,
         std::optional<Epilogue> epilogue)
    : shape_(dot_shape(lhs, rhs, attributes)),
      dtype_(result.dtype),
      epilogue_(std::move(epilogue)) {
  if (epilogue_ && shape_.tiles > 0) {
    // A tile is a run of whole iterations of the epilogue, or everything is one tile.
    const std::int64_t size = shape_.batches * shape_.rows * shape_.columns;
    const std::int64_t per_iteration = size / std::max<std::int64_t>(1, epilogue_->task.extent);
    const DotTile& tile = shape_.tile;
    const std::int64_t run =
        tile.columns == shape_.columns ? tile.batches * tile.rows * tile.columns : tile.columns;
    if (per_iteration * epilogue_->task.extent != size || run % per_iteration != 0) {
      shape_.tile = {.batches = 1, .rows = shape_.rows, .columns = shape_.columns};
      if (per_iteration > shape_.rows * shape_.columns) {
        throw InternalError("dot", "an epilogue whose iterations span several products");
      }
      shape_.tiles = shape_.batches;
    }
  }
  if (shape_.tiles == 0 || shape_.inner == 0) return;
  const OneThread alone;
  auto choose = [&](Dtype compute) {
    compute_ = compute;
    left_ = as_it_is(shape_.left, compute).value_or(packed(shape_.left));
    right_ = as_it_is(shape_.right, compute).value_or(packed(shape_.right));
    products_.clear();
    if (shape_.shares_right && shape_.tiles > 1 && !is_packed()) share_right();
    prepare(shape_.at(0));
    prepare(shape_.at(shape_.tiles - 1));
  };
  try {
    choose(dtype_ == bf16 ? bf16 : f32);
  } catch (const dnnl::error& error) {
    // bf16 needs AVX-512: without it, through f32.
    if (dtype_ != bf16) throw InternalError("dot", error.what());
    choose(f32);
  }
  compile_kernels_around();
}

// `right` is what to read instead of the right operand as it is in memory.
dnnl::matmul::primitive_desc Dot::describe(const DotTile& tile,
                                           const dnnl::memory::desc* right) const {
  auto matrix = [&](std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                    std::int64_t column_stride, std::int64_t batch_stride) {
    return matrix_desc(compute_, tile.batches, {rows, columns},
                       {batch_stride, row_stride, column_stride});
  };
  auto left = matrix(tile.rows, shape_.inner, left_.free_stride, left_.contracting_stride,
                     left_.batch_stride);
  auto as_it_is = matrix(shape_.inner, tile.columns, right_.contracting_stride, right_.free_stride,
                         right_.batch_stride);
  const std::int64_t row_stride = is_direct() && compute_ == dtype_ ? shape_.columns : tile.columns;
  auto result = matrix(tile.rows, tile.columns, row_stride, 1, row_stride * tile.rows);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {dnnl::matmul::desc(left, right ? *right : as_it_is, result), attributes, engine_};
}

void Dot::share_right() {
  const dnnl::memory::dims sizes = {shape_.inner, shape_.columns};
  const dnnl::memory::desc any(sizes, dnnl_type(compute_), dnnl::memory::format_tag::any);
  const dnnl::memory::desc liked = describe(shape_.at(0), &any).weights_desc();
  const dnnl::memory::desc as_it_is =
      matrix_desc(compute_, 1, sizes, {0, right_.contracting_stride, right_.free_stride});
  // For a last tile of few rows the library may have nothing but its reference for this layout.
  auto last = describe(shape_.at(shape_.tiles - 1), &liked);
  if (std::string_view(last.impl_info_str()).starts_with("ref")) return;
  shared_right_ = SharedRight::make(as_it_is, liked, engine_);
}

void Dot::prepare(const DotTile& whole) {
  DotTile tile = whole;
  if (is_packed()) tile.batches = 1;
  if (products_.contains(sizes_of(tile))) return;
  auto description = describe(tile, shared_right_ ? &shared_right_->layout() : nullptr);
  scratchpad_bytes_ = std::max(scratchpad_bytes_, description.scratchpad_desc().get_size());
  dnnl::matmul primitive(description);
  products_.emplace(sizes_of(tile), Product{std::move(description), std::move(primitive)});
}

void Dot::compile_kernels_around() {
  std::vector<Kernel> kernels;
  std::vector<HostTask::Function*> places;
  for (LibraryOperand* operand : {&left_, &right_}) {
    if (!operand->is_packed) continue;
    const DotOperand& from = operand->from;
    const StridedAxes& rows = operand->is_transposed ? from.contracting : from.free;
    const StridedAxes& columns = operand->is_transposed ? from.free : from.contracting;
    kernels.push_back(pack_kernel(rows, columns, from.dtype, compute_));
    places.push_back(&operand->pack);
  }
  if (compute_ != dtype_) {
    const DotTile& tile = shape_.tile;
    kernels.push_back(convert_kernel(tile.batches * tile.rows * tile.columns, compute_, dtype_));
    places.push_back(&round_);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].name += std::to_string(i);
  code_ = compile_kernels(kernels);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = code_.functions[i];
}

std::unique_ptr<Workspace> Dot::borrow_workspace() const {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  auto workspace =
      std::make_unique<Workspace>(Workspace{dnnl::stream(engine_), {}, {}, {}, {}, {}, {}, -1});
  const DotTile& tile = shape_.tile;
  const auto elements = static_cast<std::size_t>(tile.batches * tile.rows * tile.columns);
  workspace->scratchpad.emplace(scratchpad_bytes_);
  auto matrix_bytes = [&](std::int64_t size) {
    return static_cast<std::size_t>(size * shape_.inner) * byte_size(compute_);
  };
  if (left_.is_packed) workspace->left.emplace(matrix_bytes(shape_.rows));
  if (right_.is_packed) workspace->right.emplace(matrix_bytes(shape_.columns));
  if (compute_ != dtype_) workspace->accumulated.emplace(elements * byte_size(compute_));
  workspace->result.emplace(elements * byte_size(dtype_));
  return workspace;
}

void Dot::give_back(std::unique_ptr<Workspace> workspace) const {
  workspace->packed_batch = -1;
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

DotTasks Dot::tasks(std::shared_ptr<const Dot> self) {
  DotTasks tasks;
  if (self->shared_right_) {
    tasks.share = {.task = SharedRight::task(self->shared_right_),
                   .operand = static_cast<std::size_t>(self->right_.from.buffer),
                   .bytes = static_cast<std::int64_t>(self->shared_right_->layout().get_size())};
  }
  tasks.dot = self->task();
  tasks.dot.context = std::move(self);
  return tasks;
}

HostTask Dot::task() const {
  HostTask task;
  task.function = [](const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
    static_cast<const Dot*>(context)->run(buffers, begin, end);
  };
  task.extent = std::max<std::int64_t>(1, shape_.tiles);
  const DotTile& tile = shape_.tile;
  const double operations = 2.0 * static_cast<double>(tile.batches * tile.rows * tile.columns) *
                            static_cast<double>(shape_.inner);
  task.grain =
      1 + static_cast<std::int64_t>(worthwhile_ns * predicted_gflops / std::max(1.0, operations));
  // Every piece packs the operands for itself.
  if (is_packed()) task.grain = std::max(task.grain, (task.extent + 3) / 4);
  return task;
}

void Dot::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  end = std::min(end, shape_.tiles);
  if (begin >= end) return;
  const OneThread alone;
  auto workspace = borrow_workspace();
  try {
    for (std::int64_t i = begin; i < end; ++i) run_tile(buffers, shape_.at(i), *workspace);
  } catch (const dnnl::error& error) {
    throw InternalError("dot", error.what());
  }
  give_back(std::move(workspace));
}

void Dot::run_tile(void* const* buffers, const DotTile& tile, Workspace& workspace) const {
  const std::size_t width = byte_size(dtype_);
  std::byte* result = workspace.result->get();
  std::int64_t row_stride = tile.columns;
  if (is_direct()) {
    result = static_cast<std::byte*>(buffers[output_buffer()]) +
             static_cast<std::size_t>(first_element(tile)) * width;
    row_stride = shape_.columns;
  }
  if (shape_.inner == 0) {
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
  if (epilogue_) run_epilogue(buffers, tile, result);
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
  const std::int64_t together = is_packed() ? 1 : tile.batches;
  const Product& product = products_.at({together, tile.rows, tile.columns});
  const auto width = static_cast<std::int64_t>(byte_size(compute_));
  for (std::int64_t batch = tile.batch; batch < tile.batch + tile.batches; batch += together) {
    for (auto [operand, room] :
         {std::pair(&left_, &workspace.left), std::pair(&right_, &workspace.right)}) {
      if (!operand->is_packed || workspace.packed_batch == batch) continue;
      auto* from = static_cast<std::byte*>(buffers[operand->from.buffer]);
      from += static_cast<std::size_t>(offset_of(operand->from.batch, batch)) *
              byte_size(operand->from.dtype);
      void* pointers[] = {from, (*room)->get()};
      const DotOperand& axes = operand->from;
      operand->pack(nullptr, pointers, 0,
                    size_of(operand->is_transposed ? axes.contracting : axes.free));
    }
    workspace.packed_batch = batch;
    std::byte* left =
        matrix(left_, buffers, batch, workspace.left) + tile.row * left_.free_stride * width;
    std::byte* right =
        matrix(right_, buffers, batch, workspace.right) + tile.column * right_.free_stride * width;
    std::byte* result = to + (batch - tile.batch) * tile.rows * row_stride * width;
    auto& arguments = workspace.arguments[&product.primitive];
    if (arguments.empty()) arguments = arguments_of(product, workspace);
    arguments.at(DNNL_ARG_SRC).set_data_handle(left);
    arguments.at(DNNL_ARG_WEIGHTS).set_data_handle(right);
    arguments.at(DNNL_ARG_DST).set_data_handle(result);
    product.primitive.execute(workspace.stream, arguments);
  }
}

// Making these takes as long as a small product, so that a workspace keeps them.
std::unordered_map<int, dnnl::memory> Dot::arguments_of(const Product& product,
                                                        const Workspace& workspace) const {
  const auto& d = product.description;
  return {{DNNL_ARG_SRC, dnnl::memory(d.src_desc(), engine_, nullptr)},
          {DNNL_ARG_WEIGHTS, dnnl::memory(d.weights_desc(), engine_, nullptr)},
          {DNNL_ARG_DST, dnnl::memory(d.dst_desc(), engine_, nullptr)},
          {DNNL_ARG_SCRATCHPAD,
           dnnl::memory(d.scratchpad_desc(), engine_, workspace.scratchpad->get())}};
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
    void* pointers[] = {from + static_cast<std::size_t>(row * columns) * byte_size(compute_),
                        to + static_cast<std::size_t>(row * row_stride) * byte_size(dtype_)};
    round_(nullptr, pointers, 0, columns);
  }
}

void Dot::run_epilogue(void* const* buffers, const DotTile& tile, std::byte* result) const {
  const HostTask& task = epilogue_->task;
  std::vector<void*> pointers(1);
  for (std::size_t i = 0; i < epilogue_->inputs + epilogue_->outputs; ++i)
    pointers.push_back(buffers[2 + i]);
  const std::int64_t per_iteration =
      shape_.batches * shape_.rows * shape_.columns / std::max<std::int64_t>(1, task.extent);
  // Runs of consecutive elements: the whole tile, or a row of it at a time.
  std::int64_t runs = 1;
  std::int64_t run = tile.batches * tile.rows * tile.columns;
  if (tile.columns < shape_.columns) {
    runs = tile.rows;
    run = tile.columns;
  }
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t first = first_element(tile) + i * shape_.columns;
    // The epilogue indexes from the dot's first element on.
    pointers[0] = epilogue_->in_place
                      ? buffers[output_buffer()]
                      : result - (first - i * run) * static_cast<std::int64_t>(byte_size(dtype_));
    task.function(task.context.get(), pointers.data(), first / per_iteration,
                  (first + run) / per_iteration);
  }
}

}  // namespace

bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes&) {
  return lhs.dtype == rhs.dtype && is_float(lhs.dtype) && lhs.dtype != f64;
}

DotTasks make_dot(const Type& lhs, const Type& rhs, const Type& result,
                  const DotAttributes& attributes, std::optional<Epilogue> epilogue) {
  return Dot::tasks(std::make_shared<const Dot>(lhs, rhs, result, attributes, std::move(epilogue)));
}

}  // namespace anabranch::cpu
