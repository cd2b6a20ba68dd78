#include "codegen/cpu/vectorise.h"

#include <algorithm>
#include <bit>

#include "codegen/kernel/facts.h"
#include "ir/checked.h"

namespace anabranch::cpu {
namespace {

constexpr int accumulators = 16;  // vectors that stay in registers with room for operands
constexpr int most_unroll = 4;
constexpr int most_single_stores = 128;  // of one lane each: more take long to compile
constexpr int longest_turn = 96;  // operations on vectors that are worth unrolling a short loop

/// What a vector of lanes that lie apart in memory is stored by, one at a time.
std::int64_t single_stores(const KernelFacts& facts, Ref ref, int width) {
  return width * std::ranges::count_if(facts.accesses(), [&](const auto& access) {
           return access.is_store && !facts.is_contiguous(access, ref);
         });
}

/// Vectors of one turn: enough independent work to hide latencies, less where the body has plenty.
int unroll_of(const KernelFacts& facts, Ref ref, int width) {
  const KernelFacts::Weight weight = facts.weight(ref);
  int unroll = weight.cheap <= 10 ? most_unroll : weight.cheap <= 24 ? 2 : 1;
  if (weight.heavy > 0) unroll = weight.heavy <= 2 ? 2 : 1;
  std::size_t carried = 1;
  for (const KernelFacts::Leaf& leaf : facts.leaves()) {
    const Loop& inner = facts.loop(leaf.loop);
    carried = std::max(carried, inner.reductions.size());
    // A turn waits for the one before: however much it computes, little of that is side by side.
    if (inner.runs_in_order() && !(leaf.loop == ref)) unroll = most_unroll;
  }
  unroll = std::clamp(accumulators / static_cast<int>(carried), 1, unroll);
  unroll = static_cast<int>(std::bit_floor(static_cast<unsigned>(unroll)));
  while (unroll > 1 && std::int64_t{unroll} * width > facts.loop(ref).extent) unroll /= 2;
  while (unroll > 1 && unroll * single_stores(facts, ref, width) > most_single_stores) unroll /= 2;
  return unroll;
}

void vectorise(Loop& loop, const KernelFacts& facts, Ref ref, const Target& target) {
  const bool whole = std::exchange(loop.lanes, Loop::Lanes::unmarked) == Loop::Lanes::unrolled;
  if (loop.runs_in_order() || loop.extent <= 1) return;
  const auto needed = static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(loop.extent, 64))));
  loop.vector_width = std::min(lanes_of(facts.widest_element(ref), target), needed);
  loop.unroll = unroll_of(facts, ref, loop.vector_width);
  if (!whole) return;
  const KernelFacts::Weight weight = facts.weight(ref);
  const std::int64_t vectors = loop.extent / loop.vector_width;
  const std::int64_t turn = saturating_multiply(
      vectors, weight.cheap + std::int64_t{KernelFacts::heavy_operations} * weight.heavy);
  const std::int64_t stores = vectors * single_stores(facts, ref, loop.vector_width);
  if (vectors > 0 && turn <= longest_turn && stores <= most_single_stores) {
    loop.unroll = static_cast<int>(vectors);
  }
}

}  // namespace

int lanes_of(int bytes, const Target& target) { return std::max(8, target.vector_bytes / bytes); }

Kernel vectorise(const Kernel& kernel, KernelContext& context) {
  const KernelFacts facts(kernel);
  std::vector<Ref> loops;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const auto* loop = std::get_if<Loop>(&kernel.instructions[i].operation);
    if (loop && loop->lanes != Loop::Lanes::unmarked) loops.push_back(Ref{i});
  }
  if (loops.empty()) {
    for (const KernelFacts::Leaf& leaf : facts.leaves()) loops.push_back(leaf.loop);
  }
  Kernel made = kernel;
  for (Ref ref : loops) {
    vectorise(std::get<Loop>(made[ref].operation), facts, ref, context.target);
  }
  return made;
}

}  // namespace anabranch::cpu
