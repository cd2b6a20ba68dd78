#include "codegen/cuda/backend.h"

#include "codegen/cuda/dot/plan.h"
#include "codegen/cuda/emit/flow.h"
#include "codegen/cuda/emit/program_text.h"
#include "codegen/cuda/emit/thread_scratch.h"
#include "codegen/cuda/gpu_costs.h"
#include "codegen/cuda/link.h"
#include "codegen/cuda/predict.h"
#include "codegen/cuda/whole_flows.h"
#include "codegen/kernel/decompose.h"
#include "codegen/kernel/legalise_dtypes.h"

namespace anabranch::cuda {
namespace {

class GpuBackend final : public Backend {
 public:
  std::optional<DotPlan> plan_dot(const DotSplit& split, const Device& device,
                                  const Options& options) const override {
    return cuda::plan_dot(split, device.index(), options);
  }

  std::span<const KernelPass> kernel_passes() const override {
    static constexpr KernelPass passes[] = {decompose_pass, legalise_dtypes_pass};
    return passes;
  }
  std::span<const KernelPass> mapping_passes() const override { return cuda::mapping_passes(); }
  Target kernel_target() const override { return {.half_arithmetic = true}; }
  // A column at a time is work for few multiprocessors; 2^19 threads are work for all of any GPU.
  LowerTarget lower_target() const override {
    return {.column_sums = {.least_chunked_bytes = 1 << 24, .most_partials = 1 << 19},
            .product_tiles = {},
            .kept_rows = {.most_of_loops = ThreadScratch::most_shared_bytes,
                          .most_in_order = ThreadScratch::most_thread_bytes}};
  }

  void add_steps(Program&, DeviceIndex, std::span<const Kernel>) const override {}

  void predict(Step& step, const Program& program, std::span<const Kernel> kernels) const override {
    cuda::predict(step, program, kernels);
  }

  DeviceModel model(const Device& device, const Options&) const override {
    const GpuFacts facts = GpuCosts::of(device.index()).facts();
    DeviceModel model;
    model.units = facts.multiprocessors;
    model.step_ns = launch_ns;
    model.event_ns = event_ns;
    model.apart_ns = round_trip_ns;
    model.join_ns = event_ns;
    model.look_ns = round_trip_ns;
    model.most_streams = most_streams;
    model.threads_per_unit = facts.threads;
    model.works_by_itself = true;
    return model;
  }

  bool is_small(std::span<const Program> regions, std::span<const Kernel>) const override {
    return cuda::is_small(regions);
  }

  bool can_be_whole(const Step& flow, std::span<const Kernel> kernels) const override {
    return cuda::can_be_whole(flow, kernels);
  }

  int block_threads(const Step& flow, std::span<const Kernel> kernels) const override {
    return cuda::block_threads(flow, kernels);
  }

  void link(const Program& program, const Options& options, LinkedCode& code) const override {
    cuda::link(program, options.cache.get(), code);
  }

  std::string dump(const Program& program, const LinkedCode&, Stage stage) const override {
    return stage == Stage::cuda ? program_text(program) : std::string();
  }
};

}  // namespace

const Backend& backend() {
  static const Backend& backend = *new GpuBackend;  // never destroyed: see backends.h
  return backend;
}

}  // namespace anabranch::cuda
