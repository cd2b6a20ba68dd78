#include "codegen/cpu/backend.h"

#include <algorithm>
#include <utility>

#include "anabranch/devices.h"
#include "codegen/costs.h"
#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/convolution/convolution.h"
#include "codegen/cpu/convolution/tiles.h"
#include "codegen/cpu/dot/design.h"
#include "codegen/cpu/dot/dot.h"
#include "codegen/cpu/grain.h"
#include "codegen/cpu/kernel_passes.h"
#include "codegen/cpu/kernel_time.h"
#include "codegen/cpu/link_program.h"
#include "codegen/cpu/native_flow.h"
#include "codegen/host/scatter.h"

namespace anabranch::cpu {
namespace {

// What oneDNN does on one core, in f32: from 140 for a product of 64 to 240. OpenBLAS does half of
// it in f64.
constexpr double dot_operations_per_ns = 160, f64_dot_operations_per_ns = 75;

std::int64_t ranges(std::int64_t extent, std::int64_t grain) {
  return std::max<std::int64_t>(1, extent / std::max<std::int64_t>(1, grain));
}

template <class Product>
std::optional<std::int64_t> epilogue_extent(const Product& product,
                                            std::span<const Kernel> kernels) {
  if (!product.epilogue) return std::nullopt;
  return kernels[product.epilogue->kernel].extent();
}

/// Time on one core, and how many cores a step can use.
class Predict {
 public:
  Predict(Step& step, std::span<const Kernel> kernels, std::int64_t cores)
      : step_(step), kernels_(kernels), cached_(cached_bytes(kernels)), cores_(cores) {}

  void operator()(const KernelStep& step) const {
    const Kernel& kernel = kernels_[step.kernel];
    set(kernel_ns(kernel, cached_), ranges(kernel.extent(), grain(kernel, cached_)));
  }
  void operator()(const DotStep& dot) const {
    Cost alone = step_.cost;
    if (dot.epilogue) alone.operations -= kernels_[dot.epilogue->kernel].cost.operations;
    const double memory_ns = core_ns({alone.bytes_read, alone.bytes_written, 0});
    const double rate = dot.lhs.dtype == f64 ? f64_dot_operations_per_ns : dot_operations_per_ns;
    const double dot_ns = static_cast<double>(alone.operations) / rate;
    const double epilogue_ns =
        dot.epilogue ? kernel_ns(kernels_[dot.epilogue->kernel], cached_) : 0;
    // How it is cut does not depend on whether an operand is packed.
    const DotDesign made = design(dot, epilogue_extent(dot, kernels_), false);
    set(std::max(memory_ns, dot_ns) + epilogue_ns, ranges(made.extent(), made.grain()));
  }
  void operator()(const PackStep& pack) const {
    const HostTask task =
        PackedRight::task(design(pack.dot, epilogue_extent(pack.dot, kernels_), true).shared_right);
    set(core_ns(step_.cost), ranges(task.extent, task.grain));
  }
  void operator()(const ConvolutionStep& convolution) const {
    const ConvolutionTiles made =
        convolution_tiles(convolution, epilogue_extent(convolution, kernels_));
    const double memory_ns = core_ns({step_.cost.bytes_read, step_.cost.bytes_written, 0});
    const double product_ns = static_cast<double>(step_.cost.operations) / dot_operations_per_ns;
    set(std::max(memory_ns, product_ns), ranges(made.extent(), made.grain()));
  }
  void operator()(const PackFiltersStep& pack) const {
    const HostTask task = pack_filters(pack.convolution);
    set(core_ns(step_.cost), ranges(task.extent, task.grain));
  }
  void operator()(const CopyStep&) const { set_copy(); }
  void operator()(const TransferStep&) const { set_copy(); }
  void operator()(const CallStep& call) const {
    const bool is_cut = call.op == Op::scatter;
    set(call_ns(step_), is_cut ? scatter_pieces(call, cores_) : 1);
  }
  void operator()(const LoopStep&) const {}
  void operator()(const BranchStep&) const {}

 private:
  void set_copy() const { set(core_ns(step_.cost), ranges(step_.cost.bytes_read, copy_grain)); }
  void set(double ns, std::int64_t parallelism) const {
    step_.predicted_ns = ns;
    step_.parallelism = parallelism;
  }

