#include "codegen/cpu/pipeline_rows.h"

#include <algorithm>

#include "codegen/kernel/facts.h"
#include "codegen/kernel/software_pipeline.h"
#include "codegen/memory/in_place.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t rows_per_block = 128;  // two or three are worked on in vain

bool is_worth_it(const Kernel& kernel, const Target& target) {
  const KernelFacts facts(kernel);
  if (facts.marked_lanes() || facts.outer().size() != 1) return false;
  if (kernel.cost.bytes_read <= target.cache_bytes) return false;
  if (facts.loop(facts.outer()[0]).extent < 16 * rows_per_block) return false;
  std::int64_t row_bytes = 0;
  for (const KernelFacts::Access& access : facts.accesses()) {
    row_bytes = std::max(row_bytes, facts.stride_bytes(access, facts.outer()[0]).value_or(0));
  }
  return row_bytes <= target.cache_bytes / 128 &&
         std::any_of(facts.leaves().begin(), facts.leaves().end(),
                     [&](auto& leaf) { return facts.weight(leaf.loop).heavy > 0; });
}

}  // namespace

Kernel pipeline_rows(const Kernel& kernel, KernelContext& context) {
  if (context.row_major || !is_worth_it(kernel, context.target)) return kernel;
  if (may_be_in_place(kernel)) return kernel;  // rows are written too early first
  return software_pipeline(kernel, rows_per_block).value_or(kernel);
}

}  // namespace anabranch::cpu
