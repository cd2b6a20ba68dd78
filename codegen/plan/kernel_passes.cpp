#include "codegen/plan/kernel_passes.h"

#include <utility>

#include "codegen/backends.h"

namespace anabranch {
namespace {

void run(const Program& program, std::vector<Kernel>& kernels) {
  for (const Step& step : program.steps) {
    for (const Program& inner : inner_programs(step)) run(inner, kernels);
    const std::optional<std::uint32_t> number = kernel_of(step);
    if (!number) continue;
    const Device& device = program.devices[device_of(program, step)].device;
    Kernel& kernel = kernels[*number];
    kernel = backend_of(device).run_kernel_passes(std::move(kernel),
                                                  std::holds_alternative<DotStep>(step.work));
  }
}

}  // namespace

void run_kernel_passes(Program& program) {
  std::vector<Kernel> kernels = std::move(program.kernels);
  run(program, kernels);
  program.kernels = std::move(kernels);
}

}  // namespace anabranch
