#include "codegen/cpu/tile.h"

#include <algorithm>
#include <bit>

#include "codegen/cpu/tile_nest.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/renest.h"
#include "codegen/kernel/stagger.h"
#include "ir/checked.h"

namespace anabranch {
namespace {

constexpr int costly = 10;        // operations of an approximate op
constexpr int accumulators = 16;  // vectors that stay in registers with room for operands

constexpr int longest_turn = 96;  // operations on vectors that are worth unrolling a short loop

/// Scalars computed in the loop, cheaply and not.
struct Weight {
  int cheap = 0, heavy = 0;
};

Weight weight_of(const KernelFacts& facts, Ref ref) {
  Weight weight;
  for (const KernelFacts::Work& work : facts.work()) {
    if (std::find(work.loops.begin(), work.loops.end(), ref) == work.loops.end()) continue;
    (work.operations >= costly ? weight.heavy : weight.cheap) += work.operations > 0;
  }
  return weight;
}

/// Vectors of one turn: enough independent work to hide latencies, less where the body has plenty.
int unroll_of(const KernelFacts& facts, Ref ref, int width) {
  const Weight weight = weight_of(facts, ref);
  int unroll = weight.cheap <= 10 ? 4 : weight.cheap <= 24 ? 2 : 1;
  if (weight.heavy > 0) unroll = weight.heavy <= 2 ? 2 : 1;
  std::size_t carried = 1;
  for (const KernelFacts::Leaf& leaf : facts.leaves()) {
    carried = std::max(carried, facts.loop(leaf.loop).reductions.size());
  }
  unroll = std::clamp(accumulators / static_cast<int>(carried), 1, unroll);
  unroll = static_cast<int>(std::bit_floor(static_cast<unsigned>(unroll)));
  while (unroll > 1 && std::int64_t{unroll} * width > facts.loop(ref).extent) unroll /= 2;
  return unroll;
}

void vectorise(Kernel& kernel, const KernelFacts& facts, Ref ref, const Target& target,
               bool unroll_whole) {
  auto& loop = std::get<Loop>(kernel[ref].operation);
  const bool in_order = std::any_of(loop.reductions.begin(), loop.reductions.end(),
                                    [](auto& r) { return r.combine == Combine::general; });
  if (in_order || loop.extent <= 1) return;
  const auto needed = static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(loop.extent, 64))));
  loop.vector_width = std::min(lanes_of(facts.widest_element(ref), target), needed);
  loop.unroll = unroll_of(facts, ref, loop.vector_width);
  const Weight weight = weight_of(facts, ref);
  const std::int64_t vectors = loop.extent / loop.vector_width;
  const std::int64_t turn =
      saturating_multiply(vectors, weight.cheap + std::int64_t{costly} * weight.heavy);
  if (unroll_whole && vectors > 0 && turn <= longest_turn) loop.unroll = static_cast<int>(vectors);
}

/// Contiguous stores of results that no cache would hold until they are read.
void bypass_caches(Kernel& kernel, const KernelFacts& facts, std::span<const Ref> vector_loops) {
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!access.is_store || kernel.buffers[access.buffer].access != Access::write) continue;
    for (Ref loop : vector_loops) {
      const bool inside =
          std::find(access.loops.begin(), access.loops.end(), loop) != access.loops.end();
      if (!inside || facts.stride(access, loop) != 1) continue;
      std::get<Store>(kernel[access.ref].operation).non_temporal = true;
    }
  }
}

/// While a row that is in the cache by now is worked on, memory would rest: the last loop over it
/// fetches the next row.
void fetch_next_rows(Kernel& kernel, const KernelFacts& facts, std::int64_t most_bytes) {
  struct Row {
    std::int64_t elements = 0;
    int passes = 0;
    Ref last;
  };
  std::vector<Row> rows(kernel.buffers.size());
  for (const KernelFacts::Access& access : facts.accesses()) {
    const KernelBuffer& buffer = kernel.buffers[access.buffer];
    if (access.is_store || buffer.access != Access::read || access.loops.size() < 2) continue;
    const auto next = facts.stride(access, access.loops.front());
    if (facts.stride(access, access.loops.back()) != 1 || !next) continue;
    const auto element = static_cast<std::int64_t>(byte_size(buffer.dtype));
    const std::int64_t bytes = saturating_multiply(*next, element);
    if (bytes <= 0 || bytes > most_bytes) continue;
    Row& row = rows[access.buffer];
    row = {*next, row.passes + 1, access.ref};
  }
  for (const Row& row : rows) {
    if (row.passes > 1) std::get<Load>(kernel[row.last].operation).prefetch = row.elements;
  }
}

constexpr std::int64_t staggered_rows = 128;  // of a block; two or three are worked on in vain

/// Whether memory would rest while rows are computed on: some pass over them has much to compute,
/// and there are rows enough that no cache holds.
bool is_worth_staggering(const Kernel& kernel, const KernelFacts& facts, const Target& target) {
  if (kernel.cost.bytes_read <= target.cache_bytes || facts.outer().size() != 1) return false;
  if (facts.loop(facts.outer()[0]).extent < 16 * staggered_rows) return false;
  std::int64_t row_bytes = 0;
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (const auto next = facts.stride(access, facts.outer()[0])) {
      const auto bytes = static_cast<std::int64_t>(byte_size(kernel[access.ref].dtype));
      row_bytes = std::max(row_bytes, saturating_multiply(*next, bytes));
    }
  }
  return row_bytes <= target.cache_bytes / 128 &&
         std::any_of(facts.leaves().begin(), facts.leaves().end(),
                     [&](auto& leaf) { return weight_of(facts, leaf.loop).heavy > 0; });
}

}  // namespace

Kernel tile(Kernel lowered, const Target& target, bool row_major) {
  TiledNest nest = choose_nest(std::move(lowered), target, row_major);
  Kernel& kernel = nest.kernel;
  if (!nest.vector_loop && kernel.cost.bytes_read > target.cache_bytes) {
    fetch_next_rows(kernel, KernelFacts(kernel), target.cache_bytes / 8);
  }
  if (!nest.vector_loop && !row_major && is_worth_staggering(kernel, KernelFacts(kernel), target)) {
    if (auto staggered = stagger(kernel, staggered_rows)) kernel = std::move(*staggered);
  }
  const KernelFacts facts(kernel);
  std::vector<Ref> vector_loops;
  if (nest.vector_loop) {
    vector_loops.push_back(facts.outer()[*nest.vector_loop]);
  } else {
    for (const KernelFacts::Leaf& leaf : facts.leaves()) vector_loops.push_back(leaf.loop);
  }
  for (Ref loop : vector_loops) vectorise(kernel, facts, loop, target, nest.unroll_whole);
  if (!facts.outer().empty()) std::get<Loop>(kernel[facts.outer()[0]].operation).parallel = true;
  if (kernel.cost.bytes_written > target.non_temporal_bytes) {
    bypass_caches(kernel, facts, vector_loops);
  }
  return std::move(nest.kernel);
}

}  // namespace anabranch
