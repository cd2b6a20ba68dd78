#include "codegen/plan/dot_split.h"

#include <algorithm>

#include "anabranch/error.h"
#include "codegen/lower/lower.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

std::optional<std::uint32_t> find_product(const Graph& region) {
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    if (is_library(region.node(i).op)) return i;
  }
  return {};
}

// The part of `region` after its dot: parameter 0 is the dot's result, the others are
// `extra_inputs`.
Graph epilogue_region(const Graph& region, std::uint32_t dot,
                      std::vector<std::size_t>& extra_inputs) {
  GraphBuilder builder("epilogue");
  GraphCopier copier(region, builder);
  std::vector<char> read(region.nodes().size(), 0);
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    if (i == dot) continue;
    for (Value input : region.node(i).inputs) read[input.node] = 1;
  }
  for (Value output : region.outputs()) read[output.node] = 1;
  copier.rename(dot, builder.parameter(region.node(dot).types[0]));
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) {
    if (!read[i]) continue;
    copier.copy(i);
    extra_inputs.push_back(i);
  }
  for (auto i = static_cast<std::uint32_t>(region.parameter_count()); i < region.nodes().size();
       ++i) {
    if (i != dot) copier.copy(i);
  }
  std::vector<Value> outputs;
  for (Value output : region.outputs()) {
    Value value = copier(output);
    // Where the dot's own result is an output too, the epilogue copies it.
    if (builder.node(value).op == Op::parameter) {
      value = builder.add(Op::reshape, {value}, NoAttributes{}, builder.type(value));
    }
    outputs.push_back(value);
  }
  return builder.build(std::move(outputs));
}

// Which parameter of the region a dot's operand is; nothing where it is computed in the region.
std::optional<std::size_t> parameter_of(const Graph& region, Value operand) {
  if (operand.node < region.parameter_count()) return operand.node;
  return {};
}

}  // namespace

bool reads_in_place(const Graph& epilogue) {
  std::vector<char> from_dot(epilogue.nodes().size(), 0);
  from_dot[0] = 1;
  for (std::uint32_t i = 0; i < epilogue.nodes().size(); ++i) {
    const Node& node = epilogue.node(i);
    for (Value input : node.inputs) {
      if (!from_dot[input.node]) continue;
      if (!is_elementwise(node.op)) return false;
      from_dot[i] = 1;
    }
  }
  return epilogue.type(epilogue.outputs()[0]) == epilogue.parameter_type(0);
}

std::optional<DotSplit> split_dot(const Node& fusion) {
  const Graph& region = fusion.regions.at(0);
  auto at = find_product(region);
  if (!at) return {};
  const Node& node = region.node(*at);
  auto lhs = parameter_of(region, node.inputs[0]), rhs = parameter_of(region, node.inputs[1]);
  if (!lhs || !rhs) return {};
  DotSplit split;
  split.lhs = *lhs;
  split.rhs = *rhs;
  const Type &left = region.type(node.inputs[0]), &right = region.type(node.inputs[1]);
  if (node.op == Op::dot) {
    split.product = DotStep{left, right, node.types[0], node.as<DotAttributes>()};
  } else {
    split.product = ConvolutionStep{left, right, node.types[0], node.as<ConvolutionAttributes>()};
  }
  if (region.outputs().size() == 1 && region.outputs()[0] == Value{*at, 0}) return split;

  Graph epilogue = epilogue_region(region, *at, split.extra_inputs);
  Node wrapped;
  wrapped.op = Op::fusion;
  wrapped.types = fusion.types;
  wrapped.attributes = FusionAttributes{FusionKind::elementwise};
  wrapped.location = fusion.location;
  wrapped.regions.push_back(std::move(epilogue));
  split.epilogue = std::move(wrapped);
  return split;
}

Kernel epilogue_kernel(const Node& epilogue, const std::string& name) {
  const Graph& region = epilogue.regions[0];
  std::vector<Type> operands;
  for (std::size_t i = 0; i < region.parameter_count(); ++i) {
    operands.push_back(region.parameter_type(i));
  }
  Lowered lowered = lower(epilogue, operands, name);
  if (lowered.calls.size() != 1) {
    throw InternalError("dot epilogue", name + " is more than one kernel", to_string(region));
  }
  KernelCall& call = lowered.calls[0];
  // The order in which the dot passes pointers: inputs, then outputs. Scratch stays last.
  auto place = [&](const KernelArgument& argument) {
    bool input = argument.kind == KernelArgument::Kind::input;
    return argument.index + (input ? 0 : region.parameter_count());
  };
  const std::size_t wanted = region.parameter_count() + region.outputs().size();
  std::vector<KernelBuffer> ordered(wanted);
  std::vector<std::uint32_t> moved(call.kernel.buffers.size());
  for (std::size_t i = 0; i < call.kernel.buffers.size(); ++i) {
    if (i < call.arguments.size()) {
      moved[i] = static_cast<std::uint32_t>(place(call.arguments[i]));
      ordered.at(moved[i]) = call.kernel.buffers[i];
    } else {
      moved[i] = static_cast<std::uint32_t>(ordered.size());
      ordered.push_back(call.kernel.buffers[i]);
    }
  }
  if (call.arguments.size() != wanted) {
    throw InternalError("dot epilogue", name + " does not read every input", to_string(region));
  }
  call.kernel.buffers = std::move(ordered);
  for (Instruction& instruction : call.kernel.instructions) {
    if (auto* load = std::get_if<Load>(&instruction.operation)) load->buffer = moved[load->buffer];
    if (auto* store = std::get_if<Store>(&instruction.operation))
      store->buffer = moved[store->buffer];
  }
  return std::move(call.kernel);
}

}  // namespace anabranch
