#include "codegen/launches.h"

#include <algorithm>
#include <map>

#include "codegen/cpu/dot.h"
#include "codegen/dot_epilogue.h"
#include "codegen/in_place.h"
#include "codegen/lower.h"
#include "ir/error.h"
#include "ir/print.h"

namespace anabranch {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const Device& device)
      : graph_(graph), device_(device), numbers_(value_numbers(graph)) {}

  Launches run() {
    Program& program = launches_.program;
    program.name = graph_.name();
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) plan(i);
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      SlotId slot = slot_of(graph_.outputs()[i]);
      if (program.slots[slot].kind == Slot::Kind::temporary) {
        program.slots[slot].kind = Slot::Kind::output;
        program.slots[slot].index = i;
      }
      program.outputs.push_back(slot);
    }
    return std::move(launches_);
  }

 private:
  void plan(std::uint32_t index) {
    const Node& node = graph_.node(index);
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
      default:
        throw InternalError("launches", std::string(name(node.op)) + " outside a fusion",
                            to_string(graph_));
    }
  }

  SlotId add_slot(Slot::Kind kind, std::uint32_t index, const Type& type, Value value,
                  const std::string& suffix = "") {
    launches_.program.slots.push_back({kind, index, 0, type, text_of(value) + suffix});
    return static_cast<SlotId>(launches_.program.slots.size() - 1);
  }

  // As the graph's text calls it.
  std::string text_of(Value value) const {
    return "%" + std::to_string(numbers_[value.node] + value.result);
  }

  SlotId slot_of(Value value) {
    if (auto known = slots_.find(value); known != slots_.end()) return known->second;
    const Node& node = graph_.node(value);
    if (node.op != Op::constant) {
      throw InternalError("launches", text_of(value) + " is read before it is there",
                          to_string(graph_));
    }
    auto& constants = launches_.program.constants;
    constants.push_back(Buffer::copy_of(device_, node.as<ConstantAttributes>().value.bytes()));
    SlotId slot = add_slot(Slot::Kind::constant, static_cast<std::uint32_t>(constants.size() - 1),
                           node.types[0], value);
    slots_.emplace(value, slot);
    return slot;
  }

  void plan_fusion(std::uint32_t index, const Node& node) {
    std::vector<SlotId> inputs, outputs;
    for (Value input : node.inputs) inputs.push_back(slot_of(input));
    for (std::uint32_t i = 0; i < node.types.size(); ++i) {
      Value value{index, i};
      outputs.push_back(add_slot(Slot::Kind::temporary, 0, node.types[i], value));
      slots_[value] = outputs.back();
    }
    if (auto split = split_dot_epilogue(node)) {
      plan_dot(index, node, *split, inputs, outputs);
    } else {
      plan_kernels(index, node, inputs, outputs);
    }
  }

  void plan_kernels(std::uint32_t index, const Node& node, const std::vector<SlotId>& inputs,
                    const std::vector<SlotId>& outputs) {
    std::vector<Type> operands;
    for (Value input : node.inputs) operands.push_back(graph_.type(input));
    Lowered lowered = lower(node, operands, "kernel" + std::to_string(numbers_[index]));
    std::vector<SlotId> temporaries;
    for (std::size_t i = 0; i < lowered.temporaries.size(); ++i) {
      temporaries.push_back(add_slot(Slot::Kind::temporary, 0, lowered.temporaries[i], {index, 0},
                                     ".partial" + std::to_string(i)));
    }
    for (KernelCall& call : lowered.calls) {
      Launch launch;
      launch.name = call.kernel.name;
      launch.location = node.location;
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
        launch.in_place.emplace_back(launch.buffers[read], launch.buffers[written]);
      }
      launches_.program.launches.push_back(std::move(launch));
      launches_.work.push_back(OneKernel{launches_.kernels.size()});
      launches_.kernels.push_back(std::move(call.kernel));
    }
  }

  void plan_dot(std::uint32_t index, const Node& node, DotSplit& split,
                const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    Launch launch;
    launch.kind = Launch::Kind::library;
    launch.name = "dot" + std::to_string(numbers_[index]);
    launch.location = node.location;
    launch.buffers = {inputs.at(split.lhs), inputs.at(split.rhs)};
    for (std::size_t extra : split.extra_inputs) launch.buffers.push_back(inputs.at(extra));
    launch.buffers.insert(launch.buffers.end(), outputs.begin(), outputs.end());
    launch.writes = outputs;
    if (split.epilogue) {
      split.dot.epilogue = launches_.kernels.size();
      launches_.kernels.push_back(epilogue_kernel(*split.epilogue, launch.name + "_epilogue"));
    }
    launches_.program.launches.push_back(std::move(launch));
    launches_.work.push_back(std::move(split.dot));
  }

  const Graph& graph_;
  const Device& device_;
  const std::vector<std::uint32_t> numbers_;  // of each node's first result in the text
  Launches launches_;
  std::map<Value, SlotId> slots_;
};

}  // namespace

Launches plan_launches(const Graph& graph, const Device& device) {
  return Planner(graph, device).run();
}

}  // namespace anabranch
