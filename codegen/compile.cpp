#include "codegen/compile.h"

#include <algorithm>

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

bool is_epilogue(const Launches& launches, std::size_t kernel) {
  return std::any_of(launches.work.begin(), launches.work.end(), [&](const auto& work) {
    auto* dot = std::get_if<LibraryDot>(&work);
    return dot && dot->epilogue == kernel;
  });
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

// Gives every launch what it runs.
Program with_code(Launches launches, const std::vector<Kernel>& kernels, const cpu::Code& code) {
  std::vector<Launch> ready;
  for (std::size_t i = 0; i < launches.work.size(); ++i) {
    Launch launch = std::move(launches.program.launches[i]);
    if (auto* one = std::get_if<OneKernel>(&launches.work[i])) {
      launch.task = task_of(kernels[one->kernel], code, one->kernel);
      launch.cost = kernels[one->kernel].cost;
      launch.predicted_ns = predicted_ns(launch.cost);
    } else {
      const auto& dot = std::get<LibraryDot>(launches.work[i]);
      std::optional<cpu::Epilogue> epilogue;
      launch.cost = cost_of(dot);
      launch.predicted_ns = predicted_dot_ns(launch.cost);
      if (dot.epilogue) {
        epilogue = cpu::Epilogue{task_of(kernels[*dot.epilogue], code, *dot.epilogue),
                                 dot.epilogue_inputs, dot.epilogue_outputs, dot.in_place};
        const std::int64_t operations = kernels[*dot.epilogue].cost.operations;
        launch.cost.operations += operations;
        launch.predicted_ns += predicted_ns({0, 0, operations});
      }
      cpu::DotTasks tasks =
          cpu::make_dot(dot.lhs, dot.rhs, dot.result, dot.attributes, std::move(epilogue));
      launch.task = std::move(tasks.dot);
      if (tasks.share) {
        ready.push_back(share(std::move(*tasks.share), launch, launches.program.slots));
      }
    }
    ready.push_back(std::move(launch));
  }
  launches.program.launches = std::move(ready);
  return std::move(launches.program);
}

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

  Launches launches = plan_launches(compilation.optimized, options.device);
  const Target target = cpu::host_target();
  for (std::size_t i = 0; i < launches.kernels.size(); ++i) {
    const bool row_major = is_epilogue(launches, i);
    compilation.kernels.push_back(tile(std::move(launches.kernels[i]), target, row_major));
  }
  cpu::Code code = cpu::compile_kernels(compilation.kernels);

  Program program = with_code(std::move(launches), compilation.kernels, code);
  compilation.executable =
      std::make_shared<const Executable>(schedule(std::move(program), options));
  return compilation;
}

}  // namespace anabranch
