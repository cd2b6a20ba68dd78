#include "codegen/plan/launches.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/cuda/dot/parts.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/update.h"
#include "codegen/memory/in_place.h"
#include "codegen/plan/dot_epilogue.h"
#include "ir/error.h"
#include "ir/text/print.h"
#include "runtime/memory/copy.h"

namespace anabranch {
namespace {

bool is_update(const Node& node) {
  return node.op == Op::fusion && updated_parameter(node.regions[0]);
}

// The nodes in an order that keeps updates back until nothing else can be done.
std::vector<std::uint32_t> updates_last(const Graph& graph) {
  const auto size = static_cast<std::uint32_t>(graph.nodes().size());
  std::vector<std::vector<std::uint32_t>> readers(size);
  std::vector<std::size_t> missing(size);
  std::set<std::pair<bool, std::uint32_t>> ready;
  for (std::uint32_t i = 0; i < size; ++i) {
    missing[i] = graph.node(i).inputs.size();
    for (Value input : graph.node(i).inputs) readers[input.node].push_back(i);
    if (missing[i] == 0) ready.emplace(false, i);
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.extract(ready.begin()).value().second);
    for (std::uint32_t reader : readers[order.back()]) {
      if (--missing[reader] == 0) ready.emplace(is_update(graph.node(reader)), reader);
    }
  }
  return order;
}

// In place where kernels of the device can read it there.
Buffer constant_on(const Device& device, const Literal& value) {
  const std::span<const std::byte> bytes = value.bytes();
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const bool is_aligned = address % Buffer::alignment == 0;
  if (device.kind() != DeviceKind::cpu || bytes.empty() || !is_aligned) {
    return copy_to_device(device, bytes);
  }
  return Buffer::borrow(device, bytes.data(), bytes.size(), [value] {});
}

class Planner {
 public:
  /// Node i is on device `place[i]` of `devices`, or on the first where `place` is empty. Names
  /// begin with `prefix`. Where it is the body of a loop, `carries` of its inputs may be
  /// handed on as outputs; nothing: any output may be anything.
  Planner(const Graph& graph, std::span<const Device> devices, std::vector<DeviceIndex> place,
          const Options& options, std::vector<Kernel>& kernels, std::string prefix = "",
          std::optional<std::uint32_t> carries = std::nullopt)
      : graph_(graph),
        devices_(devices),
        place_(std::move(place)),
        options_(options),
        kernels_(kernels),
        prefix_(std::move(prefix)),
        carries_(carries),
        numbers_(value_numbers(graph)) {}

  Launches run() {
    for (std::uint32_t i : updates_last(graph_)) plan(i);
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) plan_output(i);
    return std::move(launches_);
  }

 private:
  void plan(std::uint32_t index) {
    const Node& node = graph_.node(index);
    at_ = place_.empty() ? 0 : place_[index];
    switch (node.op) {
      case Op::parameter: {
        auto position = static_cast<std::uint32_t>(launches_.program.inputs.size());
        launches_.program.inputs.push_back(node.types[0]);
        slots_[{index, 0}] = add_slot(Slot::Kind::input, position, node.types[0], {index, 0});
        break;
      }
      case Op::constant:
        break;  // where something reads it: most live in kernels
      case Op::reshape:
        slots_[{index, 0}] = slot_of(node.inputs[0]);
        break;
      case Op::fusion:
        plan_fusion(index, node);
        break;
      case Op::transfer:
        plan_transfer(index, node);
        break;
      case Op::custom_call:
        plan_custom_call(index, node);
        break;
      case Op::while_:
      case Op::case_:
        plan_control(index, node);
        break;
      default:
        throw InternalError("launches", std::string(name(node.op)) + " outside a fusion",
                            to_string(graph_));
    }
  }

  void plan_output(std::uint32_t index) {
    Program& program = launches_.program;
    at_ = 0;
    SlotId slot = slot_of(graph_.outputs()[index]);
    if (!may_be_output(slot)) slot = plan_copy(index, slot);
    if (program.slots[slot].kind == Slot::Kind::temporary) {
      program.slots[slot].kind = Slot::Kind::output;
      program.slots[slot].index = index;
    }
    program.outputs.push_back(slot);
  }

