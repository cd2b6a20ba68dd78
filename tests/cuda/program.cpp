#include "program.h"

#include "codegen/cuda/emit/program_text.h"
#include "codegen/plan/isolate.h"
#include "passes/pipeline.h"

namespace anabranch::testing {

std::string cuda_text_of(const Graph& graph) {
  PassContext context;
  const Graph optimised = isolate(run_passes(default_pipeline(), graph, context, {}));
  const Device device;
  const std::vector<Device> places(optimised.nodes().size(), device);
  std::vector<Kernel> kernels;
  Launches launches = plan_launches({optimised, places}, {&device, 1}, {}, kernels);
  return cuda::program_text(std::move(launches), kernels);
}

}  // namespace anabranch::testing
