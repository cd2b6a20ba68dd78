#include "codegen/cpu/team_loops.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/grain.h"
#include "codegen/cpu/inline_kernels.h"
#include "codegen/cpu/kernel_time.h"
#include "codegen/kernel/facts.h"

namespace anabranch::cpu {
namespace {

// To hand a part to a member and to see it done takes 0.3 us.
constexpr double least_ns_of_part = 1'000, least_ns = 2 * least_ns_of_part;
// So much of an array may belong to whichever thread: some 60 lines.
constexpr std::int64_t few_bytes = 4096;

// Where kernels hand arrays to each other.
double ns_of(const Kernel& kernel) { return kernel_ns(kernel, cached_bytes({})); }

/// Whether a part of the iterations of the parallel loop is the same part of the array, or all that
/// is touched is little.
bool keeps_its_part(const Kernel& kernel, const KernelFacts& facts,
                    const KernelFacts::Access& access) {
  const KernelBuffer& buffer = kernel.buffers[access.buffer];
  const auto bytes = static_cast<std::int64_t>(byte_size(buffer.dtype));
  if (buffer.size * bytes <= few_bytes || buffer.access == Access::scratch) return true;
  if (access.loops.empty()) return true;  // one element
  const auto stride = facts.stride(access, access.loops[0]);
  if (stride == 0) {
    const std::vector<Ref> inner(access.loops.begin() + 1, access.loops.end());
    return facts.times(inner) * static_cast<double>(bytes) <= few_bytes;
  }
  return stride && *stride > 0 && 2 * *stride * kernel.extent() > buffer.size;
}

bool is_worth_a_team(const Kernel& kernel) {
  if (kernel.extent() < 2 * cut(kernel)) return false;
  if (ns_of(kernel) < least_ns) return false;
  const KernelFacts facts(kernel);
  return std::ranges::all_of(facts.accesses(), [&](const KernelFacts::Access& access) {
    return keeps_its_part(kernel, facts, access);
  });
}

}  // namespace

std::int64_t grain_of_team(const Kernel& kernel) {
  const double part = std::min(1.0, least_ns_of_part / ns_of(kernel));
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(kernel.extent()) * part));
}

bool gains_by_team(const Program& body, std::span<const Kernel> kernels) {
  bool gains = false;
  for (const Step& step : body.steps) {
    const auto* work = std::get_if<KernelStep>(&step.work);
    if (!work) return false;
    const Kernel& kernel = kernels[work->kernel];
    if (may_be_inlined(kernel)) continue;
    if (!is_worth_a_team(kernel)) return false;
    gains = true;
  }
  return gains;
}

}  // namespace anabranch::cpu
