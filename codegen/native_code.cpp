#include "codegen/native_code.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "codegen/cpu/compile_kernels.h"
#include "codegen/cpu/native_flow.h"
#include "codegen/cpu/tile.h"
#include "codegen/cuda/code_builder.h"
#include "codegen/kernel/key.h"
#include "codegen/kernel/split_loops.h"

namespace anabranch {
namespace {

/// Who runs a kernel.
struct Use {
  DeviceIndex device = 0;
  bool is_epilogue = false;  // of a dot
};

void find_uses(const Launches& launches, DeviceIndex outer, std::vector<Use>& uses) {
  for (std::size_t i = 0; i < launches.work.size(); ++i) {
    // What a loop or a branch runs is where that is.
    const Launch& launch = launches.program.launches[i];
    const DeviceIndex device = outer != 0 ? outer : device_of(launches.program, launch);
    const auto& work = launches.work[i];
    if (launch.kernel) uses[*launch.kernel] = {device, std::holds_alternative<LibraryDot>(work)};
    if (const auto* flow = std::get_if<ControlFlow>(&work)) {
      for (const Launches& region : flow->regions) find_uses(region, device, uses);
    }
  }
}

}  // namespace

struct NativeCode::Gpu {
  Device device;
  cuda::CodeBuilder code;
};

NativeCode::NativeCode(std::vector<Kernel>& kernels, const Launches& launches,
                       std::span<const Device> devices, const Options& options)
    : options_(options), tasks_(kernels.size()) {
  std::vector<Use> uses(kernels.size());
  find_uses(launches, 0, uses);
  const Target target = cpu::host_target();
  std::vector<std::size_t> on_cpu;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (devices[uses[i].device].kind() == DeviceKind::cuda) continue;
    kernels[i] = split_loops(tile(std::move(kernels[i]), target, uses[i].is_epilogue));
    on_cpu.push_back(i);
  }
  compile_for_cpu(kernels, on_cpu);

  on_host_ = std::make_unique<cpu::HostFlows>(kernels, options.cache.get());
  for (DeviceIndex index = 0; index < devices.size(); ++index) {
    if (devices[index].kind() != DeviceKind::cuda) continue;
    gpus_.push_back(std::make_unique<Gpu>(Gpu{devices[index], cuda::CodeBuilder(kernels)}));
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (uses[i].device == index) tasks_[i] = gpus_.back()->code.task_of(kernels[i]);
    }
  }
}

NativeCode::~NativeCode() = default;

// The compiler takes them in one piece, equal ones once, so they go there and come back.
void NativeCode::compile_for_cpu(std::vector<Kernel>& kernels, std::span<const std::size_t> which) {
  std::unordered_map<std::string, std::size_t> known;  // by what the code depends on
  std::vector<std::size_t> code_of;
  std::vector<Kernel> together;
  std::vector<std::size_t> home;
  for (std::size_t i : which) {
    const auto [entry, is_new] = known.emplace(code_key(kernels[i]), together.size());
    code_of.push_back(entry->second);
    if (!is_new) continue;
    home.push_back(i);
    together.push_back(std::move(kernels[i]));
  }
  const cpu::Code code = cpu::compile_kernels(together, options_.cache.get());
  bytes_ += code.bytes;
  instructions_ += code.instructions;
  for (std::size_t i = 0; i < home.size(); ++i) kernels[home[i]] = std::move(together[i]);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const Kernel& kernel = kernels[which[i]];
    tasks_[which[i]] =
        HostTask{code.functions[code_of[i]], code.keep_alive, kernel.extent(), grain(kernel)};
  }
}

NativeFlows& NativeCode::flows(const Device& device) {
  for (const auto& gpu : gpus_) {
    if (gpu->device == device) return gpu->code;
  }
  return *on_host_;
}

std::size_t NativeCode::finish() {
  for (const auto& gpu : gpus_) {
    bytes_ += gpu->code.compile(gpu->device.index(), options_.cache.get());
  }
  return bytes_;
}

}  // namespace anabranch
