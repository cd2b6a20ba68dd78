#include "codegen/compile.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "codegen/cpu/dot/dot.h"
#include "codegen/cpu/tile.h"
#include "codegen/cuda/copy_task.h"
#include "codegen/cuda/gpu_costs.h"
#include "codegen/native_code.h"
#include "codegen/plan/control_flow.h"
#include "codegen/plan/isolate.h"
#include "codegen/plan/launches.h"
#include "codegen/schedule/schedule.h"
#include "ir/custom_call.h"
#include "ir/error.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

namespace anabranch {
namespace {

// What oneDNN does on one core, in f32: from 140 for a product of 64 to 240.
constexpr double dot_operations_per_ns = 160;
// Nothing is known of a user's function before it has run; it is not to run on the caller's thread.
constexpr double custom_call_ns = 1e5;

// `dot` is a LibraryDot or a cuda::Dot.
template <class D>
Cost cost_of(const D& dot) {
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
  const DeviceIndex device = slots[operand].device;
  slots.push_back({Slot::Kind::temporary, 0, 0, Type{u8, Shape{share.bytes}}, name, device});
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

// Bytes of the first buffer to the second.
void copy_bytes(const void*, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto* from = static_cast<const std::byte*>(buffers[0]);
  auto* to = static_cast<std::byte*>(buffers[1]);
  if (begin < end) std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
}

constexpr std::int64_t copy_grain = 1 << 20;

struct CustomTask {
  UserCall call;
  std::shared_ptr<const CustomFunction> function;
};

// What the function does not write is zero: memory is used again, and holds what others computed.
void run_custom(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto& [call, function] = *static_cast<const CustomTask*>(context);
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const std::size_t bytes = call.results[i].bytes();
    if (bytes > 0) std::memset(buffers[call.operands.size() + i], 0, bytes);
  }
  (*function)(CustomCall(call.operands, call.results, buffers));
}

double to_host_ns(std::int64_t bytes) {
  return static_cast<double>(bytes) / cuda::host_bytes_per_ns;
}

std::int64_t sum_of_bytes(const std::vector<Type>& types) {
  std::size_t bytes = 0;
  for (const Type& type : types) bytes += type.bytes();
  return static_cast<std::int64_t>(bytes);
}

/// Gives every launch what it runs, its cost and its time.
class Finisher {
 public:
  Finisher(const std::vector<Kernel>& kernels, NativeCode& code, const Options& options,
           std::span<const Device> devices)
      : kernels_(kernels), code_(code), options_(options), devices_(devices) {}

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
  void finish(Launch& launch, const OneKernel&, Program& program) const {
    const Kernel& kernel = kernels_[*launch.kernel];
    launch.task = code_.task(*launch.kernel);
    launch.cost = kernel.cost;
    const auto* on_gpu = std::get_if<DeviceTask>(&launch.task);
    launch.predicted_ns =
        on_gpu ? gpu_costs(program, launch).ns(kernel, on_gpu->threads) : predicted_ns(launch.cost);
  }

  void finish(Launch& launch, const WholeCopy& copy, Program& program) const {
    const bool from_gpu = is_on_gpu(program, launch.buffers[0]);
    const bool to_gpu = is_on_gpu(program, launch.buffers[1]);
    launch.cost = {copy.bytes, copy.bytes, 0};
    launch.predicted_ns = predicted_ns(launch.cost);
    if (from_gpu && to_gpu) {
      DeviceTask task = cuda::copy_task(copy.bytes);
      launch.predicted_ns = gpu_costs(program, launch).copy_ns(copy.bytes, task.threads);
      launch.task = std::move(task);
    } else if (from_gpu || to_gpu) {
      // By one thread, to or from page-locked memory.
      launch.task = HostTask{copy_bytes, nullptr, copy.bytes, copy.bytes};
      launch.predicted_ns += to_host_ns(copy.bytes);
    } else {
      launch.task = HostTask{copy_bytes, nullptr, copy.bytes, copy_grain};
    }
  }

  void finish(Launch& launch, const UserCall& call, Program& program) const {
    auto task = std::make_shared<CustomTask>(CustomTask{call, nullptr});
    try {
      task->function = custom_function(call.name, call.function);
    } catch (const Error& error) {
      throw Error(launch.location ? error.what() + (", at " + to_string(launch.location))
                                  : error.what());
    }
    launch.task = HostTask{run_custom, std::move(task), 1, 1};
    launch.calls_user = true;
    launch.cost = {sum_of_bytes(call.operands), sum_of_bytes(call.results), 0};
    launch.predicted_ns = std::max(custom_call_ns, predicted_ns(launch.cost));
    if (is_on_gpu(program, launch.writes[0])) {
      launch.predicted_ns += to_host_ns(launch.cost.bytes_read + launch.cost.bytes_written);
    }
  }

