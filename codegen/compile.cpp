#include "codegen/compile.h"

#include <algorithm>
#include <utility>

#include "codegen/link.h"
#include "codegen/plan/isolate.h"
#include "codegen/plan/kernel_passes.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/step_costs.h"
#include "codegen/schedule/schedule.h"
#include "ir/error.h"
#include "passes/pass.h"
#include "passes/pipeline.h"
#include "runtime/executor/run.h"

namespace anabranch {
namespace {

void check_exists(const Device& device) {
  if (!exists(device)) throw Error("compile: " + missing_text(device));
}

// The devices that a graph is on, `home` first where it is one of them or nothing is anywhere.
std::vector<Device> devices_of(const PlacedGraph& placed, const Device& home) {
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < placed.graph.nodes().size(); ++i) {
    if (placed.graph.node(i).op == Op::constant) continue;
    const Device& device = placed.devices[i];
    check_exists(device);
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) continue;
    devices.insert(device == home ? devices.begin() : devices.end(), device);
  }
  if (devices.empty()) devices.push_back(home);
  return devices;
}

}  // namespace

Compilation compile(const Graph& graph, const Options& options) {
  check_exists(options.device);
  Compilation made;
  made.traced = graph;

  PassContext context{.fast_math = options.fast_math};
  Graph located = place(graph, options.parameters, options.device, false).graph;
  Graph optimized =
      run_passes(default_pipeline(), std::move(located), context,
                 {.verify = options.verify, .disabled = options.disabled, .after = {}});
  PlacedGraph placed = place(isolate(optimized), options.parameters, options.device);
  made.notes = std::move(context.notes);
  made.planned_members = context.planned_members;

  const std::vector<Device> devices = devices_of(placed, options.device);
  made.options = options;
  made.options.device = devices[0];
  Program program = plan(placed, devices, made.options);
  made.optimized = std::move(placed.graph);

  run_kernel_passes(program);
  set_costs(program, made.options);
  Schedule scheduled = schedule(std::move(program), made.options);
  auto code = std::make_shared<const LinkedCode>(link(scheduled.program, made.options));
  made.first.executable =
      std::make_shared<const Executable>(Executable{std::move(scheduled.program), std::move(code)});
  made.first.state = ExecutionState::of(*made.first.executable, scheduled.has_choice);
  if (scheduled.has_choice) {
    made.reschedule = std::make_shared<Reschedule>(made.first, made.options);
  }
  return made;
}

Runnable current(const Compilation& compilation) {
  return compilation.reschedule ? compilation.reschedule->current() : compilation.first;
}

std::vector<Buffer> run(const Compilation& compilation, std::vector<Buffer> inputs) {
  Runnable runnable = current(compilation);
  return run(std::move(runnable.executable), std::move(inputs), std::move(runnable.state));
}

}  // namespace anabranch
