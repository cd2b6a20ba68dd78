#include "passes/placement.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

bool has_transfer(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& node) { return node.op == Op::transfer; });
}

[[noreturn]] void refuse(const Node& node, const std::string& what) {
  const std::string place = node.location ? ", at " + to_string(node.location) : "";
  throw Error(std::string(name(node.op)) + ": " + what + place);
}

void check_regions(const Node& node) {
  for (const Graph& region : node.regions) {
    if (has_transfer(region)) {
      refuse(node,
             "a value moves to another device inside; a loop or a branch runs on one device: "
             "move the value before or after it with .to(device)");
    }
  }
}

// Each value that a check guards by a check of its own, since they may be on several devices.
Graph with_checks_apart(const Graph& graph) {
  const auto guards_several = [](const Node& node) {
    return node.op == Op::check && node.types.size() > 1;
  };
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), guards_several)) return graph;
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    if (!guards_several(node)) {
      copier.copy(i);
      continue;
    }
    for (std::uint32_t k = 0; k < node.types.size(); ++k) {
      const Value guarded[] = {node.inputs[0], node.inputs[1 + k]};
      copier.rename({i, k}, builder.add(node.op, copier(guarded), node.attributes, std::nullopt, {},
                                        node.location));
    }
  }
  return builder.build(copier(graph.outputs()));
}

// Scalars that only the states of checks are computed from.
std::vector<char> state_nodes(const Graph& graph) {
  enum : char { unread, state, other };
  std::vector<char> reads(graph.nodes().size(), unread);
  for (Value output : graph.outputs()) reads[output.node] = other;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.node(static_cast<std::uint32_t>(i));
    const bool is_scalar = node.types.size() == 1 && node.types[0].rank() == 0;
    if (!is_scalar) reads[i] = other;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      char& read = reads[node.inputs[k].node];
      const bool is_state = node.op == Op::check ? k == 0 : reads[i] == state;
      read = is_state && read != other ? state : other;
    }
  }
  for (char& read : reads) read = read == state;
  return reads;
}

/// Devices of the nodes of one graph, as far as they are known.
class Placement {
 public:
  Placement(const Graph& graph, const ParameterDevices& parameters, const Device& home)
      : graph_(graph),
        home_(home),
        devices_(graph.nodes().size()),
        pinned_(nodes_on_devices(graph)),
        states_(state_nodes(graph)) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) follow_operands(i, parameters);
    follow_readers();
  }

  const Device& at(std::uint32_t node) const { return *devices_[node]; }
  /// Whether it depends on a parameter.
  bool depends(std::uint32_t node) const { return pinned_[node]; }

 private:
  void follow_operands(std::uint32_t index, const ParameterDevices& parameters) {
    const Node& node = graph_.node(index);
    check_regions(node);
    if (node.op == Op::parameter) {
      if (parameters.empty()) devices_[index] = home_;
      if (index < parameters.size()) devices_[index] = parameters[index];
    }
    // A state comes to what it guards, and from wherever the predicates are.
    const bool is_moved = node.op == Op::select && states_[index];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Value input = node.inputs[k];
      const auto& device = devices_[input.node];
      if (!device || (node.op == Op::check && k == 0)) continue;
      if (devices_[index] && *devices_[index] != *device && node.op != Op::transfer) {
        if (is_moved) continue;
        refuse(node, "operands are on " + to_string(*devices_[index]) + " and on " +
                         to_string(*device) + "; move one with .to(device)");
      }
      devices_[index] = device;
    }
    if (node.op == Op::transfer) devices_[index] = node.as<DeviceAttributes>().device;
  }

  // What no operand placed: readers come after it, and so have their devices already.
  void follow_readers() {
    std::vector<std::set<Device>> readers(graph_.nodes().size());
    for (auto i = static_cast<std::uint32_t>(graph_.nodes().size()); i-- > 0;) {
      const Node& node = graph_.node(i);
      if (!devices_[i]) devices_[i] = readers[i].size() == 1 ? *readers[i].begin() : home_;
      for (Value input : node.inputs) {
        // Any device will do for what is transferred: best where nothing else is asked for.
        if (node.op != Op::transfer) readers[input.node].insert(*devices_[i]);
      }
    }
  }

  const Graph& graph_;
  const Device home_;
  std::vector<std::optional<Device>> devices_;
  std::vector<char> pinned_;
  const std::vector<char> states_;
};

