#include "passes/show_placement.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/text/print.h"
#include "passes/placement.h"

namespace anabranch {

Graph show_placement(const Graph& graph, PassContext& context) {
  PlacedGraph placed = place(graph, context.parameters, context.home);
  const std::vector<std::uint32_t> numbers = value_numbers(placed.graph);
  std::map<Device, std::string> values;
  for (std::uint32_t i = 0; i < placed.devices.size(); ++i) {
    const Node& node = placed.graph.node(i);
    if (node.op == Op::constant) continue;
    std::string& list = values[placed.devices[i]];
    for (std::uint32_t k = 0; k < node.types.size(); ++k) {
      list += (list.empty() ? "%" : ", %") + std::to_string(numbers[i] + k);
    }
  }
  for (const auto& [device, list] : values) {
    if (values.size() > 1) context.notes.push_back("on " + to_string(device) + ": " + list);
  }
  return std::move(placed.graph);
}

}  // namespace anabranch
