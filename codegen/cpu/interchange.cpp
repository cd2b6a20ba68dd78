#include "codegen/cpu/interchange.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/square_stores.h"
#include "codegen/cpu/vectorise.h"
#include "codegen/kernel/facts.h"
#include "codegen/kernel/loop_nest.h"

namespace anabranch::cpu {
namespace {

struct ChosenNest {
  Kernel kernel;
  std::optional<std::size_t> lanes;  ///< which of the outer loops
  bool unroll_whole = false;
};

using Extents = std::vector<std::int64_t>;

constexpr std::int64_t short_loop = 16;      // too short to be vectorised alone
constexpr std::int64_t few_iterations = 32;  // too few to keep several threads busy
constexpr std::int64_t long_loop = 512;
constexpr std::size_t inside_out[] = {1, 0};  // the order of two loops
constexpr std::int64_t tile_size = 32;  // of transposed accesses: a cache line or two of each row

// Costs in vector instructions.
constexpr double horizontal_cost = 6;
constexpr double operation_cost = 0.5;

/// The size of tiles of a loop: all of a short one, or the divisor near `tile_size` whose vectors
/// are the fullest, or all for want of one.
std::int64_t tile_of(std::int64_t extent, int lanes) {
  if (extent <= 2 * tile_size) return extent;
  std::int64_t best = extent;
  const auto fullness = [&](std::int64_t size) {
    const std::int64_t vectors = (size + lanes - 1) / lanes;
    return static_cast<double>(size) / static_cast<double>(vectors * lanes);
  };
  for (std::int64_t distance = 0; distance <= tile_size / 2; ++distance) {
    for (std::int64_t size : {tile_size - distance, tile_size + distance}) {
      if (extent % size != 0) continue;
      if (best == extent || fullness(size) > fullness(best)) best = size;
    }
  }
  return best;
}

/// Tiles of loop `row` and the innermost loop: one loop over all tiles, two inside each.
Kernel tiled(const Kernel& kernel, std::size_t row, int lanes) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const Extents old = extents_of(kernel, outer);
  const std::int64_t row_tile = tile_of(old[row], lanes), tile = tile_of(old.back(), lanes);
  Extents tiles = old;
  tiles[row] /= row_tile;
  tiles.back() /= tile;
  NewNest nest{{product(tiles), row_tile, tile}, {}};
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices = table.unflatten(now[0], tiles);
    indices[row] = table.add(table.scale(indices[row], row_tile), now[1]);
    indices.back() = table.add(table.scale(indices.back(), tile), now[2]);
    return indices;
  };
  return with_nest(kernel, outer, nest);
}

/// The outer loop in which most loads that jump in the innermost one are contiguous.
std::optional<std::size_t> transposed_loop(const KernelFacts& facts) {
  const std::vector<Ref>& outer = facts.outer();
  std::vector<int> votes(outer.size());
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (access.is_store || facts.is_contiguous(access, outer.back())) continue;
    for (std::size_t i = 0; i + 1 < outer.size(); ++i) {
      const auto stride = facts.stride(access, outer[i]);
      votes[i] += stride && std::abs(*stride) == 1;
    }
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  if (most == votes.end() || *most == 0) return std::nullopt;
  return static_cast<std::size_t>(most - votes.begin());
}

// Of squares one beside the other, which are a tile: what is written of a row.
constexpr std::int64_t longest_tile = 128;
/// Instructions of the innermost loop, written out, that are worth it.
constexpr std::int64_t most_written_out = 160;

/// Whether all that is read is contiguous in loop `row`, or the same, and its results can be
/// stored as squares: contiguous in the innermost loop (codegen/cpu/square_stores.h).
bool makes_squares(const Kernel& kernel, const KernelFacts& facts, std::size_t row, int lanes) {
  const Ref reads = facts.outer()[row], writes = facts.outer().back();
  for (const KernelFacts::Access& access : facts.accesses()) {
    const auto along = facts.stride(access, access.is_store ? writes : reads);
    if (along != 1 && (access.is_store || along != 0)) return false;
    if (!access.is_store) continue;
    const auto far = facts.stride(access, reads);
    if (!far || *far < lanes || !fits_square(kernel.buffers[access.buffer].dtype)) return false;
  }
  const KernelFacts::Weight weight = facts.weight(writes);
  const std::int64_t operations = static_cast<std::int64_t>(facts.accesses().size()) +
                                  weight.cheap +
                                  std::int64_t{KernelFacts::heavy_operations} * weight.heavy;
  return operations * lanes <= most_written_out && facts.loop(reads).extent >= lanes &&
         facts.loop(writes).extent >= lanes;
}

