#include "codegen/cuda/dot/plan.h"

#include "anabranch/devices.h"
#include "codegen/cuda/dot/dot.h"
#include "codegen/cuda/dot/library_epilogue.h"
#include "codegen/cuda/dot/products.h"
#include "ir/graph/builder.h"

namespace anabranch::cuda {
namespace {

// A fusion that gives the operand's axes another order; none where that is empty.
std::optional<Node> layout_of(const Type& from, const std::vector<std::int64_t>& order) {
  if (order.empty()) return std::nullopt;
  GraphBuilder builder("layout");
  const Value result = builder.add(Op::transpose, {builder.parameter(from)}, AxesAttributes{order});
  Node fusion;
  fusion.op = Op::fusion;
  fusion.types = {builder.type(result)};
  fusion.attributes = FusionAttributes{FusionKind::elementwise};
  fusion.regions.push_back(builder.build({result}));
  return fusion;
}

// On a GPU that is not there the library takes everything: for dumps of what one would run.
std::optional<std::int64_t> workspace_of(const DotStep& dot, int gpu) {
  return exists(Device::cuda(gpu)) ? dot_workspace(dot, gpu) : 0;
}

// Whether the library takes the epilogue too.
bool take_epilogue(const Graph& epilogue, const Options& options, int gpu, DotPlan& plan) {
  const std::int64_t columns = dot_products(plan.dot.lhs, plan.dot.rhs, plan.dot.attributes)->rows;
  const auto found = library_epilogue(epilogue, columns, options.fast_math);
  if (!found) return false;
  DotStep whole = plan.dot;
  whole.has_bias = found->bias.has_value();
  whole.activation = found->activation;
  if (!workspace_of(whole, gpu)) return false;
  plan.dot = std::move(whole);
  // Parameter 0 of the epilogue is the dot's result, the others are the extra inputs.
  if (found->bias) plan.bias = *found->bias - 1;
  return true;
}

}  // namespace

std::optional<DotPlan> plan_dot(const DotSplit& split, int gpu, const Options& options) {
  const DotStep& dot = std::get<DotStep>(split.product);
  if (!has_library_dot(dot.lhs, dot.rhs, dot.attributes)) return std::nullopt;
  const LaidOutDot laid_out = lay_out(dot.lhs, dot.rhs, dot.attributes);
  DotPlan plan;
  plan.dot = dot;
  plan.dot.lhs = laid_out.lhs;
  plan.dot.rhs = laid_out.rhs;
  plan.dot.attributes = laid_out.attributes;
  plan.dot.tf32 = options.tf32;
  if (split.epilogue && !take_epilogue(split.epilogue->regions[0], options, gpu, plan)) {
    plan.epilogue = DotPlan::Epilogue::after;
  }
  const auto workspace = workspace_of(plan.dot, gpu);
  if (!workspace) return std::nullopt;
  plan.workspace_bytes = *workspace;
  plan.lhs_layout = layout_of(dot.lhs, laid_out.lhs_order);
  plan.rhs_layout = layout_of(dot.rhs, laid_out.rhs_order);
  return plan;
}

}  // namespace anabranch::cuda
