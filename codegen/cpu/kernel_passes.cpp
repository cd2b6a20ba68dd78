#include "codegen/cpu/kernel_passes.h"

#include "codegen/cpu/accumulate_rows.h"
#include "codegen/cpu/interchange.h"
#include "codegen/cpu/memory_passes.h"
#include "codegen/cpu/pipeline_rows.h"
#include "codegen/cpu/unroll_columns.h"
#include "codegen/cpu/vectorise.h"
#include "codegen/kernel/decompose.h"
#include "codegen/kernel/legalise_dtypes.h"
#include "codegen/kernel/loop_nest.h"
#include "codegen/kernel/split_loops.h"

namespace anabranch::cpu {
namespace {

// Threads share out the outermost loop.
Kernel parallelise(const Kernel& kernel, KernelContext&) {
  const std::vector<Ref> outer = outer_loops(kernel);
  Kernel made = kernel;
  if (!outer.empty()) std::get<Loop>(made[outer[0]].operation).parallel = true;
  return made;
}

Kernel split_at_conditions(const Kernel& kernel, KernelContext&) { return split_loops(kernel); }

constexpr KernelPass passes[] = {
    {"unroll_columns", "compute the columns of short rows side by side", unroll_columns},
    {"interchange", "put the outer loops in the order that suits vectors and caches", interchange},
    {"prefetch_rows", "fetch the next row while one is worked on", prefetch_rows},
    {"pipeline_rows", "work on several rows at once, each at another stage", pipeline_rows},
    {"accumulate_rows", "add up a few rows at a time, along them", accumulate_rows},
    {"vectorise", "make iterations the lanes of vectors", vectorise},
    {"prefetch_columns", "fetch the next columns of rows that are summed up", prefetch_columns},
    {"parallelise", "let threads share out the outermost loop", parallelise, false, true},
    {"store_past_caches", "write what no cache would hold straight to memory", store_past_caches},
    {"split_loops", "cut loops where conditions on their index change", split_at_conditions},
    decompose_pass,
    legalise_dtypes_pass,
};

}  // namespace

std::span<const KernelPass> kernel_passes() { return passes; }

}  // namespace anabranch::cpu
