#include "codegen/plan/fuse_steps.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/backends.h"
#include "codegen/kernel/fuse_loops.h"

namespace anabranch {
namespace {

/// The steps of one program, with the kernels of all.
class StepFusion {
 public:
  StepFusion(Program& program, std::vector<Kernel>& kernels)
      : program_(program),
        kernels_(kernels),
        made_by_(program.slots.size(), 0),
        walked_by_(program.slots.size()) {}

  void run() {
    for (Step& step : program_.steps) {
      for (Program& inner : inner_programs(step)) StepFusion(inner, kernels_).run();
      if (!is_joined(step)) add(std::move(step));
    }
    program_.steps = std::move(steps_);
  }

 private:
  void add(Step step) {
    steps_.push_back(std::move(step));
    note(steps_.size() - 1);
  }

  void note(std::size_t position) {
    const Step& step = steps_[position];
    for (SlotId slot : step.writes) made_by_[slot] = position;
    if (!is_fusible(step)) return;
    const auto walk = [&](std::uint32_t buffer) {
      if (buffer < step.buffers.size()) walked_by_[step.buffers[buffer]] = position;
    };
    for (const Instruction& instruction : kernel(step).instructions) {  // not every argument
      if (auto* load = std::get_if<Load>(&instruction.operation)) walk(load->buffer);
      if (auto* store = std::get_if<Store>(&instruction.operation)) walk(store->buffer);
    }
  }

  // What is updated in place has to be where it was.
  static bool is_fusible(const Step& step) {
    return std::holds_alternative<KernelStep>(step.work) && step.in_place_updates.empty();
  }

  bool is_joined(const Step& step) {
    if (!is_fusible(step)) return false;
    const DeviceIndex device = device_of(program_, step);
    const LoopFusionCosts costs = backend_of(program_.devices[device].device).loop_fusion_costs();
    std::size_t ready = 0;
    for (SlotId slot : step.buffers) ready = std::max(ready, made_by_[slot]);
    for (SlotId slot : step.buffers) {
      const std::optional<std::size_t> earlier = walked_by_[slot];
      if (!earlier || *earlier < ready || device_of(program_, steps_[*earlier]) != device) continue;
      const auto bytes = static_cast<std::int64_t>(program_.slots[slot].type.bytes());
      if (bytes >= costs.least_shared_bytes && join(*earlier, step, costs)) return true;
    }
    return false;
  }

  bool join(std::size_t position, const Step& second, const LoopFusionCosts& costs) {
    Step& first = steps_[position];
    std::optional<FusedLoops> fused =
        fuse_loops({kernel(first), first.buffers}, {kernel(second), second.buffers}, costs);
    if (!fused) return false;
    first.name = fused->kernel.name;
    first.work = KernelStep{static_cast<std::uint32_t>(kernels_.size())};
    first.buffers = std::move(fused->arrays);
    first.writes.insert(first.writes.end(), second.writes.begin(), second.writes.end());
    first.in_place.clear();  // another block may still read what one has written
    kernels_.push_back(std::move(fused->kernel));
    note(position);
    return true;
  }

  const Kernel& kernel(const Step& step) const {
    return kernels_[std::get<KernelStep>(step.work).kernel];
  }

  Program& program_;
  std::vector<Kernel>& kernels_;
  std::vector<Step> steps_;
  std::vector<std::size_t> made_by_;                   // per slot: the step, 0 for none
  std::vector<std::optional<std::size_t>> walked_by_;  // per slot: the last step that may be joined
};

template <class Visit>
void for_each_kernel(Program& program, Visit&& visit) {
  for (Step& step : program.steps) {
    for (Program& inner : inner_programs(step)) for_each_kernel(inner, visit);
    if (auto* run = std::get_if<KernelStep>(&step.work)) visit(run->kernel);
    if (auto* dot = std::get_if<DotStep>(&step.work); dot && dot->epilogue) {
      visit(dot->epilogue->kernel);
    }
    if (auto* product = std::get_if<ConvolutionStep>(&step.work); product && product->epilogue) {
      visit(product->epilogue->kernel);
    }
  }
}

// Leaves out those that no step runs, and puts the others in the order of the steps.
std::vector<Kernel> kernels_of(Program& program, std::vector<Kernel> all) {
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::uint32_t>> now(all.size());  // steps may share a kernel
  for_each_kernel(program, [&](std::uint32_t& number) {
    if (!now[number]) {
      now[number] = static_cast<std::uint32_t>(kernels.size());
      kernels.push_back(std::move(all[number]));
    }
    number = *now[number];
  });
  return kernels;
}

}  // namespace

void fuse_steps(Program& program) {
  std::vector<Kernel> kernels = std::move(program.kernels);
  const std::size_t before = kernels.size();
  StepFusion(program, kernels).run();
  program.kernels =
      kernels.size() > before ? kernels_of(program, std::move(kernels)) : std::move(kernels);
}

}  // namespace anabranch
