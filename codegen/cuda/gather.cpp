#include "codegen/cuda/gather.h"

#include <algorithm>
#include <utility>

#include "codegen/cuda/emit/flow.h"
#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/emit/text.h"
#include "codegen/cuda/map_threads.h"

namespace anabranch::cuda {
namespace {

std::size_t pointers_of(const Kernel& kernel) {
  return static_cast<std::size_t>(
      std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                    [](const KernelBuffer& buffer) { return buffer.access != Access::scratch; }));
}

class Gatherer {
 public:
  explicit Gatherer(std::span<const Kernel> kernels) : kernels_(kernels) {}

  void add(const Step& step) {
    if (const auto kernel = kernel_of(step)) return add_kernel(step, kernels_[*kernel]);
    if (is_whole_flow(step)) return add_whole_flow(step);
    for (const Program& region : inner_programs(step)) {
      for (const Step& inner : region.steps) add(inner);
    }
    if (const auto* branch = std::get_if<BranchStep>(&step.work)) {
      add_conditional(step, emit_branch_conditional(branch->branches.size()));
    } else if (std::holds_alternative<LoopStep>(step.work)) {
      add_conditional(step, emit_loop_conditional());
    }
  }

  Gathered take() { return std::move(gathered_); }

 private:
  void add_kernel(const Step& step, const Kernel& kernel) {
    KernelText text{symbol(kernel.name),          emit_kernel(kernel), block_count(kernel),
                    threads_of(kernel).threads(), pointers_of(kernel), {}};
    gathered_.parts.push_back({&step, std::move(text), {}});
  }

  void add_whole_flow(const Step& step) {
    FlowText flow =
        emit_flow(step, [&](std::uint32_t number) -> const Kernel& { return kernels_[number]; });
    KernelText text{symbol(step.name), std::move(flow.text), 1,
                    flow.threads,      step.buffers.size(),  {}};
    gathered_.parts.push_back({&step, std::move(text), std::move(flow.constants)});
  }

  void add_conditional(const Step& step, ConditionalText text) {
    auto& conditionals = gathered_.conditionals;
    const auto is_it = [&](const Gathered::Conditional& conditional) {
      return conditional.text.name == text.name;
    };
    auto known = std::ranges::find_if(conditionals, is_it);
    if (known == conditionals.end()) known = conditionals.insert(known, {std::move(text), {}});
    known->steps.push_back(&step);
  }

  std::span<const Kernel> kernels_;
  Gathered gathered_;
};

}  // namespace

Gathered gather(const Program& program, std::span<const DeviceIndex> devices) {
  Gatherer gatherer(program.kernels);
  for (const Step& step : program.steps) {
    const DeviceIndex device = device_of(program, step);
    if (std::ranges::find(devices, device) != devices.end()) gatherer.add(step);
  }
  return gatherer.take();
}

}  // namespace anabranch::cuda
