#include "codegen/cuda/map_threads.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "anabranch/error.h"
#include "codegen/cuda/emit/thread_scratch.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/loop_nest.h"

namespace anabranch::cuda {
namespace {

constexpr int warp = 32;
constexpr int usual_threads = 256;  // of a block whose groups are small
constexpr std::int64_t access_bytes = 16;
constexpr std::int64_t short_row = 16;              // better left to one thread
constexpr std::int64_t warp_row = 1024;             // longer ones take a block
constexpr std::int64_t many_rows = 1 << 15;         // enough that each may go to one thread
constexpr std::int64_t turns = 4;                   // that a member of a block takes at least
constexpr std::int64_t most_fold_bytes = 40 << 10;  // of shared memory, for parts of reductions

using Access = KernelFacts::Access;

struct Mapped {
  Kernel kernel;
  ThreadMap map;
};

/// The blocks that a kernel is for: as many as it likes, of any size, or a single one.
struct Blocks {
  int threads = usual_threads;
  bool is_one = false;

  int warps() const { return std::max(threads / warp, 1); }
};

bool is_inside(const Access& access, Ref loop) {
  return std::find(access.loops.begin(), access.loops.end(), loop) != access.loops.end();
}

std::int64_t bytes_of(const Kernel& kernel, const Access& access) {
  return static_cast<std::int64_t>(byte_size(kernel.buffers[access.buffer].dtype));
}

bool is_scratch(const Kernel& kernel, const Access& access) {
  return kernel.buffers[access.buffer].access == anabranch::Access::scratch;
}

/// How many iterations of the loop a thread may take at once, so that what it reads and writes
/// next to each other is 16 bytes of the widest element; 1 where not all of its stores and most of
/// its loads are such.
int pack_of(const Kernel& kernel, const KernelFacts& facts, Ref loop) {
  std::int64_t widest = 1;
  int packed = 0, others = 0;
  for (const Access& access : facts.accesses()) {
    if (!is_inside(access, loop) || is_scratch(kernel, access)) continue;
    if (!facts.depends_on(access, loop)) continue;
    const bool is_contiguous = facts.stride(access, loop) == 1;
    if (!is_contiguous && access.is_store) return 1;
    ++(is_contiguous ? packed : others);
    widest = std::max(widest, bytes_of(kernel, access));
  }
  if (packed <= others) return 1;
  std::int64_t width = access_bytes / widest;
  const std::int64_t extent = facts.loop(loop).extent;
  width = std::gcd(width, extent);
  for (const Access& access : facts.accesses()) {
    if (!access.is_store || !is_inside(access, loop) || facts.stride(access, loop) != 1) continue;
    width = std::gcd(width, facts.known_multiple(access, loop));
  }
  return static_cast<int>(width);
}

void set_parallel(Kernel& kernel) {
  std::get<Loop>(kernel[outer_loops(kernel)[0]].operation).parallel = true;
}

/// The loop other than the innermost in which most of what is read is next to each other.
std::optional<std::size_t> transposed_loop(const Kernel& kernel, const KernelFacts& facts) {
  const std::vector<Ref>& outer = facts.outer();
  std::vector<std::int64_t> votes(outer.size());
  for (const Access& access : facts.accesses()) {
    if (access.is_store || !facts.depends_on(access, outer.back())) continue;
    if (facts.stride(access, outer.back()) == 1) continue;
    for (std::size_t i = 0; i + 1 < outer.size(); ++i) {
      if (facts.stride(access, outer[i]) == 1) votes[i] += bytes_of(kernel, access);
    }
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  if (most == votes.end() || *most == 0) return std::nullopt;
  const auto loop = static_cast<std::size_t>(most - votes.begin());
  const bool is_long = facts.loop(outer[loop]).extent >= ThreadMap::tile_size / 2 &&
                       facts.loop(outer.back()).extent >= ThreadMap::tile_size / 2;
  return is_long ? std::optional(loop) : std::nullopt;
}

// The other loops as one, then the two that tiles are of.
Mapped map_tiles(Kernel kernel, std::size_t row, const Blocks& blocks) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const std::vector<std::int64_t> old = extents_of(kernel, outer);
  std::vector<std::int64_t> others = old;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(row));
  others.pop_back();
  NewNest nest{{product(others), old[row], old.back()}, {}};
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices = table.unflatten(now[0], others);
    indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(row), now[1]);
    indices.push_back(now[2]);
    return indices;
  };
  kernel = with_nest(kernel, outer, nest);
  set_parallel(kernel);
  const auto tiles = [](std::int64_t extent) {
    return (extent + ThreadMap::tile_size - 1) / ThreadMap::tile_size;
  };
  return {std::move(kernel),
          {.groups = warp,
           .members = blocks.warps(),
           .tile_rows = tiles(old[row]),
           .tile_columns = tiles(old.back())}};
}

