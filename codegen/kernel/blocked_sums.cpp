#include "codegen/kernel/blocked_sums.h"

#include <algorithm>

namespace anabranch {

bool is_blocked(const Kernel& kernel, const Reduction& reduction) {
  return reduction.combine == Combine::sum && is_float(kernel[reduction.results[0]].dtype);
}

std::vector<std::int64_t> sum_blocks(const Kernel& kernel, const Loop& loop, std::int64_t turns,
                                     std::int64_t terms) {
  std::vector<std::int64_t> sizes;
  const auto blocked = std::ranges::count_if(
      loop.reductions, [&](const Reduction& reduction) { return is_blocked(kernel, reduction); });
  if (blocked == 0) return sizes;
  const std::int64_t in_block =
      blocked < many_sums ? terms_per_block : terms_per_block * blocks_per_block;
  std::int64_t size = std::max<std::int64_t>(in_block / terms, 1);
  for (; size < turns && sizes.size() < most_levels; size *= blocks_per_block) {
    sizes.push_back(size);
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace anabranch
