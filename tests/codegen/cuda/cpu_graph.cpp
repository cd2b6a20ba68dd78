#include "cpu_graph.h"

#include "codegen/cuda/dot/products.h"
#include "ir/graph/walk.h"
#include "ir/interpret/interpret.h"
#include "passes/pipeline.h"

namespace anabranch::testing {
namespace {

Graph optimised(const Graph& graph, bool fused) {
  PassContext context;
  const std::vector<std::string> fuse = {"fuse"};
  PassRun options;
  if (!fused) options.disabled = fuse;
  return run_passes(default_pipeline(), graph, context, options);
}

std::int32_t branch_of(const Literal& which, std::size_t branches) {
  const std::int32_t index = which.values<std::int32_t>()[0];
  const auto last = static_cast<std::int32_t>(branches) - 1;
  return index < 0 || index > last ? last : index;
}

// Nothing where no library computes its dot.
std::optional<DotSplit> split_library_dot(const Node& fusion) {
  std::optional<DotSplit> split = split_dot(fusion);
  if (!split) return {};
  const DotStep& dot = std::get<DotStep>(split->product);
  if (!cuda::has_library_dot(dot.lhs, dot.rhs, dot.attributes)) return {};
  return split;
}

}  // namespace

CpuGraph::CpuGraph(CpuKernels& kernels, const Graph& graph, bool fused)
    : kernels_(kernels), graph_(optimised(graph, fused)) {
  add(graph_);
}

void CpuGraph::add(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (is_control(node.op)) {
      for (const Graph& region : node.regions) add(region);
    }
    if (node.op != Op::fusion) continue;
    Group& group = groups_[&node];
    group.dot = split_library_dot(node);
    const Node* computed = group.dot ? nullptr : &node;
    if (group.dot && group.dot->epilogue) computed = &*group.dot->epilogue;
    if (!computed) continue;
    std::vector<Type> operands;
    if (group.dot) {
      for (std::size_t i = 0; i < computed->regions[0].parameter_count(); ++i) {
        operands.push_back(computed->regions[0].parameter_type(i));
      }
    } else {
      for (Value input : node.inputs) operands.push_back(graph.type(input));
    }
    group.kernels = add_group(kernels_, *computed, operands);
  }
}

std::vector<Literal> CpuGraph::run(std::span<const Literal> inputs) const {
  return run(graph_, inputs);
}

std::vector<Literal> CpuGraph::run(const Graph& graph, std::span<const Literal> inputs) const {
  return walk(graph, inputs, [this](const Node& node, std::span<const Literal> operands) {
    return run(node, operands);
  });
}

std::vector<Literal> CpuGraph::run(const Node& node, std::span<const Literal> operands) const {
  if (const auto group = groups_.find(&node); group != groups_.end()) {
    return run(node, group->second, operands);
  }
  if (node.op == Op::case_) {
    const auto branch = static_cast<std::size_t>(branch_of(operands[0], node.regions.size()));
    return run(node.regions[branch], operands.subspan(1));
  }
  if (node.op == Op::while_) {
    std::vector<Literal> carried(operands.begin(), operands.end());
    while (run(node.regions[0], carried)[0].values<bool>()[0]) {
      std::vector<Literal> next = run(node.regions[1], carried);
      std::move(next.begin(), next.end(), carried.begin());
    }
    carried.erase(carried.begin() + static_cast<std::ptrdiff_t>(node.types.size()), carried.end());
    return carried;
  }
  return interpret(node, operands);
}

std::vector<Literal> CpuGraph::run(const Node& node, const Group& group,
                                   std::span<const Literal> operands) const {
  if (!group.dot) return run_group(kernels_, *group.kernels, operands, node.types);
  Node dot;
  dot.op = Op::dot;
  const auto& product = std::get<DotStep>(group.dot->product);
  dot.types = {product.result};
  dot.attributes = product.attributes;
  const Literal both[] = {operands[group.dot->lhs], operands[group.dot->rhs]};
  std::vector<Literal> results = interpret(dot, both);
  if (!group.kernels) return results;
  for (std::size_t extra : group.dot->extra_inputs) results.push_back(operands[extra]);
  return run_group(kernels_, *group.kernels, results, node.types);
}

}  // namespace anabranch::testing