// The innermost loop as packs, everything else one loop over them.
Mapped map_elements(Kernel kernel, const Blocks& blocks) {
  const std::vector<Ref> outer = outer_loops(kernel);
  if (outer.empty()) return {std::move(kernel), {}};
  const KernelFacts facts(kernel);
  const auto row = blocks.warps() > 1 ? transposed_loop(kernel, facts) : std::nullopt;
  if (row) return map_tiles(std::move(kernel), *row, blocks);
  const int width = pack_of(kernel, facts, outer.back());
  std::vector<std::int64_t> old = extents_of(kernel, outer), packs = old;
  packs.back() /= width;
  NewNest nest{{product(packs)}, {}};
  if (width > 1) nest.extents.push_back(width);
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices = table.unflatten(now[0], packs);
    if (width > 1) indices.back() = table.add(table.scale(indices.back(), width), now[1]);
    return indices;
  };
  kernel = with_nest(kernel, outer, nest);
  set_parallel(kernel);
  if (width > 1) {
    std::get<Loop>(kernel[outer_loops(kernel)[1]].operation).vector_width = width;
  }
  return {std::move(kernel), {.groups = blocks.threads}};
}

/// The outer loop whose iterations are next to each other in memory where those of the loops
/// inside do not.
std::optional<std::size_t> column_loop(const Kernel& kernel, const KernelFacts& facts) {
  std::vector<std::int64_t> votes(facts.outer().size());
  std::int64_t rows = 0;
  for (const Access& access : facts.accesses()) {
    if (is_scratch(kernel, access) || access.loops.size() <= facts.outer().size()) continue;
    const std::int64_t bytes = bytes_of(kernel, access);
    const auto is_next = [&](Ref loop) {
      const auto stride = facts.stride(access, loop);
      return stride && std::abs(*stride) == 1;
    };
    if (is_next(access.loops.back())) rows += bytes;
    for (std::size_t i = 0; i < votes.size(); ++i) {
      if (is_next(facts.outer()[i])) votes[i] += bytes;
    }
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  if (most == votes.end() || *most <= rows) return std::nullopt;
  return static_cast<std::size_t>(most - votes.begin());
}

Kernel merge_outer(Kernel kernel) {
  const std::size_t count = outer_loops(kernel).size();
  if (count > 1) kernel = merged(kernel, 0, count);
  if (count > 0) set_parallel(kernel);
  return kernel;
}

Kernel with_innermost(const Kernel& kernel, std::size_t loop) {
  const std::size_t count = outer_loops(kernel).size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != loop) order.push_back(i);
  }
  order.push_back(loop);
  return reordered(kernel, order);
}

bool has_carry(const Kernel& kernel, const KernelFacts& facts) {
  return std::any_of(facts.leaves().begin(), facts.leaves().end(), [&](const auto& leaf) {
    return std::get<Loop>(kernel[leaf.loop].operation).runs_in_order();
  });
}

/// Iterations of the loops inside the outer ones, and of the longest innermost one.
struct RowLength {
  std::int64_t all = 0, innermost = 0;
};
RowLength row_length(const KernelFacts& facts) {
  RowLength length;
  for (const KernelFacts::Leaf& leaf : facts.leaves()) {
    std::int64_t all = 1;
    for (std::size_t i = facts.outer().size(); i < leaf.loops.size(); ++i) {
      all *= facts.loop(leaf.loops[i]).usual_turns();
    }
    length.all = std::max(length.all, all);
    length.innermost = std::max(length.innermost, facts.loop(leaf.loop).usual_turns());
  }
  return length;
}

/// Of shared memory, for each thread: a part of each reduction, which argmax and argmin give with
/// its place.
std::int64_t fold_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const Instruction& instruction : kernel.instructions) {
    const auto* loop = std::get_if<Loop>(&instruction.operation);
    if (!loop) continue;
    for (const Reduction& reduction : loop->reductions) {
      const auto element = static_cast<std::int64_t>(byte_size(kernel[reduction.results[0]].dtype));
      bytes += reduction.results.size() > 1 ? 16 : element;
    }
  }
  return bytes;
}

Mapped map_columns(Kernel kernel, std::size_t loop, std::int64_t columns, RowLength rows,
                   const Blocks& blocks) {
  kernel = merge_outer(with_innermost(kernel, loop));
  const std::int64_t many = blocks.is_one ? blocks.threads : many_rows;
  if (columns >= many || rows.innermost < short_row || blocks.warps() == 1) {
    return {std::move(kernel), {.groups = blocks.threads}};
  }
  if (blocks.is_one) {
    return {std::move(kernel), {.groups = warp, .members = blocks.warps(), .in_columns = true}};
  }
  const auto wanted =
      std::clamp<std::int64_t>(rows.innermost / turns, 2, ThreadMap::most_threads / warp);
  int members = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
  while (members > 2 && fold_bytes(kernel) * warp * members > most_fold_bytes) members /= 2;
  return {std::move(kernel), {.groups = warp, .members = members, .in_columns = true}};
}

