#include "codegen/kernel/fuse_loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "codegen/kernel/facts.h"

namespace anabranch {
namespace {

/// The places of an array that the first block touches; each block's are `step` further on.
struct BlockPlaces {
  std::int64_t step = 0, low = 0, high = 0;
  bool is_known = true;

  bool are_apart() const { return is_known && high - low < step; }
};

struct ArrayUse {
  BlockPlaces places;
  bool is_written = false;
  bool is_cached = true;    ///< no store goes past the caches
  bool is_in_order = true;  ///< the innermost loops go from place to place
  std::int64_t bytes = 0;
};

using ArrayUses = std::map<std::uint32_t, ArrayUse>;

BlockPlaces joined(const BlockPlaces& a, const BlockPlaces& b) {
  return {a.step, std::min(a.low, b.low), std::max(a.high, b.high),
          a.is_known && b.is_known && a.step == b.step};
}

/// One of the two kernels, its loop cut into blocks of `count` iterations.
struct Part {
  const Kernel& kernel;
  std::span<const std::uint32_t> arrays;
  Ref loop;
  std::int64_t count = 0;

  bool is_argument(std::uint32_t buffer) const { return buffer < arrays.size(); }
};

// The parallel loop, where it is in one piece and its iterations are no lanes.
Ref fusible_loop(const Kernel& kernel) {
  Ref found;
  for (Ref ref : kernel.body) {
    const auto* loop = std::get_if<Loop>(&kernel[ref].operation);
    if (!loop) continue;
    if (found || !loop->parallel || loop->vector_width > 1) return {};
    found = ref;
  }
  return found;
}

BlockPlaces places_of(const Part& part, Index index) {
  constexpr std::int64_t most = std::int64_t{1} << 61;  // so that nothing here leaves 64 bits
  const IndexTable& table = part.kernel.indices;
  const auto [low, high] = std::pair(table[index].low, table[index].high);
  const std::int64_t factor = table.factor(index, part.loop.index);
  if (factor < 0 || !table.is_linear_in(index, part.loop.index) || low < -most || high > most) {
    return {.is_known = false};
  }
  const auto& loop = std::get<Loop>(part.kernel[part.loop].operation);
  return {
      .step = factor * part.count, .low = low, .high = high - factor * (loop.extent - part.count)};
}

ArrayUses uses_of(const Part& part) {
  ArrayUses uses;
  const KernelFacts facts(part.kernel);
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!part.is_argument(access.buffer)) continue;
    const KernelBuffer& buffer = part.kernel.buffers[access.buffer];
    const BlockPlaces places = places_of(part, access.index);
    const auto [entry, is_new] = uses.try_emplace(part.arrays[access.buffer]);
    ArrayUse& use = entry->second;
    use.places = is_new ? places : joined(use.places, places);
    use.is_written |= access.is_store;
    const auto* store = std::get_if<Store>(&part.kernel[access.ref].operation);
    use.is_cached &= !store || !store->non_temporal;
    use.is_in_order &= access.loops.empty() || facts.stride(access, access.loops.back()) == 1;
    use.bytes = buffer.size * static_cast<std::int64_t>(byte_size(buffer.dtype));
  }
  return uses;
}

/// What two kernels have in common.
struct Shared {
  std::int64_t bytes = 0;      ///< that the second need not read from memory once more
  bool is_independent = true;  ///< they may run in any order
  bool first_in_order = true, second_in_order = true;  ///< how they walk those arrays
};

/// Nothing where the second must not begin before all of the first is done.
std::optional<Shared> shared(const ArrayUses& first, const ArrayUses& second) {
  Shared shared;
  for (const auto& [array, use] : second) {
    const auto found = first.find(array);
    if (found == first.end()) continue;
    const ArrayUse& before = found->second;
    const bool is_apart = joined(before.places, use.places).are_apart();
    if (use.is_written || (before.is_written && !is_apart)) return std::nullopt;
    shared.is_independent &= !before.is_written;
    if (!is_apart || !before.is_cached) continue;
    shared.bytes += use.bytes;
    shared.first_in_order &= before.is_in_order;
    shared.second_in_order &= use.is_in_order;
  }
  return shared;
}

/// Writes both kernels into one.
class Fusion {
 public:
  Fusion(const Part& first, const Part& second, std::int64_t blocks) {
    made_.name = first.kernel.name + "_" + second.kernel.name;
    add_arguments(first);
    add_arguments(second);
    Loop loop;
    loop.extent = blocks;
    loop.parallel = true;
    made_.instructions.push_back({std::move(loop), Dtype::i64, {}});
    append(first);
    append(second);
    made_.body.push_back(block_);
  }

  FusedLoops take(std::int64_t shared_bytes) {
    made_.cost.bytes_read = std::max<std::int64_t>(0, made_.cost.bytes_read - shared_bytes);
    return {std::move(made_), std::move(arrays_)};
  }

 private:
  void add_arguments(const Part& part) {
    for (std::uint32_t i = 0; i < part.arrays.size(); ++i) {
      if (buffer_of(part.arrays[i]) < arrays_.size()) continue;
      arrays_.push_back(part.arrays[i]);
      KernelBuffer buffer = part.kernel.buffers[i];
      const bool is_read = buffer.access == Access::read;
      buffer.name = (is_read ? "in" : "out") + std::to_string((is_read ? reads_ : writes_)++);
      made_.buffers.push_back(std::move(buffer));
    }
  }

