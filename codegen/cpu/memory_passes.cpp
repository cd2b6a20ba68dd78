#include "codegen/cpu/memory_passes.h"

#include <algorithm>

#include "codegen/cpu/cpu_model.h"
#include "codegen/cpu/square_stores.h"
#include "codegen/kernel/facts.h"

namespace anabranch::cpu {
namespace {

/// Whether it reads an argument, in two loops at least.
bool reads_rows(const Kernel& kernel, const KernelFacts::Access& access) {
  return !access.is_store && kernel.buffers[access.buffer].access == Access::read &&
         access.loops.size() >= 2;
}

/// By instruction: whether it is a store of a square.
std::vector<bool> stores_in_squares(const Kernel& kernel) {
  std::vector<bool> found(kernel.instructions.size());
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    const auto* loop = std::get_if<Loop>(&kernel.instructions[i].operation);
    if (!loop || loop->vector_width == 1) continue;
    for (const SquareStores& square : square_stores(kernel, Ref{i})) {
      for (Ref store : square) found[store.index] = true;
    }
  }
  return found;
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
    const std::int64_t bytes = *facts.stride_bytes(access, access.loops.front());
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
    if (facts.stride_bytes(access, down).value_or(0) < page_bytes) continue;
    std::get<Load>(made[access.ref].operation).prefetch =
        std::int64_t{columns.vector_width} * columns.unroll;
  }
  return made;
}

Kernel store_past_caches(const Kernel& kernel, KernelContext& context) {
  if (kernel.cost.bytes_written <= context.target.non_temporal_bytes) return kernel;
  const KernelFacts facts(kernel);
  const std::vector<bool> in_square = stores_in_squares(kernel);
  Kernel made = kernel;
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!access.is_store || kernel.buffers[access.buffer].access != Access::write) continue;
    if (is_loaded(kernel, kernel.body, access.buffer)) continue;
    const bool is_contiguous = std::ranges::any_of(access.loops, [&](Ref loop) {
      return facts.loop(loop).vector_width > 1 && facts.stride(access, loop) == 1;
    });
    const bool goes_by_vectors = is_contiguous || in_square[access.ref.index];
    if (goes_by_vectors) std::get<Store>(made[access.ref].operation).non_temporal = true;
  }
  return made;
}

}  // namespace anabranch::cpu
