#include "codegen/compile.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/link.h"
#include "codegen/plan/plan.h"
#include "codegen/program_passes.h"
#include "codegen/read_back.h"
#include "passes/pass.h"
#include "passes/pipeline.h"
#include "runtime/device/device.h"
#include "runtime/executor/run.h"

namespace anabranch {
namespace {

void check_exists(const Device& device) {
  if (!exists(device)) throw Error("compile: " + missing_text(device));
}

// Passes ask for the backends of the devices, and what they throw is an InternalError.
void check_devices(const PlacedGraph& placed) {
  for (std::uint32_t i = 0; i < placed.graph.nodes().size(); ++i) {
    const Node& node = placed.graph.node(i);
    if (node.op == Op::constant || exists(placed.devices[i])) continue;
    const bool is_parameter = node.op == Op::parameter;
    throw Error("compile: " + (is_parameter ? "parameter " + std::to_string(i) + ": " : "") +
                missing_text(placed.devices[i]) +
                (node.location ? ", at " + to_string(node.location) : ""));
  }
}

void check_streams(int streams) {
  if (streams >= 1) return;
  throw Error("compile: Options::streams is " + std::to_string(streams) +
              "; set it to 1 or more, 1 to keep everything in order");
}

// The devices that a graph is on, `home` first where it is one of them or nothing is anywhere.
std::vector<Device> devices_of(const PlacedGraph& placed, const Device& home) {
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < placed.graph.nodes().size(); ++i) {
    if (placed.graph.node(i).op == Op::constant) continue;
    const Device& device = placed.devices[i];
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) continue;
    devices.insert(device == home ? devices.begin() : devices.end(), device);
  }
  if (devices.empty()) devices.push_back(home);
  return devices;
}

// Of the device of the graph on which the fewest chains pay.
BlockCosts block_costs(const Graph& graph, const Options& options) {
  const PlacedGraph placed = place(graph, options.parameters, options.device, false);
  std::optional<BlockCosts> least;
  for (std::uint32_t i = 0; i < placed.graph.nodes().size(); ++i) {
    if (placed.graph.node(i).op == Op::constant) continue;
    const Device& device = placed.devices[i];
    const BlockCosts costs = backend_of(device).block_costs(device);
    if (!least || costs.cached_bytes < least->cached_bytes) least = costs;
  }
  return least.value_or(BlockCosts{});
}

}  // namespace

PlacedGraph optimize(const Graph& graph, const Options& options, PassContext& context,
                     const PassRun& run) {
  PlacedGraph located = place(graph, options.parameters, options.device, false);
  check_devices(located);
  const Graph optimized = run_passes(default_pipeline(), std::move(located.graph), context, run);
  return place(optimized, options.parameters, options.device);
}

Compilation compile(const Graph& graph, const Options& options, const PassObserver& after) {
  check_exists(options.device);
  check_streams(options.streams);
  check_pass_names(options.disabled);
  const PassRun run{.verify = options.verify, .disabled = options.disabled, .after = after};
  Compilation made;
  made.traced = graph;

  PassContext context{.fast_math = options.fast_math};
  std::vector<Device> asked;  // where the graph runs, found once a pass asks
  const auto all_backends = [&](const auto& say) {
    if (asked.empty()) {
      asked = devices_of(place(graph, options.parameters, options.device), options.device);
    }
    return std::ranges::all_of(asked,
                               [&](const Device& device) { return say(backend_of(device)); });
  };
  context.takes = [&](const ConvolutionStep& step) {
    return all_backends([&](const Backend& backend) { return backend.takes(step); });
  };
  context.follows_rows = [&] {
    return all_backends([](const Backend& backend) { return backend.follows_rows(); });
  };
  context.block_costs = [&] { return block_costs(graph, options); };
  PlacedGraph placed = optimize(graph, options, context, run);
  made.notes = std::move(context.notes);
  made.planned_members = context.planned_members;

  const std::vector<Device> devices = devices_of(placed, options.device);
  made.options = options;
  made.options.device = devices[0];
  Program program = plan(placed, devices, made.options);
  made.optimized = std::move(placed.graph);

  ProgramContext scheduling{.options = made.options, .run = run};
  program = run_passes(program_passes(), std::move(program), scheduling, run);
  const bool is_checked = always_verifies || options.verify;
  auto code = std::make_shared<const LinkedCode>(
      link(is_checked ? read_back(program) : program, made.options));
  made.first.executable =
      std::make_shared<const Executable>(Executable{std::move(program), std::move(code)});
  made.first.state = ExecutionState::of(*made.first.executable, scheduling.has_choice);
  if (scheduling.has_choice) {
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

std::string to_dot(const Compilation& compilation, Stage stage) {
  switch (stage) {
    case Stage::trace:
      return to_dot(compilation.traced);
    case Stage::optimized:
      return to_dot(compilation.optimized);
    case Stage::schedule:
      return to_dot(current(compilation).executable->program);
    default:
      throw Error("dump: only the stages trace, optimized and schedule have pictures");
  }
}

}  // namespace anabranch
