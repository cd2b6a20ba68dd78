#include "codegen/cuda/code_builder.h"

#include <algorithm>
#include <utility>

#include "codegen/cuda/copy_task.h"
#include "codegen/cuda/emit/flow.h"
#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/emit/text.h"
#include "ir/checked.h"
#include "ir/error.h"

namespace anabranch::cuda {
namespace {

// Of one multiprocessor: that much of memory in a cycle, and so many operations, by the CUDA C++
// Programming Guide's tables of arithmetic throughput. A step that takes one block longer than this
// many cycles is better shared out over the whole GPU, though the queue then has to come to each
// kernel and the host to each step.
constexpr double bytes_per_cycle = 64;
constexpr double operations_per_cycle = 64;
constexpr double most_cycles = 8192;

// A block has 48 KB without asking for more; some is for what reductions exchange.
constexpr std::int64_t most_shared_bytes = 40 << 10;
// A kernel takes 4 KB of arguments.
constexpr std::size_t most_arguments = 500;

double cycles(const Cost& cost) {
  return static_cast<double>(cost.bytes_read + cost.bytes_written) / bytes_per_cycle +
         static_cast<double>(cost.operations) / operations_per_cycle;
}

void run_compiled(const void* context, void* const* buffers, DeviceQueue& queue) {
  const auto& task = *static_cast<const DeviceTask*>(context);
  task.put(task.context.get(), buffers, queue);
}

void refuse(const void* why, void* const*, DeviceQueue&) {
  throw Error(*static_cast<const std::string*>(why));
}

std::size_t pointers_of(const Kernel& kernel) {
  return static_cast<std::size_t>(
      std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                    [](const KernelBuffer& buffer) { return buffer.access != Access::scratch; }));
}

}  // namespace

DeviceTask CodeBuilder::add(KernelText kernel, Role role) {
  const std::int64_t threads = saturating_multiply(kernel.blocks, kernel.threads);
  gathered_.push_back({std::move(kernel), std::make_shared<DeviceTask>(), role});
  return {run_compiled, gathered_.back().task, threads};
}

DeviceTask CodeBuilder::task_of(const Kernel& kernel) {
  const MappedKernel mapped = map_threads(kernel);
  return add({symbol(kernel.name),
              emit_kernel(mapped),
              mapped.blocks(),
              mapped.map.threads(),
              pointers_of(kernel),
              {}});
}

bool CodeBuilder::is_small(const Program& region) const {
  double sum = 0;
  for (const Launch& launch : region.launches) {
    if (launch.is_native_flow()) continue;  // small itself, and no quicker outside
    if (!launch.device_task() || !(kernel_of(kernels_, launch) || is_copy(*launch.device_task()))) {
      return false;
    }
    sum += cycles(launch.cost);
  }
  return sum <= most_cycles;
}

NativeTask CodeBuilder::task_of(const Launch& flow) {
  FlowText text = emit_flow(flow, kernels_);
  const std::size_t buffers = flow.buffers.size();
  if (text.shared_bytes > most_shared_bytes) return {};
  if (buffers + text.constants.size() > most_arguments) return {};
  take_in(flow);
  return add({symbol(flow.name), std::move(text.text), 1, text.threads, buffers,
              std::move(text.constants)});
}

DeviceTask CodeBuilder::steer_of_loop() { return steer(emit_loop_steer()); }

DeviceTask CodeBuilder::steer_of_branch(std::size_t branches) {
  return steer(emit_branch_steer(branches));
}

DeviceTask CodeBuilder::steer(SteerText steer) {
  for (const Gathered& known : gathered_) {
    if (known.kernel.name == steer.name) return {run_compiled, known.task};
  }
  return add({std::move(steer.name), std::move(steer.text), 1, 1, 2, {}}, Role::steers);
}

// What runs inside the flow alone has no use for a kernel of its own.
void CodeBuilder::take_in(const Launch& flow) {
  for (const auto& inner : inner_executables(flow)) {
    for (const Stream& stream : inner->streams) {
      for (const Step& step : stream) {
        const auto* launch = std::get_if<Launch>(&step);
        if (!launch) continue;
        for (Gathered& known : gathered_) {
          if (known.kernel.name == symbol(launch->name)) known.role = Role::is_taken_in;
        }
        take_in(*launch);
      }
    }
  }
}

std::vector<const CodeBuilder::Gathered*> CodeBuilder::all(Role role) const {
  std::vector<const Gathered*> found;
  for (const Gathered& one : gathered_) {
    if (one.role == role) found.push_back(&one);
  }
  return found;
}

std::string CodeBuilder::text() const {
  std::string text;
  for (Role role : {Role::computes, Role::steers}) {
    for (const Gathered* one : all(role)) text += (text.empty() ? "" : "\n") + one->kernel.text;
  }
  return text;
}

std::size_t CodeBuilder::compile(int gpu, CodeCache* cache) {
  const std::size_t bytes = compile(Role::computes, gpu, cache);
  try {
    return bytes + compile(Role::steers, gpu, cache);
  } catch (const Error& error) {
    const auto why = std::make_shared<const std::string>(error.what());
    for (const Gathered* one : all(Role::steers)) *one->task = {refuse, why};
    return bytes;
  }
}

std::size_t CodeBuilder::compile(Role role, int gpu, CodeCache* cache) {
  const std::vector<const Gathered*> chosen = all(role);
  std::vector<KernelText> kernels;
  for (const Gathered* one : chosen) kernels.push_back(one->kernel);
  Code code = compile_kernels(kernels, gpu, cache);
  for (std::size_t i = 0; i < chosen.size(); ++i) *chosen[i]->task = std::move(code.tasks[i]);
  return code.bytes;
}

}  // namespace anabranch::cuda