  Step& step_;
  std::span<const Kernel> kernels_;
  double cached_;
  std::int64_t cores_;
};

class CpuBackend final : public Backend {
 public:
  std::optional<DotPlan> plan_dot(const DotSplit& split, const Device&,
                                  const Options& options) const override {
    const DotStep& dot = std::get<DotStep>(split.product);
    if (dot.lhs.size() == 0 || dot.rhs.size() == 0) return std::nullopt;
    if (!has_library_dot(dot.lhs, dot.rhs, dot.attributes)) return std::nullopt;
    const bool is_symmetric = split.lhs == split.rhs && is_half_enough(dot);
    if (!is_symmetric && !options.prefer_libraries &&
        loops_are_faster(dot.lhs, dot.rhs, dot.attributes)) {
      return std::nullopt;
    }
    DotPlan plan;
    plan.dot = dot;
    plan.dot.is_symmetric = is_symmetric;
    if (!split.epilogue) return plan;
    if (plan.dot.is_symmetric) {
      plan.epilogue = DotPlan::Epilogue::after;
      return plan;
    }
    const Graph& epilogue = split.epilogue->regions[0];
    plan.epilogue = DotPlan::Epilogue::inside;
    plan.dot.epilogue = {0, split.extra_inputs.size(), epilogue.outputs().size(),
                         reads_in_place(epilogue)};
    return plan;
  }

  bool takes(const ConvolutionStep& step) const override { return has_library_convolution(step); }

  bool runs_epilogue(const ConvolutionStep& step) const override {
    return has_tiles_of_one_run(step);
  }

  // A core's cache holds the lines of a few rows until each element has been asked for.
  bool follows_rows() const override { return true; }

  // What a core's cache holds is summed as fast without partial results (docs/benchmarks.md). The
  // rows of longer chunks are fetched ahead (codegen/cpu/memory_passes.h).
  LowerTarget lower_target() const override {
    return {.column_sums = {.least_chunked_bytes = 4 << 20, .least_rows_of_several = 48},
            .product_tiles = product_tiles()};
  }

  std::span<const KernelPass> kernel_passes() const override { return cpu::kernel_passes(); }
  Target kernel_target() const override {
    const CpuModel& cpu = host_cpu();
    return {.vector_bytes = cpu.has("avx512f") ? 64 : cpu.has("avx2") ? 32 : 16};
  }

  // Of 2 MiB that a core's own cache has (docs/benchmarks.md).
  LoopFusionCosts loop_fusion_costs() const override {
    return {.least_shared_bytes = 4 << 20, .most_block_bytes = 3 << 19};
  }

  // The right operand of a dot of many rows is laid out once, for all blocks of rows, and so are
  // the filters of a convolution. Laying it out takes 0.2 to 0.4 ns an element, the product 0.012
  // ns a row of the left. It saves a quarter of a product of 384 rows, a third to a half of one of
  // 160 to 320 rows and 3,072 columns, and where a cache does not hold it from run to run half of
  // one of 128: oneDNN reads pieces of rows, as far apart as they are long (docs/benchmarks.md).
  void add_steps(Program& program, DeviceIndex device,
                 std::span<const Kernel> kernels) const override {
    constexpr std::int64_t rows_to_share = 384, few_rows_to_share = 96;
    // Up to so many rows are one block, whose tiles read each piece of the right operand once.
    constexpr std::int64_t rows_of_block = 128, columns_to_share = 2048;
    std::int64_t right_bytes = 0;
    for (const Step& step : program.steps) {
      if (const auto* dot = std::get_if<DotStep>(&step.work)) right_bytes += dot->rhs.bytes();
    }
    const std::int64_t least_rows = right_bytes > kept_bytes() ? few_rows_to_share : rows_to_share;
    const auto shares = [&](const DotShape& shape) {
      return shape.rows >= least_rows ||
             (shape.rows > rows_of_block && shape.columns >= columns_to_share);
    };
    std::vector<Step> steps;
    for (Step& step : program.steps) {
      const bool is_here = device_of(program, step) == device;
      auto* dot = std::get_if<DotStep>(&step.work);
      if (dot && is_here && shares(dot_shape(dot->lhs, dot->rhs, dot->attributes))) {
        const DotDesign made = design(*dot, epilogue_extent(*dot, kernels), true);
        if (made.shared_right) {
          dot->packed = made.shared_operand();
          steps.push_back(pack(program, step, *dot->packed, made.shared_right->layout().get_size(),
                               PackStep{*dot}));
        }
      }
      if (auto* convolution = std::get_if<ConvolutionStep>(&step.work); convolution && is_here) {
        if (const std::size_t bytes = packed_filter_bytes(*convolution); bytes > 0) {
          convolution->packed = true;
          PackFiltersStep filters{*convolution};
          filters.convolution.epilogue.reset();
          steps.push_back(pack(program, step, 1, bytes, std::move(filters)));
        }
      }
      steps.push_back(std::move(step));
    }
    program.steps = std::move(steps);
  }