/// Tiles of a vector of loop `row`, whose iterations become lanes, and of several of the innermost
/// one, of which as many iterations as there are lanes are written out. The tiles at the ends
/// overlap those before them where they do not fit.
Kernel in_squares(const Kernel& kernel, std::size_t row, int lanes) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const Extents old = extents_of(kernel, outer);
  const std::size_t last = old.size() - 1;
  const std::int64_t along = std::min(old[last], longest_tile) / lanes * lanes;
  const auto tiles_of = [](std::int64_t extent, std::int64_t size) {
    return (extent + size - 1) / size;
  };
  Extents tiles = old;
  tiles[row] = tiles_of(old[row], lanes);
  tiles[last] = tiles_of(old[last], along);
  // Tiles follow each other along what is read: loop `row` is the innermost of those over tiles.
  std::rotate(tiles.begin() + static_cast<std::ptrdiff_t>(row),
              tiles.begin() + static_cast<std::ptrdiff_t>(row) + 1, tiles.end());
  NewNest nest{{product(tiles), along / lanes, lanes, lanes}, {}};
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices = table.unflatten(now[0], tiles);
    std::rotate(indices.begin() + static_cast<std::ptrdiff_t>(row), indices.end() - 1,
                indices.end());
    const auto place = [&](std::size_t loop, std::int64_t size, Index inside) {
      const Index start = table.least(table.scale(indices[loop], size), old[loop] - size);
      indices[loop] = table.add(start, inside);
    };
    place(row, lanes, now[2]);
    place(last, along, table.add(table.scale(now[1], lanes), now[3]));
    return indices;
  };
  return unrolled(with_nest(kernel, outer, nest), 3);
}

/// A divisor of `extent` that makes `extent` rows of a short loop whole vectors, or 1.
std::int64_t rows_per_turn(std::int64_t extent, int lanes) {
  for (std::int64_t rows = lanes; rows > lanes / 4; --rows) {
    if (extent % rows == 0) return rows;
  }
  return 1;
}

/// Loop 0 as two, the inner one of `size` iterations.
Kernel split(const Kernel& kernel, std::int64_t size) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const std::int64_t extent = extents_of(kernel, outer)[0];
  NewNest nest{{extent / size, size}, {}};
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    return std::vector<Index>{table.add(table.scale(now[0], size), now[1])};
  };
  return with_nest(kernel, outer, nest);
}

ChosenNest elementwise_nest(Kernel kernel, const Target& target, bool row_major) {
  Extents extents = extents_of(kernel, outer_loops(kernel));
  if (extents.empty()) return {std::move(kernel), std::nullopt, false};

  // A short innermost loop: merged with those around it until it is long.
  std::size_t first = extents.size() - 1;
  std::int64_t innermost = extents.back();
  while (first > 0 && innermost < short_loop) innermost *= extents[--first];
  const std::int64_t period = extents.back();
  const bool merges = first + 1 < extents.size();
  if (merges) kernel = merged(kernel, first, extents.size());
  extents.resize(first);
  extents.push_back(innermost);
  if (merges && first == 0 && !row_major) {
    // What goes by the place in the short loop repeats: vectors of whole periods see the same
    // numbers.
    const Ref loop = outer_loops(kernel)[0];
    const int lanes = lanes_of(KernelFacts(kernel).widest_element(loop), target);
    const std::int64_t rows = rows_per_turn(innermost / period, lanes);
    if (rows > 1 && innermost > rows * period) return {split(kernel, rows * period), 1, true};
  }

  if (!row_major && extents.size() > 1) {
    const KernelFacts facts(kernel);
    const auto row = transposed_loop(facts);
    if (row && extents[*row] >= short_loop) {
      const int lanes = lanes_of(facts.widest_element(facts.outer().back()), target);
      if (makes_squares(kernel, facts, *row, lanes))
        return {in_squares(kernel, *row, lanes), 2, false};
      const std::int64_t tiles =
          product(extents) / (tile_of(extents[*row], lanes) * tile_of(extents.back(), lanes));
      if (tiles >= few_iterations || tiles >= extents[0]) {
        return {tiled(kernel, *row, lanes), 2, false};
      }
    }
  }
  if (extents.size() > 2 && extents[0] < 2 * few_iterations) {
    kernel = merged(kernel, 0, extents.size() - 1);
    extents = {product(extents) / innermost, innermost};
  }
  if (!row_major && extents.size() == 2 && extents[0] < few_iterations &&
      innermost >= 8 * long_loop) {
    return {reordered(kernel, inside_out), 0, false};
  }
  return {std::move(kernel), extents.size() - 1, false};
}

// --- kernels with loops inside the outer ones
// ------------------------------------------------------

