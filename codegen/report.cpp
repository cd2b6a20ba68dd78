// What a compilation says about itself: its stages as text, its cost, its memory.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/compile.h"
#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/native_flow.h"
#include "codegen/cuda/emit/program_text.h"
#include "codegen/plan/launches.h"
#include "ir/error.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

std::string optimized_text(const Compilation& compilation) {
  std::string text = to_string(compilation.optimized);
  for (const std::string& note : compilation.notes) text += "# " + note + "\n";
  return text;
}

/// A launch, and the executable whose slots it touches.
struct PlacedLaunch {
  const Executable& executable;
  const Launch& launch;
};

// Those inside loops and branches too, each after the launch that it is part of.
void add_launches(const Executable& executable, std::vector<PlacedLaunch>& launches) {
  for (const auto& stream : executable.streams) {
    for (const Step& step : stream) {
      const auto* launch = std::get_if<Launch>(&step);
      if (!launch) continue;
      launches.push_back({executable, *launch});
      for (const auto& inner : inner_executables(*launch)) add_launches(*inner, launches);
    }
  }
}

std::vector<PlacedLaunch> launches_of(const Executable& executable) {
  std::vector<PlacedLaunch> launches;
  add_launches(executable, launches);
  return launches;
}

// "# dot3 reads %0, %1 and writes %3": the values of the optimized graph that a launch touches.
std::string caption(const Executable& executable, const Launch& launch) {
  std::string reads, writes;
  for (SlotId slot : launch.buffers) {
    bool written =
        std::find(launch.writes.begin(), launch.writes.end(), slot) != launch.writes.end();
    std::string& list = written ? writes : reads;
    list += (list.empty() ? "" : ", ") + executable.slots[slot].name + ": " +
            to_string(executable.slots[slot].type);
  }
  std::string text = "# " + launch.name;
  if (!reads.empty()) text += " reads " + reads + " and";
  return text + " writes " + writes + "\n";
}

// Every launch by what it reads and writes, above the kernel that it runs. A library call has a
// kernel only where more is computed on its result.
std::string kernels_text(const Compilation& compilation) {
  const std::shared_ptr<const Executable> current = current_executable(compilation);
  const Executable& executable = *current;
  std::string text;
  for (const auto& [inside, launch] : launches_of(executable)) {
    if (!text.empty()) text += "\n";
    text += caption(inside, launch);
    if (launch.kernel) text += to_string(compilation.kernels[*launch.kernel]);
  }
  return text;
}

// The kernels' module, then one for each loop and each branch that is a function of its own.
std::string code_text(const Compilation& compilation,
                      std::string (*text_of_kernels)(std::span<const Kernel>),
                      std::string (*text_of_flow)(const Launch&, std::span<const Kernel>)) {
  std::string text = text_of_kernels(compilation.kernels);
  const std::shared_ptr<const Executable> executable = current_executable(compilation);
  for (const auto& [inside, launch] : launches_of(*executable)) {
    const std::string flow = text_of_flow(launch, compilation.kernels);
    if (!flow.empty()) text += "\n" + flow;
  }
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// A line per temporary in the order of the arena, then the sums.
std::string memory_text(const Compilation& compilation) {
  const std::shared_ptr<const Executable> executable = current_executable(compilation);
  std::vector<Slot> temporaries;
  for (const Slot& slot : executable->slots) {
    if (slot.kind == Slot::Kind::temporary) temporaries.push_back(slot);
  }
  std::stable_sort(temporaries.begin(), temporaries.end(),
                   [](const Slot& a, const Slot& b) { return a.offset < b.offset; });
  std::string text = "    offset       bytes  value\n";
  for (const Slot& slot : temporaries) {
    text += padded(std::to_string(slot.offset), 10) + "  " +
            padded(std::to_string(slot.type.bytes()), 10) + "  " + slot.name + ": " +
            to_string(slot.type) + "\n";
  }
  const ProgramMemory sums = memory(compilation);
  const double ratio = sums.lower_bound == 0 ? 1.0
                                             : static_cast<double>(sums.temporaries) /
                                                   static_cast<double>(sums.lower_bound);
  text += fmt::format("inputs {}, outputs {}, constants {}, temporaries {} bytes\n", sums.inputs,
                      sums.outputs, sums.constants, sums.temporaries);
  text += fmt::format("temporaries live at once: {} bytes, {:.3f} of them taken\n",
                      sums.lower_bound, ratio);
  for (auto [input, output] : executable->takeovers) {
    text += fmt::format("output {} lies where input {} was, if that is donated\n", output, input);
  }
  if (!executable->given_up.empty()) text += "memory limit: " + executable->given_up + "\n";
  return text;
}

// What a GPU would run, whatever the program was compiled for.
std::string cuda_text(const Compilation& compilation) {
  const Device device = compilation.executable->device;
  const std::size_t nodes = compilation.optimized.nodes().size();
  std::vector<Kernel> kernels;
  Launches launches = plan_launches({compilation.optimized, std::vector<Device>(nodes, device)},
                                    {&device, 1}, {}, kernels);
  return cuda::program_text(std::move(launches), kernels);
}

}  // namespace

std::string dump(const Compilation& compilation, Stage stage) {
  switch (stage) {
    case Stage::trace:
      return to_string(compilation.traced);
    case Stage::optimized:
      return optimized_text(compilation);
    case Stage::kernels:
      return kernels_text(compilation);
    case Stage::llvm:
      return code_text(compilation, cpu::llvm_text, cpu::flow_llvm_text);
    case Stage::assembly:
      return code_text(compilation, cpu::assembly_text, cpu::flow_assembly_text);
    case Stage::schedule:
      return to_string(*current_executable(compilation));
    case Stage::memory:
      return memory_text(compilation);
    case Stage::cuda:
      return cuda_text(compilation);
  }
  throw InternalError("dump", "a stage that does not exist");
}

ProgramCost cost(const Compilation& compilation) {
  const std::shared_ptr<const Executable> current = current_executable(compilation);
  const Executable& executable = *current;
  ProgramCost sums;
  sums.events = static_cast<int>(executable.event_count);
  sums.predicted_ns = executable.prediction.ns;
  for (const auto& stream : executable.streams) sums.streams += stream.empty() ? 0 : 1;
  for (const auto& [inside, launch] : launches_of(executable)) {
    if (!inner_executables(launch).empty()) continue;
    sums.cost += launch.cost;
    ++(launch.kind == Launch::Kind::kernel ? sums.kernels
       : launch.kind == Launch::Kind::copy ? sums.copies
                                           : sums.library_calls);
  }
  return sums;
}

ProgramMemory memory(const Compilation& compilation) {
  const std::shared_ptr<const Executable> current = current_executable(compilation);
  const Executable& executable = *current;
  ProgramMemory sums;
  for (const Type& type : executable.inputs) sums.inputs += type.bytes();
  for (const Slot& slot : executable.slots) {
    if (slot.kind == Slot::Kind::output) sums.outputs += slot.type.bytes();
    if (slot.kind == Slot::Kind::constant) sums.constants += slot.type.bytes();
  }
  sums.temporaries = executable.arena_bytes;
  sums.lower_bound = executable.live_bytes;
  for (auto [input, output] : executable.takeovers)
    sums.donatable += executable.inputs[input].bytes();
  return sums;
}

}  // namespace anabranch