  // Whoever runs a region has a place of its own for each output; a body may hand a carry on, once.
  bool may_be_output(SlotId id) const {
    const Program& program = launches_.program;
    if (!carries_) return true;
    const Slot& slot = program.slots[id];
    if (slot.kind == Slot::Kind::temporary) return true;
    const auto& outputs = program.outputs;
    return slot.kind == Slot::Kind::input && slot.index < *carries_ &&
           std::find(outputs.begin(), outputs.end(), id) == outputs.end();
  }

  SlotId plan_copy(std::uint32_t output, SlotId from) {
    const Type type = graph_.type(graph_.outputs()[output]);
    Launch launch;
    launch.kind = Launch::Kind::library;
    launch.name = prefix_ + "copy" + std::to_string(output);
    launch.buffers = {from, add_slot(Slot::Kind::temporary, 0, type, graph_.outputs()[output],
                                     ".copy" + std::to_string(output))};
    launch.writes = {launch.buffers[1]};
    add(std::move(launch), WholeCopy{static_cast<std::int64_t>(type.bytes())});
    return launches_.program.launches.back().writes[0];
  }

  void add(Launch launch, decltype(Launches::work)::value_type work) {
    launches_.program.launches.push_back(std::move(launch));
    launches_.work.push_back(std::move(work));
  }

  void plan_transfer(std::uint32_t index, const Node& node) {
    Launch launch;
    launch.kind = Launch::Kind::copy;
    launch.name = prefix_ + "transfer" + std::to_string(numbers_[index]);
    launch.location = node.location;
    launch.buffers = {slot_of(node.inputs[0])};
    launch.writes = add_results(index, node);
    launch.buffers.push_back(launch.writes[0]);
    add(std::move(launch), WholeCopy{static_cast<std::int64_t>(node.types[0].bytes())});
  }

  void plan_custom_call(std::uint32_t index, const Node& node) {
    const auto& attributes = node.as<CustomCallAttributes>();
    UserCall call{attributes.name, attributes.function, {}, node.types};
    Launch launch;
    launch.kind = Launch::Kind::library;
    launch.name = prefix_ + call.name + std::to_string(numbers_[index]);
    launch.title = "custom_call " + call.name;
    launch.location = node.location;
    for (Value input : node.inputs) {
      call.operands.push_back(graph_.type(input));
      launch.buffers.push_back(slot_of(input));
    }
    launch.writes = add_results(index, node);
    launch.buffers.insert(launch.buffers.end(), launch.writes.begin(), launch.writes.end());
    add(std::move(launch), std::move(call));
  }

