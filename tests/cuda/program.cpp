#include "program.h"

#include "codegen/cuda/emit/program_text.h"
#include "codegen/plan/isolate.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/step_costs.h"
#include "passes/pipeline.h"

namespace anabranch::testing {

std::string cuda_text_of(const Graph& graph) {
  PassContext context;
  const Graph optimised = isolate(run_passes(default_pipeline(), graph, context, {}));
  Options options;
  options.device = Device::cuda();
  const std::vector<Device> places(optimised.nodes().size(), options.device);
  Program program = plan({optimised, places}, {&options.device, 1}, options);
  set_costs(program, options);
  return cuda::program_text(program);
}

}  // namespace anabranch::testing
