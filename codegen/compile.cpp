#include "codegen/compile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "codegen/control_flow.h"
#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/dot.h"
#include "codegen/cuda/compile_kernels.h"
#include "codegen/isolate.h"
#include "codegen/launches.h"
#include "codegen/schedule.h"
#include "codegen/tile.h"
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

/// The native code of all kernels: for the CPU, or for each of the devices, which are GPUs.
struct Native {
  cpu::Code cpu;
  std::vector<cuda::Code> gpus;

  std::size_t bytes() const {
    std::size_t sum = cpu.bytes;
    for (const cuda::Code& code : gpus) sum += code.bytes;
    return sum;
  }
};

HostTask host_task(const Kernel& kernel, const cpu::Code& code, std::size_t index) {
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

void run_custom(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto& [call, function] = *static_cast<const CustomTask*>(context);
  (*function)(CustomCall(call.name, call.operands, call.results, buffers));
}

std::int64_t sum_of_bytes(const std::vector<Type>& types) {
  std::size_t bytes = 0;
  for (const Type& type : types) bytes += type.bytes();
  return static_cast<std::int64_t>(bytes);
}

/// Gives every launch what it runs, its cost and its time.
class Finisher {
 public:
  Finisher(const std::vector<Kernel>& kernels, const Native& code, const Options& options,
           const std::vector<Device>& devices)
      : kernels_(kernels), code_(code), options_(options), devices_(devices) {
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
  void finish(Launch& launch, const OneKernel& one, Program& program) const {
    if (code_.gpus.empty()) {
      launch.task = host_task(kernels_[one.kernel], code_.cpu, one.kernel);
    } else {
      launch.task = code_.gpus.at(device_of(program, launch)).tasks.at(one.kernel);
    }
    launch.cost = kernels_[one.kernel].cost;
    launch.predicted_ns = predicted_ns(launch.cost);
  }

  void finish(Launch& launch, const WholeCopy& copy, Program&) const {
    if (code_.gpus.empty()) {
      launch.task = HostTask{copy_bytes, nullptr, copy.bytes, copy_grain};
    } else {
      launch.task = cuda::copy_task(copy.bytes);
    }
    launch.cost = {copy.bytes, copy.bytes, 0};
    launch.predicted_ns = predicted_ns(launch.cost);
  }

  void finish(Launch& launch, const UserCall& call, Program&) const {
    auto task = std::make_shared<CustomTask>(CustomTask{call, nullptr});
    try {
      task->function = custom_function(call.name);
    } catch (const Error& error) {
      throw Error(launch.location ? error.what() + (", at " + to_string(launch.location))
                                  : error.what());
    }
    launch.task = HostTask{run_custom, std::move(task), 1, 1};
    launch.calls_user = true;
    launch.cost = {sum_of_bytes(call.operands), sum_of_bytes(call.results), 0};
    launch.predicted_ns = std::max(custom_call_ns, predicted_ns(launch.cost));
  }

  void finish(Launch& launch, const LibraryDot& dot, Program& program) const {
    std::optional<cpu::Epilogue> epilogue;
    launch.cost = cost_of(dot);
    launch.predicted_ns = predicted_dot_ns(launch.cost);
    if (dot.epilogue) {
      epilogue = cpu::Epilogue{host_task(kernels_[*dot.epilogue], code_.cpu, *dot.epilogue),
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

  void finish(Launch& launch, const cuda::Dot& dot, Program& program) const {
    launch.cost = cost_of(dot);
    launch.predicted_ns = predicted_dot_ns(launch.cost);
    launch.task = cuda::make_dot(dot, devices_[device_of(program, launch)].index());
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
    Options options = options_;
    options.device = devices_[device_of(program, launch)];
    std::vector<Program> regions;
    for (Launches& region : flow.regions) regions.push_back((*this)(std::move(region)));
    const auto kernel_of = [this](const Launch& inner) -> const Kernel* {
      const auto found = by_name_.find(inner.name);
      return found == by_name_.end() ? nullptr : found->second;
    };
    if (launch.kind == Launch::Kind::branch) {
      return finish_branch(launch, std::move(regions), program.slots, options, kernel_of);
    }
    finish_loop(launch, std::move(regions[0]), std::move(regions[1]), program.slots, options,
                kernel_of);
  }

  const std::vector<Kernel>& kernels_;
  const Native& code_;
  const Options& options_;
  const std::vector<Device>& devices_;
  std::map<std::string_view, const Kernel*> by_name_;
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
  for (const Device& device : devices) {
    if (device.kind() == devices[0].kind()) continue;
    throw Error("compile: the graph is on " + to_string(devices[0]) + " and on " +
                to_string(device) + ", which cannot work together");
  }
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

  const std::vector<Device> devices = devices_of(placed, options.device);
  std::vector<Kernel> kernels;
  Launches launches = plan_launches(placed, devices, options, kernels);
  compilation.optimized = std::move(placed.graph);
  std::vector<char> is_epilogue(kernels.size());
  find_epilogues(launches, is_epilogue);
  Native code;
  if (devices[0].kind() == DeviceKind::cuda) {
    for (const Device& device : devices) {
      code.gpus.push_back(cuda::compile_kernels(kernels, device.index(), options.cache.get()));
    }
    compilation.kernels = std::move(kernels);
  } else {
    const Target target = cpu::host_target();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      compilation.kernels.push_back(tile(std::move(kernels[i]), target, is_epilogue[i]));
    }
    code.cpu = cpu::compile_kernels(compilation.kernels, options.cache.get());
  }
  compilation.code_bytes = code.bytes();

  Options at_home = options;
  at_home.device = devices[0];
  Program program = Finisher(compilation.kernels, code, at_home, devices)(std::move(launches));
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
