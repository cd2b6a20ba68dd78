#include "codegen/cuda/emit/program_text.h"

#include <utility>

#include "codegen/cuda/code_builder.h"
#include "codegen/cuda/copy_task.h"
#include "codegen/plan/control_flow.h"

namespace anabranch::cuda {
namespace {

/// Gives every launch a task, so that loops and branches know what runs inside them.
class Finisher {
 public:
  Finisher(std::span<const Kernel> kernels, CodeBuilder& code) : kernels_(kernels), code_(code) {}

  Program operator()(Launches launches) {
    Program& program = launches.program;
    for (std::size_t i = 0; i < program.launches.size(); ++i) {
      std::visit([&](auto& work) { finish(program.launches[i], work, program.slots); },
                 launches.work[i]);
    }
    return std::move(program);
  }

 private:
  void finish(Launch& launch, const OneKernel&, std::vector<Slot>&) {
    const Kernel& kernel = kernels_[*launch.kernel];
    launch.task = code_.task_of(kernel);
    launch.cost = kernel.cost;
  }
  void finish(Launch& launch, const WholeCopy& copy, std::vector<Slot>&) {
    launch.task = copy_task(copy.bytes);
    launch.cost = {copy.bytes, copy.bytes, 0};
  }
  void finish(Launch& launch, const LibraryDot&, std::vector<Slot>&) {
    if (launch.kernel) code_.task_of(kernels_[*launch.kernel]);
  }
  void finish(Launch&, const Dot&, std::vector<Slot>&) {}  // the library's
  void finish(Launch&, const UserCall&, std::vector<Slot>&) {}
  void finish(Launch& launch, ControlFlow& flow, std::vector<Slot>& slots) {
    std::vector<Program> regions;
    for (Launches& region : flow.regions) regions.push_back((*this)(std::move(region)));
    if (launch.kind == Launch::Kind::branch) {
      finish_branch(launch, std::move(regions), slots, {}, code_);
    } else {
      finish_loop(launch, std::move(regions[0]), std::move(regions[1]), slots, {}, code_);
    }
  }

  const std::span<const Kernel> kernels_;
  CodeBuilder& code_;
};

}  // namespace

std::string program_text(Launches launches, std::span<const Kernel> kernels) {
  CodeBuilder code(kernels);
  Finisher(kernels, code)(std::move(launches));
  return code.text();
}

}  // namespace anabranch::cuda
