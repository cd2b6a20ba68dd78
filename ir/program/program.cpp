#include "ir/program/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "anabranch/error.h"
#include "ir/infer/infer.h"

namespace anabranch {

std::span<Program> inner_programs(Step& step) {
  if (auto* loop = std::get_if<LoopStep>(&step.work)) return loop->regions;
  if (auto* branch = std::get_if<BranchStep>(&step.work)) return branch->branches;
  return {};
}

std::span<const Program> inner_programs(const Step& step) {
  return inner_programs(const_cast<Step&>(step));
}

bool is_whole_flow(const Step& step) {
  if (const auto* loop = std::get_if<LoopStep>(&step.work)) return loop->is_whole;
  const auto* branch = std::get_if<BranchStep>(&step.work);
  return branch && branch->is_whole;
}

std::vector<Type> result_types(const CallStep& call) {
  return infer(call.op, call.operands, call.attributes, std::nullopt, {}, {});
}

std::optional<std::uint32_t> kernel_of(const Step& step) {
  if (const auto* kernel = std::get_if<KernelStep>(&step.work)) return kernel->kernel;
  const auto* epilogue = epilogue_of(step);
  return epilogue ? std::optional(epilogue->kernel) : std::nullopt;
}

const DotStep::Epilogue* epilogue_of(const Step& step) {
  const auto pointer = [](const auto& of) { return of.epilogue ? &*of.epilogue : nullptr; };
  if (const auto* dot = std::get_if<DotStep>(&step.work)) return pointer(*dot);
  const auto* convolution = std::get_if<ConvolutionStep>(&step.work);
  return convolution ? pointer(*convolution) : nullptr;
}

const char* kind_name(const Step& step) {
  struct Name {
    const char* operator()(const KernelStep&) const { return "kernel"; }
    const char* operator()(const DotStep&) const { return "library"; }
    const char* operator()(const PackStep&) const { return "library"; }
    const char* operator()(const ConvolutionStep&) const { return "library"; }
    const char* operator()(const PackFiltersStep&) const { return "library"; }
    const char* operator()(const CopyStep&) const { return "library"; }
    const char* operator()(const TransferStep&) const { return "copy"; }
    const char* operator()(const CallStep&) const { return "library"; }
    const char* operator()(const LoopStep&) const { return "loop"; }
    const char* operator()(const BranchStep&) const { return "branch"; }
  };
  return std::visit(Name(), step.work);
}

SlotId input_slot(const Program& program, std::uint32_t index) {
  const auto is_it = [&](const Slot& slot) {
    return slot.kind == Slot::Kind::input && slot.index == index;
  };
  const auto found = std::find_if(program.slots.begin(), program.slots.end(), is_it);
  if (found != program.slots.end()) return static_cast<SlotId>(found - program.slots.begin());
  throw InternalError("run", fmt::format("input {} has no slot", index), to_string(program));
}

bool Prediction::is_critical(StepId step) const {
  const auto at =
      std::lower_bound(critical_path.begin(), critical_path.end(), step,
                       [](const Timed& timed, StepId number) { return timed.step < number; });
  return at != critical_path.end() && at->step == step;
}

}  // namespace anabranch
