#include "codegen/cpu/memory_passes.h"

#include <algorithm>

#include "codegen/kernel/facts.h"
#include "ir/checked.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t page_bytes = 4096;  // that a processor does not fetch ahead across

/// Whether it reads an argument, in two loops at least.
bool reads_rows(const Kernel& kernel, const KernelFacts::Access& access) {
  return !access.is_store && kernel.buffers[access.buffer].access == Access::read &&
         access.loops.size() >= 2;
}

std::int64_t element_bytes(const Kernel& kernel, const KernelFacts::Access& access) {
  return static_cast<std::int64_t>(byte_size(kernel.buffers[access.buffer].dtype));
}

}  // namespace

Kernel prefetch_rows(const Kernel& kernel, KernelContext& context) {
  const KernelFacts facts(kernel);
  if (facts.marked_lanes() || kernel.cost.bytes_read <= context.target.cache_bytes) {
    return kernel;
  }
  struct Row {
    std::int64_t elements = 0;
    int passes = 0;
    Ref last;
  };
  std::vector<Row> rows(kernel.buffers.size());
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!reads_rows(kernel, access)) continue;
    const auto next = facts.stride(access, access.loops.front());
    if (facts.stride(access, access.loops.back()) != 1 || !next) continue;
    const std::int64_t bytes = saturating_multiply(*next, element_bytes(kernel, access));
    if (bytes <= 0 || bytes > context.target.cache_bytes / 8) continue;
    Row& row = rows[access.buffer];
    row = {*next, row.passes + 1, access.ref};
  }
  Kernel made = kernel;
  for (const Row& row : rows) {
    if (row.passes > 1) std::get<Load>(made[row.last].operation).prefetch = row.elements;
  }
  return made;
}

Kernel prefetch_columns(const Kernel& kernel, KernelContext& context) {
  if (kernel.cost.bytes_read <= context.target.cache_bytes) return kernel;
  const KernelFacts facts(kernel);
  Kernel made = kernel;
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!reads_rows(kernel, access)) continue;
    const Ref down = access.loops.back(), along = access.loops[access.loops.size() - 2];
    const Loop& columns = facts.loop(along);
    if (columns.vector_width == 1 || facts.stride(access, along) != 1) continue;
    if (facts.loop(down).reductions.size() < 2) continue;
    const auto row = facts.stride(access, down);
    if (!row || saturating_multiply(*row, element_bytes(kernel, access)) < page_bytes) continue;
    std::get<Load>(made[access.ref].operation).prefetch =
        std::int64_t{columns.vector_width} * columns.unroll;
  }
  return made;
}

Kernel store_past_caches(const Kernel& kernel, KernelContext& context) {
  if (kernel.cost.bytes_written <= context.target.non_temporal_bytes) return kernel;
  const KernelFacts facts(kernel);
  std::vector<bool> is_read_back(kernel.buffers.size());
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!access.is_store) is_read_back[access.buffer] = true;
  }
  Kernel made = kernel;
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!access.is_store || kernel.buffers[access.buffer].access != Access::write) continue;
    if (is_read_back[access.buffer]) continue;
    const bool goes_by_vectors = std::ranges::any_of(access.loops, [&](Ref loop) {
      return facts.loop(loop).vector_width > 1 && facts.stride(access, loop) == 1;
    });
    if (goes_by_vectors) std::get<Store>(made[access.ref].operation).non_temporal = true;
  }
  return made;
}

}  // namespace anabranch::cpu