  void plan_control(std::uint32_t index, const Node& node) {
    const bool loops = node.op == Op::while_;
    Launch launch;
    launch.kind = loops ? Launch::Kind::loop : Launch::Kind::branch;
    launch.name = prefix_ + (loops ? "while" : "case") + std::to_string(numbers_[index]);
    launch.location = node.location;
    for (Value input : node.inputs) launch.buffers.push_back(slot_of(input));
    launch.writes = add_results(index, node);
    launch.buffers.insert(launch.buffers.end(), launch.writes.begin(), launch.writes.end());
    ControlFlow flow;
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      std::string name = launch.name + ".branch" + std::to_string(i);
      if (loops) name = launch.name + (i == 0 ? ".condition" : ".body");
      const auto carries = static_cast<std::uint32_t>(loops && i == 1 ? node.types.size() : 0);
      flow.regions.push_back(Planner(node.regions[i], devices_.subspan(at_, 1), {}, options_,
                                     kernels_, name + ".", carries)
                                 .run());
      flow.regions.back().program.name = std::move(name);
    }
    add(std::move(launch), std::move(flow));
  }

  std::vector<SlotId> add_results(std::uint32_t index, const Node& node) {
    std::vector<SlotId> outputs;
    for (std::uint32_t i = 0; i < node.types.size(); ++i) {
      Value value{index, i};
      outputs.push_back(add_slot(Slot::Kind::temporary, 0, node.types[i], value));
      slots_[value] = outputs.back();
    }
    return outputs;
  }

  SlotId add_slot(Slot::Kind kind, std::uint32_t index, const Type& type, Value value,
                  const std::string& suffix = "") {
    launches_.program.slots.push_back({kind, index, 0, type, text_of(value) + suffix, at_});
    return static_cast<SlotId>(launches_.program.slots.size() - 1);
  }

  // As the graph's text calls it.
  std::string text_of(Value value) const {
    return "%" + std::to_string(numbers_[value.node] + value.result);
  }

  SlotId slot_of(Value value) {
    if (auto known = slots_.find(value); known != slots_.end()) return known->second;
    if (auto known = constants_.find({value, at_}); known != constants_.end()) return known->second;
    const Node& node = graph_.node(value);
    if (node.op != Op::constant) {
      throw InternalError("launches", text_of(value) + " is read before it is there",
                          to_string(graph_));
    }
    auto& constants = launches_.program.constants;
    constants.push_back(constant_on(devices_[at_], node.as<ConstantAttributes>().value));
    SlotId slot = add_slot(Slot::Kind::constant, static_cast<std::uint32_t>(constants.size() - 1),
                           node.types[0], value);
    constants_.emplace(std::pair(value, at_), slot);
    return slot;
  }

  void plan_fusion(std::uint32_t index, const Node& node) {
    std::vector<SlotId> inputs;
    for (Value input : node.inputs) inputs.push_back(slot_of(input));
    const std::vector<SlotId> outputs = add_results(index, node);
    const DeviceKind kind = devices_[at_].kind();
    auto split = split_dot_epilogue(node, kind);
    if (split && kind == DeviceKind::cuda) {
      plan_gpu_dot(index, node, *split, inputs, outputs);
    } else if (split) {
      plan_dot(index, node, *split, inputs, outputs);
    } else {
      plan_kernels(index, node, "kernel", inputs, outputs);
    }
  }

  // `fusion` is node `index` or a part of it, and `name` what its kernels are called.
  void plan_kernels(std::uint32_t index, const Node& fusion, const std::string& name,
                    const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    Lowered lowered = lower(fusion, {}, prefix_ + name + std::to_string(numbers_[index]));
    std::vector<SlotId> temporaries;
    for (std::size_t i = 0; i < lowered.temporaries.size(); ++i) {
      temporaries.push_back(add_slot(Slot::Kind::temporary, 0, lowered.temporaries[i], {index, 0},
                                     ".partial" + std::to_string(i)));
    }
    for (KernelCall& call : lowered.calls) {
      Launch launch;
      launch.name = call.kernel.name;
      launch.location = graph_.node(index).location;
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const KernelArgument& argument = call.arguments[i];
        const std::vector<SlotId>& among = argument.kind == KernelArgument::Kind::input ? inputs
                                           : argument.kind == KernelArgument::Kind::output
                                               ? outputs
                                               : temporaries;
        launch.buffers.push_back(among.at(argument.index));
        if (call.kernel.buffers[i].access == Access::write) {
          launch.writes.push_back(launch.buffers.back());
        }
      }
      for (auto [read, written] : in_place_buffers(call.kernel)) {
        if (!is_given_once(launch, launch.buffers[read])) continue;
        launch.in_place.emplace_back(launch.buffers[read], launch.buffers[written]);
      }
      if (auto whole = updated_parameter(fusion.regions[0])) {
        launch.updates.emplace_back(inputs[*whole], outputs[0]);
        launch.in_place = launch.updates;
      }
      launch.kernel = static_cast<std::uint32_t>(kernels_.size());
      add(std::move(launch), OneKernel{});
      kernels_.push_back(std::move(call.kernel));
    }
  }

  // The epilogue's buffers follow lhs in the launch's, its first one being the dot's result.
  void find_in_place(Launch& launch, const Kernel& epilogue, LibraryDot& dot) {
    for (auto [read, written] : in_place_buffers(epilogue)) {
      const SlotId from = launch.buffers[read + 1], to = launch.buffers[written + 1];
      if (read == 0 || !is_given_once(launch, from)) continue;
      if (dot.in_place && to == launch.writes[0]) {
        // Where the dot's result lies in the first output, that cannot lie over `from`. To update
        // an input that the caller gives away (w - dot(x, y)) is worth more.
        if (launches_.program.slots[from].kind != Slot::Kind::input) continue;
        dot.in_place = false;
      }
      launch.in_place.emplace_back(from, to);
    }
  }

  static bool is_given_once(const Launch& launch, SlotId slot) {
    return std::count(launch.buffers.begin(), launch.buffers.end(), slot) == 1;
  }

  void plan_dot(std::uint32_t index, const Node& node, DotSplit& split,
                const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    Launch launch;
    launch.kind = Launch::Kind::library;
    launch.name = prefix_ + "dot" + std::to_string(numbers_[index]);
    launch.location = node.location;
    launch.buffers = {inputs.at(split.lhs), inputs.at(split.rhs)};
    for (std::size_t extra : split.extra_inputs) launch.buffers.push_back(inputs.at(extra));
    launch.buffers.insert(launch.buffers.end(), outputs.begin(), outputs.end());
    launch.writes = outputs;
    if (split.epilogue) {
      launch.kernel = static_cast<std::uint32_t>(kernels_.size());
      kernels_.push_back(epilogue_kernel(*split.epilogue, launch.name + "_epilogue"));
      find_in_place(launch, kernels_.back(), split.dot);
    }
    add(std::move(launch), std::move(split.dot));
  }

  void plan_gpu_dot(std::uint32_t index, const Node& node, const DotSplit& split,
                    const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    auto parts = cuda::dot_parts(split, options_, devices_[at_].index());
    if (!parts) return plan_kernels(index, node, "kernel", inputs, outputs);
    Launch launch;
    launch.kind = Launch::Kind::library;
    launch.name = prefix_ + "dot" + std::to_string(numbers_[index]);
    launch.location = node.location;
    launch.buffers = {
        parts->lhs_layout ? plan_part(index, *parts->lhs_layout, "lhs", inputs.at(split.lhs))
                          : inputs.at(split.lhs),
        parts->rhs_layout ? plan_part(index, *parts->rhs_layout, "rhs", inputs.at(split.rhs))
                          : inputs.at(split.rhs)};
    if (parts->bias) launch.buffers.push_back(inputs.at(split.extra_inputs.at(*parts->bias)));
    const SlotId result =
        parts->needs_epilogue ? add_part(index, parts->dot.result, "dot") : outputs[0];
    launch.writes = {result};
    if (parts->workspace_bytes > 0) {
      const Type workspace{u8, Shape{parts->workspace_bytes}};
      launch.writes.push_back(add_part(index, workspace, "workspace"));
    }
    launch.buffers.insert(launch.buffers.end(), launch.writes.begin(), launch.writes.end());
    add(std::move(launch), std::move(parts->dot));
    if (!parts->needs_epilogue) return;
    std::vector<SlotId> read = {result};
    for (std::size_t extra : split.extra_inputs) read.push_back(inputs.at(extra));
    plan_kernels(index, *split.epilogue, "epilogue", read, outputs);
  }

  // The temporary that `fusion` makes of `from`.
  SlotId plan_part(std::uint32_t index, const Node& fusion, const std::string& name, SlotId from) {
    const SlotId to = add_part(index, fusion.types[0], name);
    plan_kernels(index, fusion, name, {from}, {to});
    return to;
  }

  SlotId add_part(std::uint32_t index, const Type& type, const std::string& name) {
    return add_slot(Slot::Kind::temporary, 0, type, {index, 0}, "." + name);
  }

  const Graph& graph_;
  const std::span<const Device> devices_;
  const std::vector<DeviceIndex> place_;
  const Options& options_;
  std::vector<Kernel>& kernels_;
  const std::string prefix_;
  const std::optional<std::uint32_t> carries_;
  const std::vector<std::uint32_t> numbers_;  // of each node's first result in the text
  Launches launches_;
  DeviceIndex at_ = 0;  // of the node at hand
  std::map<Value, SlotId> slots_;
  std::map<std::pair<Value, DeviceIndex>, SlotId> constants_;
};

}  // namespace

Launches plan_launches(const PlacedGraph& placed, std::span<const Device> devices,
                       const Options& options, std::vector<Kernel>& kernels) {
  std::vector<DeviceIndex> place(placed.devices.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto found = std::find(devices.begin(), devices.end(), placed.devices[i]);
    place[i] = found == devices.end() ? 0 : static_cast<DeviceIndex>(found - devices.begin());
  }
  Launches launches = Planner(placed.graph, devices, std::move(place), options, kernels).run();
  launches.program.name = placed.graph.name();
  launches.program.further.assign(devices.begin() + 1, devices.end());
  return launches;
}

}  // namespace anabranch