/// What the kernel would cost with one loop as lanes: `outer` for all, or (none) each leaf for
/// itself, whose turns do not wait for each other.
double lane_cost(const KernelFacts& facts, std::optional<Ref> outer, const Target& target) {
  double cost = 0;
  auto lanes_loop = [&](const std::vector<Ref>& loops) -> std::optional<Ref> {
    if (outer) return *outer;
    for (const KernelFacts::Leaf& leaf : facts.leaves()) {
      if (loops.empty() || !(loops.back() == leaf.loop)) continue;
      if (!facts.loop(leaf.loop).runs_in_order()) return leaf.loop;
    }
    return std::nullopt;
  };
  auto groups = [&](const std::vector<Ref>& loops, Ref loop, int lanes) {
    const auto extent = static_cast<double>(facts.loop(loop).usual_turns());
    return facts.times(loops) / extent * std::ceil(extent / lanes);
  };
  for (const KernelFacts::Access& access : facts.accesses()) {
    const auto loop = lanes_loop(access.loops);
    const bool inside =
        loop && std::find(access.loops.begin(), access.loops.end(), *loop) != access.loops.end();
    if (!inside) {
      cost += facts.times(access.loops);
      continue;
    }
    const int lanes = lanes_of(facts.widest_element(*loop), target);
    const double per_group = facts.is_contiguous(access, *loop) ? 1 : lanes;
    cost += groups(access.loops, *loop, lanes) * per_group;
  }
  for (const KernelFacts::Work& work : facts.work()) {
    const auto loop = lanes_loop(work.loops);
    const bool inside =
        loop && std::find(work.loops.begin(), work.loops.end(), *loop) != work.loops.end();
    const double runs =
        inside ? groups(work.loops, *loop, lanes_of(facts.widest_element(*loop), target))
               : facts.times(work.loops);
    cost += runs * work.operations * operation_cost;
  }
  if (outer) return cost;
  for (const KernelFacts::Leaf& leaf : facts.leaves()) {
    if (facts.loop(leaf.loop).runs_in_order()) continue;
    const double runs =
        facts.times(leaf.loops) / static_cast<double>(facts.loop(leaf.loop).usual_turns());
    cost += runs * static_cast<double>(facts.loop(leaf.loop).reductions.size()) * horizontal_cost;
  }
  return cost;
}

/// Whether some load moves with `lanes` but is the same in every iteration of the other outer
/// loops.
bool is_shared(const KernelFacts& facts, Ref lanes) {
  return std::any_of(facts.accesses().begin(), facts.accesses().end(), [&](const auto& access) {
    return !access.is_store && facts.depends_on(access, lanes) &&
           std::none_of(facts.outer().begin(), facts.outer().end(), [&](Ref loop) {
             return !(loop == lanes) && facts.depends_on(access, loop);
           });
  });
}

ChosenNest nest_around_leaves(Kernel kernel) {
  const std::size_t outer = outer_loops(kernel).size();
  if (outer > 1) kernel = merged(kernel, 0, outer);
  return {std::move(kernel), std::nullopt, false};
}

ChosenNest nest_of_lanes(Kernel kernel, std::size_t lanes, bool shared) {
  Extents extents = extents_of(kernel, outer_loops(kernel));
  const std::size_t last = extents.size() - 1;
  if (lanes != last) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i <= last; ++i) {
      if (i != lanes) order.push_back(i);
    }
    order.push_back(lanes);
    kernel = reordered(kernel, order);
    extents = extents_of(kernel, outer_loops(kernel));
  }
  if (last == 0) return {std::move(kernel), 0, false};
  const std::int64_t rows = product(std::span(extents).first(last));
  if (last > 1) kernel = merged(kernel, 0, last);
  // Outside, the lanes read what the rows share once; and where rows are few, they are the
  // threads'.
  if (extents.back() >= long_loop && (shared || rows < few_iterations)) {
    return {reordered(kernel, inside_out), 0, false};
  }
  return {std::move(kernel), 1, false};
}

ChosenNest reduction_nest(Kernel kernel, const Target& target) {
  std::optional<std::size_t> best;
  bool shared = false;
  {
    const KernelFacts facts(kernel);
    double least = lane_cost(facts, std::nullopt, target);
    // Scratch holds one row: not one for each lane.
    const std::size_t candidates = facts.has_scratch() ? 0 : facts.outer().size();
    for (std::size_t i = 0; i < candidates; ++i) {
      const double cost = lane_cost(facts, facts.outer()[i], target);
      if (cost >= least) continue;
      least = cost;
      best = i;
    }
    if (best) shared = is_shared(facts, facts.outer()[*best]);
  }
  return best ? nest_of_lanes(std::move(kernel), *best, shared)
              : nest_around_leaves(std::move(kernel));
}

}  // namespace

Kernel interchange(const Kernel& kernel, KernelContext& context) {
  const bool has_leaves = !KernelFacts(kernel).leaves().empty();
  ChosenNest nest = has_leaves ? reduction_nest(kernel, context.target)
                               : elementwise_nest(kernel, context.target, context.row_major);
  if (!nest.lanes) return std::move(nest.kernel);
  const Ref lanes = outer_loops(nest.kernel)[*nest.lanes];
  std::get<Loop>(nest.kernel[lanes].operation).lanes =
      nest.unroll_whole ? Loop::Lanes::unrolled : Loop::Lanes::marked;
  return std::move(nest.kernel);
}

}  // namespace anabranch::cpu
