#include "codegen/kernel/split_loops.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "codegen/kernel/combine_op.h"
#include "codegen/kernel/index_range.h"
#include "codegen/kernel/loop_pieces.h"

namespace anabranch {
namespace {

// What runs less often than this share of a kernel's iterations stays in one piece.
constexpr double least_share = 1.0 / 32;
// By how much what a loop holds may grow, and the whole kernel.
constexpr std::size_t most_growth = 4, most_growth_of_kernel = 8, free_growth = 256;
constexpr std::size_t few_pieces = 8;  // more are not unrolled

/// Copies a kernel from the outside in. While a piece of a loop is copied, conditions are known
/// that are not in the whole loop: what they leave out is not copied.
class Splitter {
 public:
  /// Cuts all loops, or `only` one.
  explicit Splitter(const Kernel& kernel, Ref only)
      : old_(kernel),
        only_(only),
        range_(kernel),
        places_(kernel.instructions.size()),
        effects_(kernel.instructions.size() + 1),
        now_(kernel.instructions.size()),
        visited_(kernel.instructions.size()),
        place_(kernel.indices, made_.indices) {
    place_.set_scalars([this](std::uint32_t old) { return now_[old].index; });
    made_.name = kernel.name;
    made_.buffers = kernel.buffers;
    made_.cost = kernel.cost;
    made_.graph_text = kernel.graph_text;
    find_places(kernel.body, {}, 0);
  }

  Kernel run() {
    made_.body = copy_block({}, 1);
    return std::move(made_);
  }

 private:
  /// Where an instruction stands: in the body of a loop (none: of the kernel). What belongs to a
  /// loop without standing in it is in no block.
  struct Place {
    Ref home;
    std::uint32_t depth = no_block, position = 0;
  };
  static constexpr std::uint32_t no_block = UINT32_MAX;

  /// What is needed with the loops held as they are.
  struct Needed {
    std::vector<Ref> here;  ///< in the block that was asked about, in order
    std::vector<Ref> comparisons;
    std::size_t size = 0;  ///< with the blocks inside
  };

  const Loop& loop(Ref ref) const { return std::get<Loop>(old_[ref].operation); }

  std::vector<Ref>& effects(Ref home) { return home ? effects_[home.index] : effects_.back(); }

  void find_places(const Block& block, Ref home, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < block.size(); ++i) {
      const Ref ref = block[i];
      places_[ref.index] = {home, depth, i};
      if (has_effect(old_[ref].operation)) effects(home).push_back(ref);
      if (!std::holds_alternative<Loop>(old_[ref].operation)) continue;
      find_places(loop(ref).body, ref, depth + 1);
    }
  }

  // What stays whether or not its value is needed. The place of a load of memory that the kernel
  // writes matters, among the stores.
  bool has_effect(const Operation& operation) const {
    if (const auto* load = std::get_if<Load>(&operation)) {
      return old_.buffers[load->buffer].access != Access::read;
    }
    return std::holds_alternative<Store>(operation) || std::holds_alternative<Loop>(operation);
  }

  // --- what is needed

  Needed needed_in(Ref home) {
    ++visit_;
    Needed needed;
    const std::uint32_t depth = home ? places_[home.index].depth + 1 : 0;
    std::vector<Ref> open = effects(home);
    if (home) push_reductions(loop(home), open);
    while (!open.empty()) {
      const Ref ref = open.back();
      open.pop_back();
      if (visited_[ref.index] == visit_ || places_[ref.index].depth < depth) continue;
      visited_[ref.index] = visit_;
      ++needed.size;
      const Place& place = places_[ref.index];
      if (place.depth == depth && place.home == home) needed.here.push_back(ref);
      push_operands(ref, open, needed);
    }
    std::sort(needed.here.begin(), needed.here.end(),
              [&](Ref a, Ref b) { return places_[a.index].position < places_[b.index].position; });
    return needed;
  }

  static void push(std::span<const Ref> refs, std::vector<Ref>& open) {
    open.insert(open.end(), refs.begin(), refs.end());
  }

  void push_scalars(Index index, std::vector<Ref>& open) const {
    for_each_scalar(old_, index, [&](Ref ref) { open.push_back(ref); });
  }

  static void push_reductions(const Loop& loop, std::vector<Ref>& open) {
    for (const Reduction& reduction : loop.reductions) {
      push(reduction.values, open);
    }
  }

