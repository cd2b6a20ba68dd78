#include "codegen/null/backend.h"

#include <algorithm>

#include "codegen/costs.h"

namespace anabranch::null {
namespace {

class NullBackend final : public Backend {
 public:
  std::optional<DotPlan> plan_dot(const DotSplit& split, const Device&,
                                  const Options&) const override {
    DotPlan plan;
    plan.dot = std::get<DotStep>(split.product);
    if (split.epilogue) plan.epilogue = DotPlan::Epilogue::after;
    return plan;
  }

  std::span<const KernelPass> kernel_passes() const override { return {}; }
  Target kernel_target() const override { return {}; }
  void add_steps(Program&, DeviceIndex, std::span<const Kernel>) const override {}

  void predict(Step& step, const Program&, std::span<const Kernel>) const override {
    step.predicted_ns = call_ns(step);
  }

  // As a CPU with as many cores as there may be streams.
  DeviceModel model(const Device&, const Options& options) const override {
    DeviceModel model;
    model.units = std::max(1, options.streams);
    model.step_ns = core_step_ns;
    model.event_ns = model.apart_ns = core_event_ns;
    return model;
  }

  bool is_small(std::span<const Program>, std::span<const Kernel>) const override { return false; }
  bool can_be_whole(const Step&, std::span<const Kernel>) const override { return false; }

  void link(const Program&, const Options&, LinkedCode&) const override {}
  std::string dump(const Program&, const LinkedCode&, Stage) const override { return {}; }
};

}  // namespace

const Backend& backend() {
  static const Backend& backend = *new NullBackend;  // never destroyed: see backends.h
  return backend;
}

}  // namespace anabranch::null
