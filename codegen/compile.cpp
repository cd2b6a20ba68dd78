#include "codegen/compile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "codegen/control_flow.h"
#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/dot.h"
#include "codegen/isolate.h"
#include "codegen/launches.h"
#include "codegen/schedule.h"
#include "codegen/tile.h"
#include "ir/error.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

namespace anabranch {
namespace {

// What oneDNN does on one core, in f32: from 140 for a product of 64 to 240.
constexpr double dot_operations_per_ns = 160;

HostTask task_of(const Kernel& kernel, const cpu::Code& code, std::size_t index) {
  return {code.functions.at(index), code.keep_alive, kernel.extent(), grain(kernel)};
}

// Which kernels are epilogues of dots, in regions too.
void find_epilogues(const Launches& launches, std::vector<char>& is_epilogue) {
  for (const auto& work : launches.work) {
    const auto* dot = std::get_if<LibraryDot>(&work);
    if (dot && dot->epilogue) is_epilogue[*dot->epilogue] = 1;
    const auto* flow = std::get_if<ControlFlow>(&work);
    if (!flow) continue;
    for (const Launches& region : flow->regions) find_epilogues(region, is_epilogue);
  }
}

Cost cost_of(const LibraryDot& dot) {
  Cost cost;
  cost.bytes_read = static_cast<std::int64_t>(dot.lhs.bytes() + dot.rhs.bytes());
  cost.bytes_written = static_cast<std::int64_t>(dot.result.bytes());
  std::int64_t inner = 1;
  for (std::int64_t axis : dot.attributes.lhs_contracting) {
    inner *= dot.lhs.shape[static_cast<int>(axis)];
  }
  cost.operations = 2 * dot.result.size() * inner;
  return cost;
}

double predicted_dot_ns(const Cost& cost) {
  const double memory_ns = predicted_ns({cost.bytes_read, cost.bytes_written, 0});
  return std::max(memory_ns, static_cast<double>(cost.operations) / dot_operations_per_ns);
}

// The launch that fills a temporary in place of an operand of `dot`.
Launch share(cpu::DotTasks::Share share, Launch& dot, std::vector<Slot>& slots) {
  const SlotId operand = dot.buffers[share.operand];
  const auto room = static_cast<SlotId>(slots.size());
  const std::string name = slots[operand].name + ".packed";
  slots.push_back({Slot::Kind::temporary, 0, 0, Type{u8, Shape{share.bytes}}, name});
  dot.buffers[share.operand] = room;

  Launch launch;
  launch.kind = Launch::Kind::library;
  launch.name = dot.name + "_pack";
  launch.task = std::move(share.task);
  launch.buffers = {operand, room};
  launch.writes = {room};
  launch.cost.bytes_read = launch.cost.bytes_written = share.bytes;
  launch.predicted_ns = predicted_ns(launch.cost);
  launch.location = dot.location;
  return launch;
}

HostTask copy_task(std::int64_t bytes) {
  HostTask task;
  task.context = std::make_shared<std::int64_t>(bytes);
  task.function = [](const void* context, void* const* buffers, std::int64_t, std::int64_t) {
    const auto bytes = static_cast<std::size_t>(*static_cast<const std::int64_t*>(context));
    if (bytes > 0) std::memcpy(buffers[1], buffers[0], bytes);
  };
  return task;
}

/// Gives every launch what it runs, its cost and its time.
class Finisher {
 public:
  Finisher(const std::vector<Kernel>& kernels, const cpu::Code& code, const Options& options)
      : kernels_(kernels), code_(code), options_(options) {
    for (const Kernel& kernel : kernels) by_name_[kernel.name] = &kernel;
  }

  Program operator()(Launches launches) const {
    Program& program = launches.program;
    std::vector<Launch> given = std::move(program.launches);
    program.launches.clear();
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::visit([&](auto& work) { finish(given[i], work, program); }, launches.work[i]);
      program.launches.push_back(std::move(given[i]));
    }
    return std::move(program);
  }