  // Measured with attention of 12 heads of 64 features (docs/benchmarks.md) on cores of 2 MiB of L2
  // cache each: values of 12 MB gain nothing, those of 50 MB a third; blocks of 2 and of 4 MiB take
  // equally long, of 8 MiB and more longer. The bytes that 4,096 tokens save took 0.06 ns each
  // forward, 0.09 backward. Blocks give each core as much as its own cache holds, so that sums over
  // rows may be rounded in another way by a device of more cores.
  BlockCosts block_costs(const Device& device) const override {
    constexpr std::int64_t core_bytes = 2 << 20, shared_bytes = 16 << 20;
    BlockCosts costs;
    costs.cached_bytes = core_bytes * cores(device).count;
    costs.uncached_bytes = std::max(shared_bytes, 2 * costs.cached_bytes);
    costs.least_rows = 128;  // as many as a tile has (dot/shape.cpp)
    costs.memory_ns_per_byte = 0.08;
    costs.copy_ns_per_byte = 0.05;
    costs.step_ns = 3000;
    costs.operation_ns = 1 / dot_operations_per_ns;
    return costs;
  }

  void predict(Step& step, const Program& program, std::span<const Kernel> kernels) const override {
    const Device& device = program.devices[device_of(program, step)].device;
    std::visit(Predict(step, kernels, cores(device).count), step.work);
  }

  DeviceModel model(const Device& device, const Options&) const override {
    DeviceModel model;
    model.units = cores(device).count;
    model.step_ns = core_step_ns;
    model.event_ns = model.apart_ns = core_event_ns;
    return model;
  }

  bool is_small(std::span<const Program> regions, std::span<const Kernel> kernels) const override {
    return cpu::is_small(regions, kernels);
  }
  bool can_be_whole(const Step&, std::span<const Kernel>) const override { return true; }

  void link(const Program& program, const Options& options, LinkedCode& code) const override {
    link_program(program, options.cache.get(), code);
  }

  std::string dump(const Program& program, const LinkedCode& code, Stage stage) const override {
    if (stage != Stage::llvm && stage != Stage::assembly) return {};
    return code_text(program, code, stage);
  }

 private:
  // The step that does `work`: it fills a temporary, which `step` then reads in place of `buffer`.
  static Step pack(Program& program, Step& step, std::size_t buffer, std::size_t bytes,
                   decltype(Step::work) work) {
    const SlotId operand = step.buffers[buffer];
    const auto room = static_cast<SlotId>(program.slots.size());
    const Type type{u8, Shape{static_cast<std::int64_t>(bytes)}};
    program.slots.push_back({Slot::Kind::temporary, 0, Slot::unplaced, type,
                             program.slots[step.writes[0]].name + ".packed",
                             program.slots[operand].device});
    step.buffers[buffer] = room;
    Step packs;
    packs.work = std::move(work);
    packs.name = step.name + "_pack";
    packs.buffers = {operand, room};
    packs.writes = {room};
    packs.location = step.location;
    return packs;
  }
};

}  // namespace

const Backend& backend() {
  static const Backend& backend = *new CpuBackend;  // never destroyed: see backends.h
  return backend;
}

}  // namespace anabranch::cpu