/// Packs for the innermost loops, of one width where rows are kept, so that each thread comes back
/// to what it kept itself. The widest.
int set_packs(Kernel& kernel) {
  const KernelFacts facts(kernel);
  std::vector<int> widths;
  for (const KernelFacts::Leaf& leaf : facts.leaves()) {
    widths.push_back(pack_of(kernel, facts, leaf.loop));
  }
  if (facts.has_scratch()) {
    std::fill(widths.begin(), widths.end(), *std::min_element(widths.begin(), widths.end()));
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::get<Loop>(kernel[facts.leaves()[i].loop].operation).vector_width = widths[i];
  }
  return *std::max_element(widths.begin(), widths.end());
}

// Teams of one, of a warp, or of a block.
Mapped map_rows(Kernel kernel, std::int64_t rows, RowLength row, bool has_scratch,
                const Blocks& blocks) {
  kernel = merge_outer(std::move(kernel));
  const int groups = kernel.parallel_loop() ? blocks.threads : 1;
  if (row.innermost <= short_row && !has_scratch) return {std::move(kernel), {.groups = groups}};
  const int width = set_packs(kernel);
  const std::int64_t many = blocks.is_one ? blocks.warps() : many_rows / warp;
  if (row.innermost <= warp_row && (rows >= many || row.innermost <= warp)) {
    const ThreadMap map{.groups = std::max(groups / warp, 1), .members = warp};
    if (ThreadScratch(kernel, map).fits()) return {std::move(kernel), map};
  }
  const auto wanted = static_cast<std::uint64_t>(row.innermost / width / turns);
  const int members = blocks.is_one ? std::max(blocks.threads, warp)
                                    : std::clamp(static_cast<int>(std::bit_floor(wanted)), warp,
                                                 ThreadMap::most_threads);
  const ThreadMap map{.members = members};
  // A row that no shared memory holds is one thread's.
  if (!ThreadScratch(kernel, map).fits())
    return {std::move(kernel), {.groups = std::min(groups, warp)}};
  return {std::move(kernel), map};
}

Mapped share_out(Kernel kernel, const Blocks& blocks) {
  if (blocks.threads == 1) return {merge_outer(std::move(kernel)), {}};
  const KernelFacts facts(kernel);
  if (facts.leaves().empty()) return map_elements(std::move(kernel), blocks);
  const std::int64_t rows = product(extents_of(kernel, facts.outer()));
  const RowLength length = row_length(facts);
  if (has_carry(kernel, facts)) {
    return {merge_outer(std::move(kernel)), {.groups = rows > 1 ? blocks.threads : 1}};
  }
  if (!facts.has_scratch()) {
    if (const auto column = column_loop(kernel, facts)) {
      return map_columns(std::move(kernel), *column, rows, length, blocks);
    }
  }
  return map_rows(std::move(kernel), rows, length, facts.has_scratch(), blocks);
}

}  // namespace

Kernel map_threads(const Kernel& kernel, KernelContext& context) {
  if (kernel.threads) return kernel;
  const bool is_one = context.block_threads > 0;
  const Blocks blocks{.threads = is_one ? context.block_threads : usual_threads, .is_one = is_one};
  Mapped mapped = share_out(kernel, blocks);
  mapped.map.block_threads = context.block_threads;
  mapped.kernel.threads = mapped.map;
  return std::move(mapped.kernel);
}

const ThreadMap& threads_of(const Kernel& kernel) {
  if (kernel.threads) return *kernel.threads;
  throw InternalError("map_threads", "kernel " + kernel.name + " has no threads",
                      to_string(kernel));
}

std::int64_t block_count(const Kernel& kernel) {
  const ThreadMap& map = threads_of(kernel);
  if (kernel.body.empty() || kernel.extent() == 0) return 0;
  if (map.in_tiles()) return kernel.extent() * map.tile_rows * map.tile_columns;
  return (kernel.extent() + map.groups - 1) / map.groups;
}

std::int64_t shared_bytes(const Kernel& kernel) {
  const ThreadMap& map = threads_of(kernel);
  std::int64_t bytes = ThreadScratch(kernel, map).shared_bytes();
  for (const Instruction& instruction : kernel.instructions) {
    const auto element = static_cast<std::int64_t>(byte_size(instruction.dtype));
    if (map.in_tiles() && std::holds_alternative<Load>(instruction.operation)) {
      bytes += ThreadMap::tile_size * (ThreadMap::tile_size + 1) * element;
    } else if (const auto* loop = std::get_if<Loop>(&instruction.operation)) {
      // A part from each thread or each warp, which argmax and argmin give with its place.
      const auto parts = static_cast<std::int64_t>(loop->reductions.size());
      bytes += parts * 16 * (map.in_columns ? map.threads() : map.members / warp);
    }
  }
  return bytes;
}

}  // namespace anabranch::cuda