  void finish(Launch& launch, const LibraryDot& dot, Program& program) const {
    std::optional<cpu::Epilogue> epilogue;
    launch.cost = cost_of(dot);
    launch.predicted_ns = predicted_dot_ns(launch.cost);
    if (launch.kernel) {
      epilogue = cpu::Epilogue{std::get<HostTask>(code_.task(*launch.kernel)), dot.epilogue_inputs,
                               dot.epilogue_outputs, dot.in_place};
      const std::int64_t operations = kernels_[*launch.kernel].cost.operations;
      launch.cost.operations += operations;
      launch.predicted_ns += predicted_ns({0, 0, operations});
    }
    cpu::DotTasks tasks = code_.dots()(dot.lhs, dot.rhs, dot.result, dot.attributes, epilogue);
    launch.task = std::move(tasks.dot);
    if (!tasks.share) return;
    program.launches.push_back(share(std::move(*tasks.share), launch, program.slots));
  }

  void finish(Launch& launch, const cuda::Dot& dot, Program& program) const {
    const cuda::GpuCosts costs = gpu_costs(program, launch);
    launch.cost = cost_of(dot);
    launch.predicted_ns = costs.ns(dot, launch.cost);
    DeviceTask task = cuda::make_dot(dot, devices_[device_of(program, launch)].index());
    task.threads = costs.threads(dot);
    launch.task = std::move(task);
  }

  void finish(Launch& launch, ControlFlow& flow, Program& program) const {
    const DeviceIndex device = device_of(program, launch);
    const std::size_t known_slots = program.slots.size();
    finish_flow(launch, flow, program);
    for (std::size_t i = known_slots; i < program.slots.size(); ++i) {
      program.slots[i].device = device;
    }
  }

  void finish_flow(Launch& launch, ControlFlow& flow, Program& program) const {
    const Finisher inside = on(device_of(program, launch));
    std::vector<Program> regions;
    for (Launches& region : flow.regions) regions.push_back(inside(std::move(region)));
    NativeFlows& native = code_.flows(inside.options_.device);
    if (launch.kind == Launch::Kind::branch) {
      return finish_branch(launch, std::move(regions), program.slots, inside.options_, native);
    }
    finish_loop(launch, std::move(regions[0]), std::move(regions[1]), program.slots,
                inside.options_, native);
  }

  // For what a loop or a branch runs there.
  Finisher on(DeviceIndex device) const {
    Finisher inside = *this;
    inside.devices_ = devices_.subspan(device, 1);
    inside.options_.device = devices_[device];
    return inside;
  }

  bool is_on_gpu(const Program& program, SlotId slot) const {
    return devices_[program.slots[slot].device].kind() == DeviceKind::cuda;
  }

  cuda::GpuCosts gpu_costs(const Program& program, const Launch& launch) const {
    return cuda::GpuCosts::of(devices_[device_of(program, launch)].index());
  }

  const std::vector<Kernel>& kernels_;
  NativeCode& code_;
  Options options_;
  std::span<const Device> devices_;  // by index in the program
};

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
  Compilation compilation;
  compilation.traced = graph;

  PassContext context{.fast_math = options.fast_math};
  Graph located = place(graph, options.parameters, options.device, false).graph;
  Graph optimized =
      run_passes(default_pipeline(), std::move(located), context,
                 {.verify = options.verify, .disabled = options.disabled, .after = {}});
  PlacedGraph placed = place(isolate(optimized), options.parameters, options.device);
  compilation.notes = std::move(context.notes);
  compilation.planned_members = context.planned_members;

  const std::vector<Device> devices = devices_of(placed, options.device);
  std::vector<Kernel> kernels;
  Launches launches = plan_launches(placed, devices, options, kernels);
  compilation.optimized = std::move(placed.graph);
  compilation.kernels = std::move(kernels);
  NativeCode code(compilation.kernels, launches, devices, options);

  Options at_home = options;
  at_home.device = devices[0];
  Program program = Finisher(compilation.kernels, code, at_home, devices)(std::move(launches));
  compilation.code_bytes = code.finish();
  compilation.code_instructions = code.instructions();
  compilation.executable = std::make_shared<const Executable>(schedule(program, at_home));
  if (compilation.executable->times) {
    compilation.reschedule =
        std::make_shared<Reschedule>(std::move(program), at_home, compilation.executable);
  }
  return compilation;
}

std::shared_ptr<const Executable> current_executable(const Compilation& compilation) {
  return compilation.reschedule ? compilation.reschedule->current() : compilation.executable;
}

}  // namespace anabranch
