#include "codegen/plan/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/lower/lower.h"
#include "codegen/memory/in_place.h"
#include "codegen/plan/dot_split.h"
#include "ir/plan_fusion.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

bool is_update(const Node& node) {
  if (node.op == Op::scatter) return true;
  return node.op == Op::fusion && !block_updates(node.regions[0]).empty();
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

  Program run(std::string name) {
    program_.name = std::move(name);
    program_.devices.clear();
    for (const Device& device : devices_) program_.devices.push_back({device});
    for (std::uint32_t i : updates_last(graph_)) plan(i);
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) plan_output(i);
    return std::move(program_);
  }

 private:
  void plan(std::uint32_t index) {
    const Node& node = graph_.node(index);
    at_ = place_.empty() ? 0 : place_[index];
    switch (node.op) {
      case Op::parameter: {
        auto position = static_cast<std::uint32_t>(program_.inputs.size());
        program_.inputs.push_back(node.types[0]);
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
      case Op::while_:
        plan_loop(index, node);
        break;
      case Op::case_:
        plan_branch(index, node);
        break;
      default:
        if (is_call(node.op)) return plan_call(index, node);
        throw InternalError("plan", std::string(name(node.op)) + " outside a fusion",
                            to_string(graph_));
    }
  }

  void plan_output(std::uint32_t index) {
    at_ = 0;
    SlotId slot = slot_of(graph_.outputs()[index]);
    if (!may_be_output(slot)) slot = plan_copy(index, slot);
    if (program_.slots[slot].kind == Slot::Kind::temporary) {
      program_.slots[slot].kind = Slot::Kind::output;
      program_.slots[slot].index = index;
    }
    program_.outputs.push_back(slot);
  }

  // Whoever runs a region has a place of its own for each output; a body may hand a carry on, once.
  bool may_be_output(SlotId id) const {
    if (!carries_) return true;
    const Slot& slot = program_.slots[id];
    if (slot.kind == Slot::Kind::temporary) return true;
    const auto& outputs = program_.outputs;
    return slot.kind == Slot::Kind::input && slot.index < *carries_ &&
           std::find(outputs.begin(), outputs.end(), id) == outputs.end();
  }

  SlotId plan_copy(std::uint32_t output, SlotId from) {
    const Type type = graph_.type(graph_.outputs()[output]);
    Step step;
    step.work = CopyStep();
    step.name = prefix_ + "copy" + std::to_string(output);
    step.buffers = {from, add_slot(Slot::Kind::temporary, 0, type, graph_.outputs()[output],
                                   ".copy" + std::to_string(output))};
    step.writes = {step.buffers[1]};
    program_.steps.push_back(std::move(step));
    return program_.steps.back().writes[0];
  }

  Step named(const std::string& what, std::uint32_t index, const Node& node) const {
    Step step;
    step.name = prefix_ + what + std::to_string(numbers_[index]);
    step.location = node.location;
    return step;
  }

  void plan_transfer(std::uint32_t index, const Node& node) {
    Step step = named("transfer", index, node);
    step.work = TransferStep();
    step.buffers = {slot_of(node.inputs[0])};
    add_results(index, node, step);
    program_.steps.push_back(std::move(step));
  }

  void plan_call(std::uint32_t index, const Node& node) {
    CallStep call{node.op, {}, node.attributes};
    const auto* user = std::get_if<CustomCallAttributes>(&node.attributes);
    Step step = named(user ? user->name + "." : std::string(name(node.op)), index, node);
    if (user) step.title = "custom_call " + user->name;
    for (Value input : node.inputs) {
      call.operands.push_back(graph_.type(input));
      step.buffers.push_back(slot_of(input));
    }
    add_results(index, node, step);
    if (node.op == Op::check) guard(step);
    // Each element is read before it is written, by the same thread.
    if (node.op == Op::scatter && is_given_once(step, step.buffers[0])) {
      step.in_place.emplace_back(step.buffers[0], step.writes[0]);
      // A carry is updated where it is, and costs no copy.
      const Slot& array = program_.slots[step.buffers[0]];
      const bool is_carry = carries_ && array.kind == Slot::Kind::input && array.index < *carries_;
      if (is_carry) step.in_place_updates = step.in_place;
    }
    step.work = std::move(call);
    program_.steps.push_back(std::move(step));
  }

  // What is guarded stays where it is. The message says where the check was written.
  static void guard(Step& step) {
    step.title = "check failed";
    step.location = {};
    for (std::size_t i = 0; i < step.writes.size(); ++i) {
      const SlotId from = step.buffers[1 + i];
      if (is_given_once(step, from)) step.in_place.emplace_back(from, step.writes[i]);
    }
  }

  void plan_loop(std::uint32_t index, const Node& node) {
    Step step = named("while", index, node);
    const auto carries = static_cast<std::uint32_t>(node.types.size());
    LoopStep loop;
    for (Value input : node.inputs) step.buffers.push_back(slot_of(input));
    add_results(index, node, step);
    loop.regions.push_back(plan_region(node.regions[0], step.name + ".condition", 0));
    loop.regions.push_back(plan_region(node.regions[1], step.name + ".body", carries));
    step.work = std::move(loop);
    program_.steps.push_back(std::move(step));
  }

  void plan_branch(std::uint32_t index, const Node& node) {
    Step step = named("case", index, node);
    BranchStep branch;
    for (Value input : node.inputs) step.buffers.push_back(slot_of(input));
    add_results(index, node, step);
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      const std::string name = step.name + ".branch" + std::to_string(i);
      branch.branches.push_back(plan_region(node.regions[i], name, 0));
    }
    step.work = std::move(branch);
    program_.steps.push_back(std::move(step));
  }

  Program plan_region(const Graph& region, const std::string& name, std::uint32_t carries) {
    return Planner(region, devices_.subspan(at_, 1), {}, options_, kernels_, name + ".", carries)
        .run(name);
  }

  // As what `step` writes, last among its buffers.
  void add_results(std::uint32_t index, const Node& node, Step& step) {
    step.writes = add_results(index, node);
    step.buffers.insert(step.buffers.end(), step.writes.begin(), step.writes.end());
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
    program_.slots.push_back({kind, index, Slot::unplaced, type, text_of(value) + suffix, at_});
    return static_cast<SlotId>(program_.slots.size() - 1);
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
      throw InternalError("plan", text_of(value) + " is read before it is there",
                          to_string(graph_));
    }
    auto& constants = program_.constants;
    constants.push_back(node.as<ConstantAttributes>().value);
    SlotId slot = add_slot(Slot::Kind::constant, static_cast<std::uint32_t>(constants.size() - 1),
                           node.types[0], value, at_ == 0 ? "" : ".on" + std::to_string(at_));
    constants_.emplace(std::pair(value, at_), slot);
    return slot;
  }

  void plan_fusion(std::uint32_t index, const Node& node) {
    std::vector<SlotId> inputs;
    for (Value input : node.inputs) inputs.push_back(slot_of(input));
    const std::vector<SlotId> outputs = add_results(index, node);
    const std::optional<DotSplit> split = split_dot(node);
    const Device& device = devices_[at_];
    if (split && std::holds_alternative<ConvolutionStep>(split->product)) {
      return plan_convolution(index, node, *split, inputs, outputs);
    }
    std::optional<DotPlan> dot;
    if (split) dot = backend_of(device).plan_dot(*split, device, options_);
    if (dot) {
      plan_dot(index, node, *split, std::move(*dot), inputs, outputs);
    } else {
      plan_kernels(index, node, "kernel", inputs, outputs);
    }
  }

  // `fusion` is node `index` or a part of it, and `name` what its kernels are called.
  void plan_kernels(std::uint32_t index, const Node& fusion, const std::string& name,
                    const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    Lowered lowered = lower(fusion, {}, prefix_ + name + std::to_string(numbers_[index]),
                            backend_of(devices_[at_]).lower_target());
    std::vector<SlotId> temporaries;
    for (std::size_t i = 0; i < lowered.temporaries.size(); ++i) {
      temporaries.push_back(add_slot(Slot::Kind::temporary, 0, lowered.temporaries[i], {index, 0},
                                     "." + name + ".partial" + std::to_string(i)));
    }
    const std::vector<SlotId> given = with_own_arrays(index, inputs, lowered.updates);
    for (KernelCall& call : lowered.calls) {
      Step step;
      step.name = call.kernel.name;
      step.location = graph_.node(index).location;
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const KernelArgument& argument = call.arguments[i];
        const std::vector<SlotId>& among = argument.kind == KernelArgument::Kind::input ? given
                                           : argument.kind == KernelArgument::Kind::output
                                               ? outputs
                                               : temporaries;
        step.buffers.push_back(among.at(argument.index));
        if (call.kernel.buffers[i].access == Access::write) {
          step.writes.push_back(step.buffers.back());
        }
      }
      for (const BlockUpdate& update : lowered.updates) {
        step.in_place_updates.emplace_back(given[update.array], outputs[update.output]);
      }
      step.in_place = step.in_place_updates;
      for (auto [read, written] : in_place_buffers(call.kernel)) {
        const SlotId from = step.buffers[read], to = step.buffers[written];
        const bool is_update = std::ranges::any_of(
            step.in_place_updates, [&](const auto& pair) { return pair.second == to; });
        if (is_given_once(step, from) && !is_update) step.in_place.emplace_back(from, to);
      }
      step.work = KernelStep{add_kernel(std::move(call.kernel))};
      program_.steps.push_back(std::move(step));
    }
  }

  // `inputs` with copies of what is updated and read under another shape, as it was.
  std::vector<SlotId> with_own_arrays(std::uint32_t index, std::vector<SlotId> inputs,
                                      const std::vector<BlockUpdate>& updates) {
    for (const BlockUpdate& update : updates) {
      SlotId& array = inputs[update.array];
      if (std::ranges::count(inputs, array) == 1) continue;
      const std::string part = "array" + std::to_string(update.array);
      Step step;
      step.work = CopyStep();
      step.name = prefix_ + "copy" + std::to_string(numbers_[index]) + "." + part;
      step.buffers = {array, add_part(index, program_.slots[array].type, part)};
      step.writes = {step.buffers[1]};
      array = step.buffers[1];
      program_.steps.push_back(std::move(step));
    }
    return inputs;
  }

  std::uint32_t add_kernel(Kernel kernel) {
    kernels_.push_back(std::move(kernel));
    return static_cast<std::uint32_t>(kernels_.size() - 1);
  }

  // The epilogue's buffers follow lhs in the step's, its first one being the dot's result.
  void find_in_place(Step& step, const Kernel& epilogue, bool& dot_in_place) {
    for (auto [read, written] : in_place_buffers(epilogue)) {
      const SlotId from = step.buffers[read + 1], to = step.buffers[written + 1];
      if (read == 0 || !is_given_once(step, from)) continue;
      if (dot_in_place && to == step.writes[0]) {
        // Where the dot's result is in the first output, that cannot be over `from`. To update
        // an input that the caller gives away (w - dot(x, y)) is worth more.
        if (program_.slots[from].kind != Slot::Kind::input) continue;
        dot_in_place = false;
      }
      step.in_place.emplace_back(from, to);
    }
  }

  static bool is_given_once(const Step& step, SlotId slot) {
    return std::count(step.buffers.begin(), step.buffers.end(), slot) == 1;
  }

  void plan_dot(std::uint32_t index, const Node& node, const DotSplit& split, DotPlan dot,
                const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    Step step = named("dot", index, node);
    step.buffers = {dot.lhs_layout ? plan_part(index, *dot.lhs_layout, "lhs", inputs.at(split.lhs))
                                   : inputs.at(split.lhs),
                    dot.rhs_layout ? plan_part(index, *dot.rhs_layout, "rhs", inputs.at(split.rhs))
                                   : inputs.at(split.rhs)};
    if (dot.bias) step.buffers.push_back(inputs.at(split.extra_inputs.at(*dot.bias)));
    std::vector<SlotId> extra = extra_inputs(split, inputs);
    const bool is_inside = dot.epilogue == DotPlan::Epilogue::inside;
    const bool is_after = dot.epilogue == DotPlan::Epilogue::after;
    if (is_inside) step.buffers.insert(step.buffers.end(), extra.begin(), extra.end());
    step.writes = is_after ? std::vector{add_part(index, dot.dot.result, "dot")} : outputs;
    if (dot.workspace_bytes > 0) {
      const Type workspace{u8, Shape{dot.workspace_bytes}};
      step.writes.push_back(add_part(index, workspace, "workspace"));
    }
    step.buffers.insert(step.buffers.end(), step.writes.begin(), step.writes.end());
    if (is_inside) add_epilogue(step, split, dot.dot.epilogue.value());
    const SlotId result = step.writes[0];
    step.work = std::move(dot.dot);
    program_.steps.push_back(std::move(step));
    if (is_after) plan_epilogue(index, split, result, std::move(extra), outputs);
  }

  // Kernels of their own, on what is computed at `result`.
  void plan_epilogue(std::uint32_t index, const DotSplit& split, SlotId result,
                     std::vector<SlotId> extra, const std::vector<SlotId>& outputs) {
    extra.insert(extra.begin(), result);
    plan_kernels(index, *split.epilogue, "epilogue", extra, outputs);
  }

  static std::vector<SlotId> extra_inputs(const DotSplit& split,
                                          const std::vector<SlotId>& inputs) {
    std::vector<SlotId> extra;
    for (std::size_t input : split.extra_inputs) extra.push_back(inputs.at(input));
    return extra;
  }

  void add_epilogue(Step& step, const DotSplit& split, DotStep::Epilogue& epilogue) {
    epilogue.kernel = add_kernel(epilogue_kernel(*split.epilogue, step.name + "_epilogue"));
    find_in_place(step, kernels_.back(), epilogue.in_place);
  }

  void plan_convolution(std::uint32_t index, const Node& node, const DotSplit& split,
                        const std::vector<SlotId>& inputs, const std::vector<SlotId>& outputs) {
    auto convolution = std::get<ConvolutionStep>(split.product);
    const Backend& backend = backend_of(devices_[at_]);
    if (!backend.takes(convolution)) {
      throw InternalError(
          "plan",
          "no library of " + to_string(devices_[at_]) + " computes what the pass expand has left",
          to_string(graph_));
    }
    Step step = named("convolution", index, node);
    step.buffers = {inputs.at(split.lhs), inputs.at(split.rhs)};
    std::vector<SlotId> extra = extra_inputs(split, inputs);
    const bool is_inside = split.epilogue && backend.runs_epilogue(convolution);
    const bool is_after = split.epilogue && !is_inside;
    if (is_inside) step.buffers.insert(step.buffers.end(), extra.begin(), extra.end());
    step.writes =
        is_after ? std::vector{add_part(index, convolution.result, "convolution")} : outputs;
    step.buffers.insert(step.buffers.end(), step.writes.begin(), step.writes.end());
    if (is_inside) {
      convolution.epilogue = {0, extra.size(), outputs.size(),
                              reads_in_place(split.epilogue->regions[0])};
      add_epilogue(step, split, *convolution.epilogue);
    }
    const SlotId result = step.writes[0];
    step.work = std::move(convolution);
    program_.steps.push_back(std::move(step));
    if (is_after) plan_epilogue(index, split, result, std::move(extra), outputs);
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
  Program program_;
  DeviceIndex at_ = 0;  // of the node at hand
  std::map<Value, SlotId> slots_;
  std::map<std::pair<Value, DeviceIndex>, SlotId> constants_;
};

}  // namespace

Program plan(const PlacedGraph& placed, std::span<const Device> devices, const Options& options) {
  std::vector<DeviceIndex> place(placed.devices.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto found = std::find(devices.begin(), devices.end(), placed.devices[i]);
    place[i] = found == devices.end() ? 0 : static_cast<DeviceIndex>(found - devices.begin());
  }
  std::vector<Kernel> kernels;
  Program program =
      Planner(placed.graph, devices, std::move(place), options, kernels).run(placed.graph.name());
  program.kernels = std::move(kernels);
  return program;
}

}  // namespace anabranch