 private:
  void finish(Launch& launch, const OneKernel& one, Program&) const {
    launch.task = task_of(kernels_[one.kernel], code_, one.kernel);
    launch.cost = kernels_[one.kernel].cost;
    launch.predicted_ns = predicted_ns(launch.cost);
  }

  void finish(Launch& launch, const WholeCopy& copy, Program&) const {
    launch.task = copy_task(copy.bytes);
    launch.cost = {copy.bytes, copy.bytes, 0};
    launch.predicted_ns = predicted_ns(launch.cost);
  }

  void finish(Launch& launch, const LibraryDot& dot, Program& program) const {
    std::optional<cpu::Epilogue> epilogue;
    launch.cost = cost_of(dot);
    launch.predicted_ns = predicted_dot_ns(launch.cost);
    if (dot.epilogue) {
      epilogue = cpu::Epilogue{task_of(kernels_[*dot.epilogue], code_, *dot.epilogue),
                               dot.epilogue_inputs, dot.epilogue_outputs, dot.in_place};
      const std::int64_t operations = kernels_[*dot.epilogue].cost.operations;
      launch.cost.operations += operations;
      launch.predicted_ns += predicted_ns({0, 0, operations});
    }
    cpu::DotTasks tasks =
        cpu::make_dot(dot.lhs, dot.rhs, dot.result, dot.attributes, std::move(epilogue));
    launch.task = std::move(tasks.dot);
    if (!tasks.share) return;
    program.launches.push_back(share(std::move(*tasks.share), launch, program.slots));
  }

  void finish(Launch& launch, ControlFlow& flow, Program& program) const {
    std::vector<Program> regions;
    for (Launches& region : flow.regions) regions.push_back((*this)(std::move(region)));
    const auto kernel_of = [this](const Launch& inner) -> const Kernel* {
      const auto found = by_name_.find(inner.name);
      return found == by_name_.end() ? nullptr : found->second;
    };
    if (launch.kind == Launch::Kind::branch) {
      return finish_branch(launch, std::move(regions), program.slots, options_, kernel_of);
    }
    finish_loop(launch, std::move(regions[0]), std::move(regions[1]), program.slots, options_,
                kernel_of);
  }

  const std::vector<Kernel>& kernels_;
  const cpu::Code& code_;
  const Options& options_;
  std::map<std::string_view, const Kernel*> by_name_;
};

}  // namespace

Compilation compile(const Graph& graph, const Options& options) {
  if (!exists(options.device)) throw Error("compile: " + missing_text(options.device));
  Compilation compilation;
  compilation.traced = graph;

  PassContext context{options.fast_math, {}};
  Graph optimized =
      run_passes(default_pipeline(), graph, context,
                 {.verify = options.verify, .disabled = options.disabled, .after = {}});
  compilation.optimized = isolate(optimized);
  compilation.notes = std::move(context.notes);

  std::vector<Kernel> kernels;
  Launches launches = plan_launches(compilation.optimized, options.device, kernels);
  std::vector<char> is_epilogue(kernels.size());
  find_epilogues(launches, is_epilogue);
  const Target target = cpu::host_target();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    compilation.kernels.push_back(tile(std::move(kernels[i]), target, is_epilogue[i]));
  }
  cpu::Code code = cpu::compile_kernels(compilation.kernels, options.cache.get());
  compilation.code_bytes = code.bytes;

  Program program = Finisher(compilation.kernels, code, options)(std::move(launches));
  compilation.executable = std::make_shared<const Executable>(schedule(program, options));
  if (compilation.executable->times) {
    compilation.reschedule =
        std::make_shared<Reschedule>(std::move(program), options, compilation.executable);
  }
  return compilation;
}

std::shared_ptr<const Executable> current_executable(const Compilation& compilation) {
  return compilation.reschedule ? compilation.reschedule->current() : compilation.executable;
}

}  // namespace anabranch