  void push_operands(Ref ref, std::vector<Ref>& open, Needed& needed) {
    const Operation& operation = old_[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      if (range_.condition(ref)) return;
      if (compute->op == Op::compare) needed.comparisons.push_back(ref);
      const auto same = same_as(*compute);
      push(same ? std::span(&*same, 1) : std::span(compute->operands), open);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      const auto mask = load->mask ? range_.condition(load->mask) : true;
      if (mask == false) return;
      push_scalars(load->index, open);
      if (!mask) open.push_back(load->mask);
    } else if (const auto* store = std::get_if<Store>(&operation)) {
      push_scalars(store->index, open);
      open.push_back(store->value);
    } else if (const auto* position = std::get_if<IndexValue>(&operation)) {
      push_scalars(position->index, open);
    } else if (const auto* result = std::get_if<Result>(&operation)) {
      open.push_back(result->loop);
    } else if (std::holds_alternative<Loop>(operation)) {
      push(effects(ref), open);
      push_reductions(loop(ref), open);
      for (const Reduction& reduction : loop(ref).reductions) push(reduction.initial, open);
    }
  }

  // The operand that a value is, by conditions that are known.
  std::optional<Ref> same_as(const Compute& compute) {
    const auto& operands = compute.operands;
    if (compute.op == Op::select) {
      const auto which = range_.condition(operands[0]);
      return which ? std::optional(operands[*which ? 1 : 2]) : std::nullopt;
    }
    if (compute.op != Op::and_ && compute.op != Op::or_) return std::nullopt;
    for (std::size_t i : {0u, 1u}) {
      if (range_.condition(operands[i]) == (compute.op == Op::and_)) return operands[1 - i];
    }
    return std::nullopt;
  }

  // --- copies

  Ref append(Instruction instruction) {
    made_.instructions.push_back(std::move(instruction));
    return {static_cast<std::uint32_t>(made_.instructions.size() - 1)};
  }

  Ref append(Operation operation, Ref like, Block& to) {
    to.push_back(append({std::move(operation), old_[like].dtype, old_[like].location}));
    return to.back();
  }

  Ref now(Ref ref) const { return ref ? now_[ref.index] : ref; }

  std::vector<Ref> now(std::span<const Ref> refs) const {
    std::vector<Ref> made;
    for (Ref ref : refs) made.push_back(now(ref));
    return made;
  }

  Block copy_block(Ref home, double share) {
    Block block;
    for (Ref ref : needed_in(home).here) copy(ref, block, share);
    return block;
  }

  void copy(Ref ref, Block& to, double share) {
    const Operation& operation = old_[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      now_[ref.index] = copy(ref, *compute, to);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      now_[ref.index] = copy(ref, *load, to);
    } else if (const auto* store = std::get_if<Store>(&operation)) {
      append(Store{store->buffer, place_(store->index), now(store->value), store->non_temporal},
             ref, to);
    } else if (const auto* position = std::get_if<IndexValue>(&operation)) {
      now_[ref.index] = append(IndexValue{place_(position->index)}, ref, to);
    } else if (std::holds_alternative<Loop>(operation)) {
      copy_loop(ref, to, share);
    } else if (!std::holds_alternative<Result>(operation)) {  // which come with their loop
      now_[ref.index] = append(operation, ref, to);
    }
  }

  Ref copy(Ref ref, const Compute& compute, Block& to) {
    if (const auto known = range_.condition(ref)) {
      return append(ConstantInstruction{*known ? 1u : 0u}, ref, to);
    }
    if (const auto same = same_as(compute)) return now(*same);
    return append(Compute{compute.op, now(compute.operands), compute.direction}, ref, to);
  }

  Ref copy(Ref ref, const Load& load, Block& to) {
    const auto mask = load.mask ? range_.condition(load.mask) : true;
    if (mask == false) return append(ConstantInstruction{0}, ref, to);
    return append(
        Load{load.buffer, place_(load.index), mask ? Ref{} : now(load.mask), load.prefetch}, ref,
        to);
  }