  // The number of arrays where there is none yet.
  std::uint32_t buffer_of(std::uint32_t array) const {
    std::uint32_t buffer = 0;
    while (buffer < arrays_.size() && arrays_[buffer] != array) ++buffer;
    return buffer;
  }

  // What each of the part's buffers is now.
  std::vector<std::uint32_t> buffers_of(const Part& part) {
    std::vector<std::uint32_t> now;
    for (std::uint32_t i = 0; i < part.kernel.buffers.size(); ++i) {
      if (part.is_argument(i)) {
        now.push_back(buffer_of(part.arrays[i]));
        continue;
      }
      now.push_back(static_cast<std::uint32_t>(made_.buffers.size()));
      made_.buffers.push_back(part.kernel.buffers[i]);
      made_.buffers.back().name = "scratch" + std::to_string(scratches_++);
    }
    return now;
  }

  void append(const Part& part) {
    const std::vector<std::uint32_t> buffers = buffers_of(part);
    const auto offset = static_cast<std::uint32_t>(made_.instructions.size());
    const auto moved = [&](Ref& ref) {
      if (ref) ref.index += offset;
    };
    const auto all_moved = [&](std::vector<Ref>& refs) {
      for (Ref& ref : refs) moved(ref);
    };
    IndexCopier copy(part.kernel.indices, made_.indices);
    copy.set_scalars([&](std::uint32_t scalar) { return scalar + offset; });
    made_.instructions.insert(made_.instructions.end(), part.kernel.instructions.begin(),
                              part.kernel.instructions.end());
    for (std::uint32_t i = offset; i < made_.instructions.size(); ++i) {
      if (auto* loop = std::get_if<Loop>(&made_.instructions[i].operation)) {
        copy.set_loop(i - offset, index_in(part, *loop, Ref{i}, Ref{i - offset} == part.loop));
      }
    }
    for (std::uint32_t i = offset; i < made_.instructions.size(); ++i) {
      Operation& operation = made_.instructions[i].operation;
      if (auto* loop = std::get_if<Loop>(&operation)) {
        all_moved(loop->body);
        for (Reduction& reduction : loop->reductions) {
          all_moved(reduction.initial);
          all_moved(reduction.values);
          all_moved(reduction.results);
          all_moved(reduction.so_far);
        }
      } else if (auto* result = std::get_if<Result>(&operation)) {
        moved(result->loop);
      } else if (auto* compute = std::get_if<Compute>(&operation)) {
        all_moved(compute->operands);
      } else if (auto* value = std::get_if<IndexValue>(&operation)) {
        value->index = copy(value->index);
      } else if (auto* load = std::get_if<Load>(&operation)) {
        load->buffer = buffers[load->buffer];
        load->index = copy(load->index);
        moved(load->mask);
      } else if (auto* store = std::get_if<Store>(&operation)) {
        store->buffer = buffers[store->buffer];
        store->index = copy(store->index);
        moved(store->value);
      }
    }
    for (Ref ref : part.kernel.body) {
      const bool is_loop = ref == part.loop;
      moved(ref);
      (is_loop ? std::get<Loop>(made_[block_].operation).body : made_.body).push_back(ref);
    }
    made_.cost += part.kernel.cost;
    made_.graph_text += part.kernel.graph_text;
  }

  // What the index of a loop that is now `ref` has become; the parallel loop runs over a block.
  Index index_in(const Part& part, Loop& loop, Ref ref, bool is_parallel) {
    if (!is_parallel) return made_.indices.loop(ref.index, loop.extent, loop.first);
    loop.parallel = false;
    loop.extent = part.count;
    const Index block = made_.indices.scale(made_.index_of(block_), part.count);
    return made_.indices.add(block, made_.indices.loop(ref.index, part.count));
  }

  Kernel made_;
  std::vector<std::uint32_t> arrays_;
  const Ref block_{0};  // the loop over blocks
  int reads_ = 0, writes_ = 0, scratches_ = 0;
};

}  // namespace

std::optional<FusedLoops> fuse_loops(const KernelOnArrays& first, const KernelOnArrays& second,
                                     const LoopFusionCosts& costs) {
  Part a{first.kernel, first.arrays, fusible_loop(first.kernel)};
  Part b{second.kernel, second.arrays, fusible_loop(second.kernel)};
  if (!a.loop || !b.loop) return std::nullopt;
  const std::size_t instructions = a.kernel.instructions.size() + b.kernel.instructions.size();
  if (instructions > costs.most_instructions) return std::nullopt;
  const std::int64_t blocks = std::gcd(a.kernel.extent(), b.kernel.extent());
  if (blocks < costs.least_blocks) return std::nullopt;
  a.count = a.kernel.extent() / blocks;
  b.count = b.kernel.extent() / blocks;
  const std::optional<Shared> both = shared(uses_of(a), uses_of(b));
  if (!both || both->bytes < costs.least_shared_bytes) return std::nullopt;
  // Memory is read fastest in the order of places; what is in a cache may be read in any.
  const bool swaps = both->is_independent && !both->first_in_order && both->second_in_order;
  const Part &early = swaps ? b : a, &late = swaps ? a : b;
  const Cost& cost = early.kernel.cost;
  if ((cost.bytes_read + cost.bytes_written) / blocks > costs.most_block_bytes) return std::nullopt;
  return Fusion(early, late, blocks).take(both->bytes);
}

}  // namespace anabranch
