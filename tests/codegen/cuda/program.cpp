#include "program.h"

#include "codegen/cuda/emit/program_text.h"
#include "codegen/plan/plan.h"
#include "codegen/program_passes.h"
#include "passes/pipeline.h"

namespace anabranch::testing {

std::string cuda_text_of(const Graph& graph) {
  PassContext context;
  const Graph optimised = run_passes(default_pipeline(), graph, context, {});
  Options options;
  options.device = Device::cuda();
  const std::vector<Device> places(optimised.nodes().size(), options.device);
  ProgramContext scheduling{.options = options};
  return cuda::program_text(run_passes(
      program_passes(), plan({optimised, places}, {&options.device, 1}, options), scheduling));
}

}  // namespace anabranch::testing
