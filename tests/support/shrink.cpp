#include "tests/support/shrink.h"

#include <map>
#include <set>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"

namespace anabranch {
namespace {

// The nodes that `outputs` need, where the nodes of `cut` are given.
std::set<std::uint32_t> needed_nodes(const Graph& graph, const std::vector<Value>& outputs,
                                     const std::set<std::uint32_t>& cut) {
  std::set<std::uint32_t> needed;
  for (Value output : outputs) needed.insert(output.node);
  for (auto index = static_cast<std::uint32_t>(graph.nodes().size()); index-- > 0;) {
    if (!needed.contains(index) || cut.contains(index)) continue;
    for (Value input : graph.node(index).inputs) needed.insert(input.node);
  }
  return needed;
}

// The part of a case that computes `outputs` from its inputs and from the values of the `cut`
// nodes.
GraphCase part(const GraphCase& whole, const std::vector<Value>& outputs,
               const std::set<std::uint32_t>& cut = {}) {
  const Graph& graph = whole.graph;
  const auto needed = needed_nodes(graph, outputs, cut);
  std::set<Value> read(outputs.begin(), outputs.end());  // of the needed ones
  for (std::uint32_t index : needed) {
    if (cut.contains(index)) continue;
    read.insert(graph.node(index).inputs.begin(), graph.node(index).inputs.end());
  }
  const ParameterDevices devices = devices_of(whole);
  GraphBuilder builder(graph.name());
  GraphCase result;
  std::map<Value, Value> renamed;
  std::vector<std::vector<Literal>> values;
  for (std::uint32_t index = 0; index < graph.nodes().size(); ++index) {
    const Node& node = graph.node(index);
    std::vector<Literal> operands;
    for (Value input : node.inputs) operands.push_back(values[input.node][input.result]);
    values.push_back(node.op == Op::parameter ? std::vector{whole.inputs[index]}
                                              : interpret(node, operands));
    if (!needed.contains(index) || (node.op != Op::parameter && !cut.contains(index))) continue;
    for (std::uint32_t k = 0; k < node.types.size(); ++k) {
      if (!read.contains({index, k})) continue;
      result.parameters.push_back(devices[index]);
      renamed[{index, k}] = builder.parameter(node.types[k]);
      result.inputs.push_back(values[index][k]);
    }
  }
  for (std::uint32_t index : needed) {
    const Node& node = graph.node(index);
    if (node.op == Op::parameter || cut.contains(index)) continue;
    std::vector<Value> inputs;
    for (Value input : node.inputs) inputs.push_back(renamed.at(input));
    std::optional<Type> stated;
    if (info(node.op).has(OpInfo::typed)) stated = node.types[0];
    const Value made = builder.add(node.op, inputs, node.attributes, stated, node.regions);
    for (std::uint32_t k = 0; k < node.types.size(); ++k) renamed[{index, k}] = {made.node, k};
  }
  std::vector<Value> new_outputs;
  for (Value output : outputs) new_outputs.push_back(renamed.at(output));
  result.graph = builder.build(new_outputs);
  return result;
}

using Fails = std::function<bool(const GraphCase&)>;

std::vector<Value> outputs_of(const Graph& graph) {
  return {graph.outputs().begin(), graph.outputs().end()};
}

bool drop_an_output(GraphCase& current, const Fails& fails) {
  for (std::size_t k = 0; k < current.graph.outputs().size(); ++k) {
    std::vector<Value> outputs = outputs_of(current.graph);
    if (outputs.size() == 1) return false;
    outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(k));
    GraphCase smaller = part(current, outputs);
    if (!fails(smaller)) continue;
    current = std::move(smaller);
    return true;
  }
  return false;
}

bool stop_at_first_wrong_node(GraphCase& current, const Fails& fails) {
  for (auto index = static_cast<std::uint32_t>(current.graph.parameter_count());
       index + 1 < current.graph.nodes().size(); ++index) {
    GraphCase smaller = part(current, {{index, 0}});
    if (smaller.graph.nodes().size() >= current.graph.nodes().size() || !fails(smaller)) continue;
    current = std::move(smaller);
    return true;
  }
  return false;
}

bool cut_a_node(GraphCase& current, const Fails& fails) {
  const auto count = static_cast<std::uint32_t>(current.graph.nodes().size());
  for (std::uint32_t index = count; index-- > current.graph.parameter_count();) {
    GraphCase smaller = part(current, outputs_of(current.graph), {index});
    const auto computed = [](const Graph& g) { return g.nodes().size() - g.parameter_count(); };
    if (computed(smaller.graph) >= computed(current.graph) || !fails(smaller)) continue;
    current = std::move(smaller);
    return true;
  }
  return false;
}

}  // namespace

ParameterDevices devices_of(const GraphCase& whole) {
  ParameterDevices devices = whole.parameters;
  for (const Node& node : std::span(whole.graph.nodes()).subspan(devices.size())) {
    std::optional<Device> device;
    for (Value input : node.inputs) device = device ? device : devices[input.node];
    if (node.op == Op::transfer) device = node.as<DeviceAttributes>().device;
    devices.push_back(device);
  }
  return devices;
}

GraphCase shrink(GraphCase failing, const Fails& fails) {
  // Dead nodes first: most failures do not need them.
  if (GraphCase smaller = part(failing, outputs_of(failing.graph)); fails(smaller)) {
    failing = std::move(smaller);
  }
  while (drop_an_output(failing, fails) || stop_at_first_wrong_node(failing, fails) ||
         cut_a_node(failing, fails)) {
  }
  return failing;
}

}  // namespace anabranch