/// Writes the graph anew with the transfers that it needs and no others.
class PlacedWriter {
 public:
  PlacedWriter(const Graph& graph, const Placement& placement, bool with_floating)
      : graph_(graph),
        placement_(placement),
        with_floating_(with_floating),
        builder_(graph.name()),
        copier_(graph, builder_) {}

  PlacedGraph write() {
    PlacedGraph placed;
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      Node node = graph_.node(i);
      if (node.op == Op::transfer && is_there(origin(i), placement_.at(i))) {
        copier_.rename(i, copier_(origin(i)));
        continue;
      }
      if (node.op == Op::parameter) {
        copier_.copy(i);
      } else {
        if (node.op == Op::transfer) node.inputs[0] = origin(i);
        for (Value& input : node.inputs) input = read(node, input, placement_.at(i));
        copier_.rename(i, builder_.append(std::move(node)));
      }
      note(copier_({i, 0}), placement_.at(i));
    }
    placed.graph = builder_.build(copier_(graph_.outputs()));
    placed.devices = std::move(devices_);
    return placed;
  }

 private:
  // What a transfer sends, by way of which devices it may have come.
  Value origin(std::uint32_t transfer) const {
    Value value = graph_.node(transfer).inputs[0];
    while (graph_.node(value).op == Op::transfer) value = graph_.node(value).inputs[0];
    return value;
  }

  bool is_there(Value value, const Device& device) const {
    return graph_.node(value).op != Op::constant && placement_.at(value.node) == device;
  }

  Value read(const Node& reader, Value value, const Device& device) {
    const bool anywhere = graph_.node(value).op == Op::constant ||
                          (!with_floating_ && !placement_.depends(value.node));
    if (reader.op == Op::transfer || anywhere || is_there(value, device)) return copier_(value);
    const Value sent = builder_.add(Op::transfer, {copier_(value)}, DeviceAttributes{device},
                                    std::nullopt, {}, reader.location);
    note(sent, device);
    return sent;
  }

  void note(Value value, const Device& device) {
    if (value.node >= devices_.size()) devices_.resize(value.node + 1);
    devices_[value.node] = device;
  }

  const Graph& graph_;
  const Placement& placement_;
  const bool with_floating_;
  GraphBuilder builder_;
  GraphCopier copier_;
  std::vector<Device> devices_;
};

}  // namespace

PlacedGraph place(const Graph& given, const ParameterDevices& parameters, const Device& home,
                  bool with_floating) {
  const bool is_elsewhere = std::ranges::any_of(
      parameters, [&](const std::optional<Device>& device) { return device && *device != home; });
  const bool is_apart = is_elsewhere || has_transfer(given);
  const Graph graph = is_apart ? with_checks_apart(given) : given;
  return PlacedWriter(graph, Placement(graph, parameters, home), with_floating).write();
}

std::vector<char> nodes_on_devices(const Graph& graph) {
  std::vector<char> is_on_device(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    is_on_device[i] = node.op == Op::parameter || node.op == Op::transfer ||
                      std::ranges::any_of(node.inputs, [&](Value input) -> bool {
                        return is_on_device[input.node];
                      });
  }
  return is_on_device;
}

std::vector<std::uint32_t> parts_between_transfers(const Graph& graph) {
  if (!has_transfer(graph)) return {};
  const auto size = static_cast<std::uint32_t>(graph.nodes().size());
  std::vector<std::uint32_t> part(size);
  std::iota(part.begin(), part.end(), 0);
  const auto root = [&](std::uint32_t node) {
    while (part[node] != node) node = part[node] = part[part[node]];
    return node;
  };
  // What depends on constants alone is on no device yet: it belongs to its readers' part where all
  // are of one.
  const std::vector<char> depends = nodes_on_devices(graph);
  for (std::uint32_t i = 0; i < size; ++i) {
    const Node& node = graph.node(i);
    if (node.op == Op::transfer) continue;
    for (Value input : node.inputs) {
      if (depends[input.node]) part[root(input.node)] = root(i);
    }
  }
  std::vector<std::set<std::uint32_t>> readers(size);
  for (std::uint32_t i = size; i-- > 0;) {
    if (!depends[i] && readers[i].size() == 1) part[i] = *readers[i].begin();
    const std::uint32_t own = root(i);
    for (Value input : graph.node(i).inputs) {
      if (graph.node(i).op != Op::transfer) readers[input.node].insert(own);
    }
  }
  for (std::uint32_t i = 0; i < size; ++i) part[i] = root(i);
  return part;
}

}  // namespace anabranch
