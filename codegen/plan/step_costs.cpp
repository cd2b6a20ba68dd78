#include "codegen/plan/step_costs.h"

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/backends.h"
#include "codegen/host/scatter.h"
#include "codegen/linalg/task.h"
#include "codegen/plan/control_flow.h"

namespace anabranch {
namespace {

std::int64_t bytes_of(const std::vector<Type>& types) {
  std::size_t bytes = 0;
  for (const Type& type : types) bytes += type.bytes();
  return static_cast<std::int64_t>(bytes);
}

std::int64_t bytes_of(const Type& type) { return static_cast<std::int64_t>(type.bytes()); }

/// Bytes and operations of a step that is neither a loop nor a branch.
class CostOf {
 public:
  CostOf(const Program& program, const Step& step, std::span<const Kernel> kernels)
      : program_(program), step_(step), kernels_(kernels) {}

  Cost operator()(const KernelStep& step) const { return kernels_[step.kernel].cost; }
  Cost operator()(const DotStep& dot) const {
    std::int64_t inner = 1;
    for (std::int64_t axis : dot.attributes.lhs_contracting) {
      inner *= dot.lhs.shape[static_cast<int>(axis)];
    }
    Cost cost{bytes_of(dot.lhs) + bytes_of(dot.rhs), bytes_of(dot.result),
              (dot.is_symmetric ? 1 : 2) * dot.result.size() * inner};
    if (dot.epilogue) cost.operations += kernels_[dot.epilogue->kernel].cost.operations;
    return cost;
  }
  Cost operator()(const PackStep&) const { return pack(); }
  Cost operator()(const ConvolutionStep& convolution) const {
    const auto& of_filters = convolution.attributes.rhs_axes;
    std::int64_t products = 1;
    for (std::size_t i = 1; i < of_filters.size(); ++i) {
      products *= convolution.rhs.shape[static_cast<int>(of_filters[i])];
    }
    products /= convolution.attributes.feature_splits;
    Cost cost{bytes_of(convolution.lhs) + bytes_of(convolution.rhs), bytes_of(convolution.result),
              2 * convolution.result.size() * products};
    if (convolution.epilogue) {
      cost.operations += kernels_[convolution.epilogue->kernel].cost.operations;
    }
    return cost;
  }
  Cost operator()(const PackFiltersStep&) const { return pack(); }
  Cost operator()(const CopyStep&) const { return copy(); }
  Cost operator()(const TransferStep&) const { return copy(); }
  Cost operator()(const CallStep& call) const {
    if (call.op == Op::scatter) return scatter_cost(call, !step_.in_place_updates.empty());
    Cost cost{bytes_of(call.operands), bytes_of(result_types(call)), 0};
    // So many operations for each element, as measured: a sort takes 5 to 10 ns, a running sum 0.3.
    if (call.op == Op::sort || call.op == Op::argsort)
      cost.operations = 64 * call.operands[0].size();
    if (call.op == Op::cumulative) cost.operations = 2 * call.operands[0].size();
    if (is_linear_algebra(call.op)) {
      cost.operations = static_cast<std::int64_t>(linear_algebra_operations(call));
    }
    return cost;
  }
  Cost operator()(const LoopStep&) const { return {}; }
  Cost operator()(const BranchStep&) const { return {}; }

 private:
  Cost pack() const {
    const std::int64_t bytes = bytes_of(program_.slots[step_.writes[0]].type);
    return {bytes, bytes, 0};
  }

  Cost copy() const {
    const std::int64_t bytes = bytes_of(program_.slots[step_.buffers[0]].type);
    return {bytes, bytes, 0};
  }

  const Program& program_;
  const Step& step_;
  std::span<const Kernel> kernels_;
};

// A transfer is the business of the device that works by itself, where one of the two does.
const Backend& backend_for(const Program& program, const Step& step, const Options& options) {
  if (std::holds_alternative<TransferStep>(step.work)) {
    const Device& from = program.devices[program.slots[step.buffers[0]].device].device;
    const Backend& backend = backend_of(from);
    if (backend.model(from, options).works_by_itself) return backend;
  }
  return backend_of(program.devices[device_of(program, step)].device);
}

}  // namespace

void set_costs(Program& program, std::span<const Kernel> kernels, const Options& options) {
  unfinish_flows(program);
  for (Step& step : program.steps) {
    const std::span<Program> regions = inner_programs(step);
    if (regions.empty()) {
      step.cost = std::visit(CostOf(program, step, kernels), step.work);
      backend_for(program, step, options).predict(step, program, kernels);
      continue;
    }
    Options inside = options;
    inside.device = regions[0].device();
    for (Program& region : regions) set_costs(region, kernels, inside);
    finish_flow(program, step, kernels, inside);
  }
}

}  // namespace anabranch