  void copy_loop(Ref ref, Block& to, double share) {
    const Loop& whole = loop(ref);
    const std::vector<LoopPiece> pieces = pieces_of(ref, share);
    for (const LoopPiece& piece : pieces) {
      const Ref made = append({Loop{}, old_[ref].dtype, old_[ref].location});
      Loop part;
      part.extent = piece.count;
      part.first = piece.first;
      part.parallel = whole.parallel;
      part.vector_width = whole.vector_width;
      part.unroll = pieces.size() == 1 ? whole.unroll : unroll_of(whole, piece, pieces.size());
      place_.set_loop(ref.index, made_.indices.loop(made.index, piece.count, piece.first));
      for (const Reduction& reduction : whole.reductions) {
        part.reductions.push_back(
            {reduction.combine, now(reduction.initial), {}, {}, arguments(reduction)});
      }
      if (pieces.size() > 1) range_.hold(ref, piece.first, piece.count);
      const double extent = static_cast<double>(std::max<std::int64_t>(whole.extent, 1));
      part.body = copy_block(ref, share * static_cast<double>(piece.count) / extent);
      for (std::size_t i = 0; i < whole.reductions.size(); ++i) {
        part.reductions[i].values = now(whole.reductions[i].values);
      }
      to.push_back(made);
      const bool is_first = &piece == &pieces.front();
      for (std::size_t i = 0; i < whole.reductions.size(); ++i) {
        for (Ref result : whole.reductions[i].results) {
          Ref total = append(Result{made}, result, to);
          part.reductions[i].results.push_back(total);
          if (!is_first) {
            const Op combine = *combine_op(whole.reductions[i].combine);
            total = append(Compute{combine, {now(result), total}}, result, to);
          }
          now_[result.index] = total;
        }
      }
      made_[made].operation = std::move(part);
    }
    if (pieces.size() > 1) range_.hold(ref, whole.first, whole.extent);
  }

  std::vector<Ref> arguments(const Reduction& old) {
    std::vector<Ref> made;
    for (Ref argument : old.so_far) {
      made.push_back(now_[argument.index] = append(old_[argument]));
    }
    return made;
  }

  // --- pieces

  static int unroll_of(const Loop& whole, const LoopPiece& piece, std::size_t pieces) {
    if (pieces > few_pieces) return 1;
    const auto vectors = static_cast<std::uint64_t>(piece.count / whole.vector_width);
    const auto most = static_cast<int>(std::bit_floor(std::min<std::uint64_t>(vectors, 1 << 10)));
    return std::clamp(most, 1, whole.unroll);
  }

  // What folds one scalar by an op: a piece's result is one as well.
  static bool can_be_cut(const Loop& loop) {
    return std::ranges::all_of(loop.reductions, [](const Reduction& reduction) {
      return combine_op(reduction.combine).has_value();
    });
  }

  std::vector<LoopPiece> pieces_of(Ref ref, double share) {
    const Loop& whole = loop(ref);
    std::vector<LoopPiece> pieces = {{whole.first, whole.extent}};
    const bool is_full =
        made_.instructions.size() > most_growth_of_kernel * old_.instructions.size() + free_growth;
    if (only_ && !(only_ == ref)) return pieces;
    if (!can_be_cut(whole) || whole.first != 0 || share < least_share || is_full) {
      return pieces;
    }
    const Needed needed = needed_in(ref);
    std::vector<std::int64_t> seams;
    for (Ref comparison : needed.comparisons) {
      for (std::int64_t seam : range_.seams(comparison, ref)) seams.push_back(seam);
    }
    if (seams.empty()) return pieces;
    std::sort(seams.begin(), seams.end());
    seams.erase(std::unique(seams.begin(), seams.end()), seams.end());
    pieces = cut_at_seams(whole.extent, seams, whole.vector_width);
    while (pieces.size() > 1 && size_of(pieces, ref) > most_growth * needed.size + free_growth) {
      pieces = coarser(pieces);
    }
    return pieces;
  }

  std::size_t size_of(std::span<const LoopPiece> pieces, Ref ref) {
    std::size_t size = 0;
    for (const LoopPiece& piece : pieces) {
      range_.hold(ref, piece.first, piece.count);
      size += needed_in(ref).size;
    }
    range_.hold(ref, loop(ref).first, loop(ref).extent);
    return size;
  }

  const Kernel& old_;
  const Ref only_;
  IndexRange range_;
  std::vector<Place> places_;
  std::vector<std::vector<Ref>> effects_;  // per loop, then those of the kernel's body
  std::vector<Ref> now_;                   // what each old instruction has become
  std::vector<std::uint64_t> visited_;     // per old instruction: by which visit
  std::uint64_t visit_ = 0;
  Kernel made_;
  IndexCopier place_;
};

}  // namespace

Kernel split_loops(const Kernel& kernel) { return Splitter(kernel, {}).run(); }

Kernel split_loop(const Kernel& kernel, Ref loop) { return Splitter(kernel, loop).run(); }

}  // namespace anabranch
