// What a compilation says about itself: its stages as text, its cost, its memory.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/compile.h"
#include "codegen/plan/plan.h"
#include "codegen/program_passes.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

std::string optimized_text(const Compilation& compilation) {
  std::string text = to_string(compilation.optimized);
  for (const std::string& note : compilation.notes) text += "# " + note + "\n";
  return text;
}

/// A step, and the program whose slots it touches.
struct PlacedStep {
  const Program& program;
  const Step& step;
};

// In the order of the streams; those inside loops and branches each after the step that they are
// part of.
void add_steps(const Program& program, std::vector<PlacedStep>& steps) {
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      const Step* step = step_of(program, command);
      if (!step) continue;
      steps.push_back({program, *step});
      for (const Program& inner : inner_programs(*step)) add_steps(inner, steps);
    }
  }
}

std::vector<PlacedStep> steps_of(const Program& program) {
  std::vector<PlacedStep> steps;
  add_steps(program, steps);
  return steps;
}

// "# dot3 reads %0, %1 and writes %3": the values of the optimized graph that a step touches.
std::string caption(const Program& program, const Step& step) {
  std::string reads, writes;
  for (SlotId slot : step.buffers) {
    const bool written =
        std::find(step.writes.begin(), step.writes.end(), slot) != step.writes.end();
    std::string& list = written ? writes : reads;
    list += (list.empty() ? "" : ", ") + program.slots[slot].name + ": " +
            to_string(program.slots[slot].type);
  }
  std::string text = "# " + step.name;
  if (!reads.empty()) text += " reads " + reads + " and";
  return text + " writes " + writes + "\n";
}

// Every step by what it reads and writes, above the kernel that it runs. A library call has a
// kernel only where more is computed on its result.
std::string kernels_text(const Program& program) {
  std::string text;
  for (const auto& [inside, step] : steps_of(program)) {
    if (!text.empty()) text += "\n";
    text += caption(inside, step);
    if (const auto kernel = kernel_of(step)) text += to_string(program.kernels[*kernel]);
  }
  return text;
}

// Of each backend that the program has a device of.
std::string code_text(const Executable& executable, Stage stage) {
  std::string text;
  std::set<const Backend*> done;
  for (const ProgramDevice& place : executable.program.devices) {
    const Backend& backend = backend_of(place.device);
    if (!done.insert(&backend).second) continue;
    text += backend.dump(executable.program, *executable.code, stage);
  }
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// A line per temporary in the order of the arena, then the sums.
std::string memory_text(const Compilation& compilation, const Program& program) {
  std::vector<Slot> temporaries;
  for (const Slot& slot : program.slots) {
    if (slot.kind == Slot::Kind::temporary) temporaries.push_back(slot);
  }
  std::stable_sort(temporaries.begin(), temporaries.end(),
                   [](const Slot& a, const Slot& b) { return a.offset < b.offset; });
  std::string text = "    offset       bytes  value\n";
  for (const Slot& slot : temporaries) {
    const std::string place =
        slot.output ? fmt::format("output {}", *slot.output) : std::to_string(slot.offset);
    text += padded(place, 10) + "  " + padded(std::to_string(slot.type.bytes()), 10) + "  " +
            slot.name + ": " + to_string(slot.type) + "\n";
  }
  const ProgramMemory sums = memory(compilation);
  const double ratio = sums.lower_bound == 0 ? 1.0
                                             : static_cast<double>(sums.temporaries) /
                                                   static_cast<double>(sums.lower_bound);
  text += fmt::format("inputs {}, outputs {}, constants {}, temporaries {} bytes\n", sums.inputs,
                      sums.outputs, sums.constants, sums.temporaries);
  text += fmt::format("temporaries live at once: {} bytes, {:.3f} of them taken\n",
                      sums.lower_bound, ratio);
  for (auto [input, output] : program.donations) {
    text += fmt::format("output {} lies where input {} was, if that is donated\n", output, input);
  }
  if (!program.degradation.empty()) text += "memory limit: " + program.degradation + "\n";
  return text;
}

// What a GPU would run of a program that is compiled for other devices.
std::string text_for_gpu(const Compilation& compilation) {
  const Device gpu = Device::cuda();
  Options options = compilation.options;
  PassContext passes{.fast_math = options.fast_math};
  passes.takes = [&](const ConvolutionStep& step) { return backend_of(gpu).takes(step); };
  passes.follows_rows = [&] { return backend_of(gpu).follows_rows(); };
  Graph graph = optimize(compilation.traced, options, passes, {.disabled = options.disabled}).graph;
  options.device = gpu;
  options.memory_limit = 0;
  const std::size_t nodes = graph.nodes().size();
  Program program = plan({std::move(graph), std::vector<Device>(nodes, gpu)}, {&gpu, 1}, options);
  ProgramContext context{.options = options};
  program = run_passes(program_passes(), std::move(program), context);
  return backend_of(gpu).dump(program, {}, Stage::cuda);
}

}  // namespace

std::string dump(const Compilation& compilation, Stage stage) {
  const Runnable now = current(compilation);
  const Executable& executable = *now.executable;
  switch (stage) {
    case Stage::trace:
      return to_string(compilation.traced);
    case Stage::optimized:
      return optimized_text(compilation);
    case Stage::kernels:
      return kernels_text(executable.program);
    case Stage::llvm:
    case Stage::assembly:
      return code_text(executable, stage);
    case Stage::schedule:
      return to_string(executable.program, ProgramText::outline());
    case Stage::memory:
      return memory_text(compilation, executable.program);
    case Stage::cuda: {
      const std::string text = code_text(executable, stage);
      return text.empty() ? text_for_gpu(compilation) : text;
    }
  }
  throw InternalError("dump", "a stage that does not exist");
}

ProgramCost cost(const Compilation& compilation) {
  const Runnable now = current(compilation);
  const Program& program = now.executable->program;
  ProgramCost sums;
  sums.events = static_cast<int>(program.event_count);
  sums.predicted_ns = program.prediction.ns;
  for (const auto& stream : program.streams) sums.streams += stream.empty() ? 0 : 1;
  for (const auto& [inside, step] : steps_of(program)) {
    if (!inner_programs(step).empty()) continue;
    sums.cost += step.cost;
    ++(std::holds_alternative<KernelStep>(step.work)     ? sums.kernels
       : std::holds_alternative<TransferStep>(step.work) ? sums.copies
                                                         : sums.library_calls);
  }
  return sums;
}

ProgramMemory memory(const Compilation& compilation) {
  const Runnable now = current(compilation);
  const Program& program = now.executable->program;
  ProgramMemory sums;
  for (const Type& type : program.inputs) sums.inputs += type.bytes();
  for (const Slot& slot : program.slots) {
    if (slot.kind == Slot::Kind::output) sums.outputs += slot.type.bytes();
    if (slot.kind == Slot::Kind::constant) sums.constants += slot.type.bytes();
  }
  sums.temporaries = program.arena_bytes();
  sums.lower_bound = program.devices[0].live_bytes;
  for (auto [input, output] : program.donations) sums.donatable += program.inputs[input].bytes();
  return sums;
}

}  // namespace anabranch
