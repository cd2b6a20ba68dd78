#include "codegen/cuda/link.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cuda/compile_kernels.h"
#include "codegen/cuda/copy_task.h"
#include "codegen/cuda/dot/dot.h"
#include "codegen/cuda/gather.h"

namespace anabranch::cuda {
namespace {

void refuse(const void* why, void* const*, DeviceStream&) {
  throw Error(*static_cast<const std::string*>(why));
}

using ConstantBuffers = std::unordered_map<const Literal*, Buffer>;

// Where the constants of what runs inside `step` are.
void add_constants(const Step& step, const LinkedStep& linked, ConstantBuffers& buffers) {
  const std::span<const Program> regions = inner_programs(step);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const LinkedCode& code = linked.regions[r];
    for (std::size_t i = 0; i < code.constants.size(); ++i) {
      buffers.emplace(&regions[r].constants[i], code.constants[i]);
    }
    for (std::size_t i = 0; i < code.steps.size(); ++i) {
      add_constants(regions[r].steps[i], code.steps[i], buffers);
    }
  }
}

// Whether it copies from a place on a GPU to one on a GPU.
bool copies_on_gpus(const Program& program, const Step& step) {
  if (std::holds_alternative<CopyStep>(step.work)) return true;
  if (!std::holds_alternative<TransferStep>(step.work)) return false;
  const DeviceIndex from = program.slots[step.buffers[0]].device;
  return program.devices[from].device.kind() == DeviceKind::cuda;
}

/// Links what is on one device of a program.
class Linker {
 public:
  Linker(const Program& program, DeviceIndex device, CodeCache* cache, LinkedCode& code)
      : program_(program),
        device_(device),
        gpu_(program.devices[device].device.index()),
        cache_(cache),
        code_(code) {}

  void run() {
    Gathered gathered = gather(program_, {&device_, 1});
    compile(std::move(gathered.parts));
    compile(std::move(gathered.conditionals));
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (is_here(i)) link(program_, program_.steps[i], code_.steps[i]);
    }
  }

 private:
  bool is_here(std::size_t step) const {
    return device_of(program_, program_.steps[step]) == device_;
  }

  void compile(std::vector<Gathered::Part> parts) {
    const ConstantBuffers buffers = constants();
    std::vector<KernelText> kernels;
    for (Gathered::Part& part : parts) {
      for (const Literal* constant : part.constants) {
        part.kernel.fixed.push_back(buffers.at(constant));
      }
      kernels.push_back(std::move(part.kernel));
    }
    const std::vector<DeviceTask> tasks = compile(kernels);
    for (std::size_t i = 0; i < parts.size(); ++i) tasks_[parts[i].step] = tasks[i];
  }

  void compile(std::vector<Gathered::Conditional> conditionals) {
    std::vector<KernelText> kernels;
    for (Gathered::Conditional& conditional : conditionals) {
      kernels.push_back(
          {std::move(conditional.text.name), std::move(conditional.text.text), 1, 1, 2, {}});
    }
    std::vector<DeviceTask> tasks;
    try {
      tasks = compile(kernels);
    } catch (const Error& error) {
      const auto why = std::make_shared<const std::string>(error.what());
      tasks.assign(conditionals.size(), {refuse, why});
    }
    for (std::size_t i = 0; i < conditionals.size(); ++i) {
      for (const Step* step : conditionals[i].steps) tasks_[step] = tasks[i];
    }
  }

  std::vector<DeviceTask> compile(const std::vector<KernelText>& kernels) {
    Code code = compile_kernels(kernels, gpu_, cache_);
    code_.bytes += code.bytes;
    return std::move(code.tasks);
  }

  ConstantBuffers constants() const {
    ConstantBuffers buffers;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (is_here(i)) add_constants(program_.steps[i], code_.steps[i], buffers);
    }
    return buffers;
  }

  // `program` is the one that the step is in.
  void link(const Program& program, const Step& step, LinkedStep& linked) {
    if (const auto* dot = std::get_if<DotStep>(&step.work)) {
      linked.task = make_dot(*dot, gpu_);
    } else if (copies_on_gpus(program, step)) {
      const Slot &from = program.slots[step.buffers[0]], &to = program.slots[step.buffers[1]];
      linked.task = copy_task(from.type.bytes(), program.devices[from.device].device.index(),
                              program.devices[to.device].device.index());
    } else if (std::holds_alternative<KernelStep>(step.work) || is_whole_flow(step)) {
      linked.task = tasks_.at(&step);
    } else if (const auto regions = inner_programs(step); !regions.empty()) {
      linked.conditional = tasks_.at(&step);
      for (std::size_t r = 0; r < regions.size(); ++r) link(regions[r], linked.regions[r]);
    }
  }

  void link(const Program& region, LinkedCode& code) {
    for (std::size_t i = 0; i < region.steps.size(); ++i) {
      link(region, region.steps[i], code.steps[i]);
    }
  }

  const Program& program_;
  const DeviceIndex device_;
  const int gpu_;
  CodeCache* const cache_;
  LinkedCode& code_;
  std::unordered_map<const Step*, DeviceTask> tasks_;  // what was compiled for each
};

}  // namespace

void link(const Program& program, CodeCache* cache, LinkedCode& code) {
  for (DeviceIndex device = 0; device < program.devices.size(); ++device) {
    if (program.devices[device].device.kind() != DeviceKind::cuda) continue;
    Linker(program, device, cache, code).run();
  }
}

}  // namespace anabranch::cuda
