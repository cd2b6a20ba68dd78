#include "codegen/lower/lower.h"

#include "anabranch/error.h"
#include "codegen/lower/cost.h"
#include "codegen/lower/dot.h"
#include "codegen/lower/group.h"
#include "codegen/lower/loop.h"
#include "ir/graph/builder.h"
#include "ir/plan_fusion.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

/// A dot on its own, as a region.
Graph region_of(const Node& dot, std::span<const Type> operands) {
  GraphBuilder builder("dot");
  std::vector<Value> inputs;
  for (const Type& type : operands) inputs.push_back(builder.parameter(type));
  Value result = builder.add(dot.op, inputs, dot.attributes, std::nullopt, {}, dot.location);
  return builder.build({result});
}

Lowered lower_region(const Graph& region, const std::string& name, const LowerTarget& target) {
  auto plan = plan_fusion(region);
  if (auto* refusal = std::get_if<std::string>(&plan)) {
    throw InternalError("lower", name + " cannot be one kernel: " + *refusal, to_string(region));
  }
  FusionPlan& found = std::get<FusionPlan>(plan);
  if (found.kind == FusionKind::dot) return lower_dot(region, name, target);
  if (found.kind == FusionKind::loop) return lower_loop(region, std::move(found), name);
  return GroupLowering(region, std::move(found), name).run(target);
}

}  // namespace

Lowered lower(const Node& node, std::span<const Type> operands, const std::string& name,
              const LowerTarget& target) {
  const Graph region = node.op == Op::fusion ? node.regions.at(0) : region_of(node, operands);
  Lowered lowered;
  try {
    lowered = lower_region(region, name, target);
  } catch (const Error& error) {  // what is too large is the user's to mend
    const Node& last = region.node(region.outputs().back());
    throw Error(std::string(anabranch::name(last.op)) + ": " + error.what() +
                (node.location ? ", at " + to_string(node.location) : ""));
  }
  for (KernelCall& call : lowered.calls) {
    call.kernel.cost = measure(call.kernel);
    call.kernel.graph_text = to_string(region, false);
  }
  return lowered;
}

}  // namespace anabranch
