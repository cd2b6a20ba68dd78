// The loops of emit_kernel: scalar loops, vector loops over a fixed count and over a range.
#include <algorithm>

#include "anabranch/error.h"
#include "codegen/cpu/emit/kernel_emitter.h"
#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {

using llvm::Value;

namespace {

// Instructions of a body of which one copy is enough: beside so much arithmetic, masks on loads and
// stores cost nothing.
constexpr int large_body = 200;

// Turns of a loop in lanes, and instructions in all of them, that are written out.
constexpr std::int64_t most_turns_written_out = 4;
constexpr int most_written_out = 24;

}  // namespace

void KernelEmitter::emit_loop(Ref ref) {
  const Loop& loop = std::get<Loop>(kernel_[ref].operation);
  if (loop.parallel && !loop.reductions.empty()) {
    throw InternalError("emit", "the parallel loop of kernel " + kernel_.name + " reduces");
  }
  if (loop.vector_width > 1) {
    if (scope_) {
      throw InternalError("emit", "kernel " + kernel_.name + " has a vector loop inside another");
    }
    if (loop.runs_in_order()) {
      throw InternalError("emit", "a vector loop of kernel " + kernel_.name +
                                      " has a reduction that must run in order");
    }
  }
  if (loop.extent == 0) {
    define_results(loop, initial_partials(loop, false));
  } else if (loop.vector_width > 1) {
    emit_vector_loop(ref, loop);
  } else {
    emit_scalar_loop(ref, loop);
  }
}

// The iterations to run: all, or those of the caller's range. A piece of the parallel loop runs
// what they share.
KernelEmitter::Turns KernelEmitter::iterations(const Loop& loop) {
  llvm::IRBuilder<>& b = builder_;
  const std::int64_t end = loop.first + loop.extent;
  Value* first = b.getInt64(static_cast<std::uint64_t>(loop.first));
  Value* last = b.getInt64(static_cast<std::uint64_t>(end));
  if (!loop.parallel) return {first, last};
  const auto with = [&](llvm::Intrinsic::ID which, Value* range, Value* piece) {
    return b.CreateBinaryIntrinsic(which, range, piece);
  };
  return {loop.first == 0 ? begin_ : with(llvm::Intrinsic::smax, begin_, first),
          end == kernel_.extent() ? end_ : with(llvm::Intrinsic::smin, end_, last)};
}

void KernelEmitter::emit_scalar_loop(Ref ref, const Loop& loop) {
  const std::size_t mark = defined_.size();
  hoist(loop.body);
  const auto body = [&](Value* index, Partials& partials) {
    define(expanded_[ref], index);
    define_arguments(loop, partials);
    emit(loop.body);
    fold(loop, partials);
  };
  Partials partials = initial_partials(loop, false);
  const int lanes = lane_sums_.lanes_of(ref);
  for (std::size_t i = 0; lanes > 0 && i < partials.size(); ++i) {
    Value*& initial = partials[i][0][0];
    initial = builder_.CreateVectorSplat(static_cast<unsigned>(lanes), initial);
  }
  const Turns turns = iterations(loop);
  if (const Reduction* condition = loop.condition()) {
    partials = emit_while(loop, *condition, std::move(partials));
  } else if (loop.parallel) {
    llvm::BasicBlock* some = block("range");
    llvm::BasicBlock* after = block("range.end");
    builder_.CreateCondBr(builder_.CreateICmpSLT(turns.first, turns.last), some, after);
    builder_.SetInsertPoint(some);
    emit_turns("loop", turns, {}, body);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  } else if (scope_ && is_written_out(loop, size_of_turn(loop))) {
    for (std::int64_t i = loop.first; i < loop.first + loop.extent; ++i) {
      const std::size_t before = defined_.size();
      body(builder_.getInt64(static_cast<std::uint64_t>(i)), partials);
      forget(before);
    }
  } else {
    partials = emit_folding(loop, "loop", turns, loop.extent, false, std::move(partials), body);
  }
  forget(mark);
  if (lanes > 0) join_lanes(ref, partials);
  define_results(loop, partials);
}

// Turns while some lane's condition says so. A lane beyond the end of the array has no say: from
// zeros a computation may never come to an end.
KernelEmitter::Partials KernelEmitter::emit_while(const Loop& loop, const Reduction& condition,
                                                  Partials partials) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = block("while");
  llvm::BasicBlock* turn = block("turn");
  llvm::BasicBlock* after = block("while.end");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  const Partials phis = add_phis(partials, before);
  const auto at = static_cast<std::size_t>(&condition - loop.reductions.data());
  Value* goes_on = nullptr;
  for (const Partial& copy : phis[at]) {
    goes_on = goes_on ? builder_.CreateOr(goes_on, copy[0]) : copy[0];
  }
  if (goes_on->getType()->isVectorTy()) {
    if (scope_->mask) goes_on = builder_.CreateAnd(goes_on, scope_->mask);
    goes_on = builder_.CreateOrReduce(goes_on);
  }
  builder_.CreateCondBr(goes_on, turn, after);

  builder_.SetInsertPoint(turn);
  define_arguments(loop, phis);
  emit(loop.body);
  partials = phis;
  fold(loop, partials);
  close_phis(phis, partials, builder_.GetInsertBlock());
  builder_.CreateBr(head);

  builder_.SetInsertPoint(after);
  return phis;
}

// --- vector loops
// ------------------------------------------------------------------------------------

void KernelEmitter::emit_vector_loop(Ref ref, const Loop& loop) {
  const std::size_t mark = defined_.size();
  const Lanes lanes(expanded_, ref, contracted_);
  VectorScope scope{.lanes = lanes, .loop = loop, .ref = ref};
  scope_ = &scope;
  std::vector<std::size_t> spread;
  for (std::size_t i = 0; i < emitted_.size(); ++i) {
    Ref ref{static_cast<std::uint32_t>(i)};
    if (!emitted_[i].scalar || !lanes.needs_vector(ref)) continue;
    emitted_[i].vectors = {splat(emitted_[i].scalar)};
    spread.push_back(i);
  }
  hoist(loop.body);
  prepare_divisors(loop.body);
  prepare_tables(loop.body);
  scope.squares = square_stores(kernel_, ref);
  Partials partials;
  if (loop.parallel) {
    emit_vector_range(loop, scope);
  } else {
    partials = emit_vector_rows(loop, scope);
  }
  scope_ = nullptr;
  forget(mark);
  for (std::size_t i : spread) emitted_[i].vectors.clear();
  define_results(loop, partials);
}

// A fixed count: full turns with `unroll` partial results each, then whole vectors, then the rest
// under a mask. Where the body is large the whole vectors are under masks, too, and share its code.
KernelEmitter::Partials KernelEmitter::emit_vector_rows(const Loop& loop, VectorScope& scope) {
  const std::int64_t turn = std::int64_t{loop.vector_width} * loop.unroll;
  const std::int64_t end = loop.first + loop.extent;
  const std::int64_t full = loop.first + loop.extent / turn * turn;
  scope.copies = full > loop.first ? loop.unroll : 1;
  Partials partials = initial_partials(loop, true);
  if (full > loop.first) {
    partials = emit_vector_turns(loop, scope, loop.first, full, VectorTurns::unrolled,
                                 std::move(partials));
    for (std::size_t i = 0; i < partials.size(); ++i) {
      join_copies(loop.reductions[i], partials[i]);
    }
  }
  scope.copies = 1;
  const std::int64_t whole = is_large(loop.body) ? full : end - loop.extent % loop.vector_width;
  if (full < whole) {
    partials =
        emit_vector_turns(loop, scope, full, whole, VectorTurns::single, std::move(partials));
  }
  if (whole < end) {
    partials = emit_vector_turns(loop, scope, whole, end, VectorTurns::masked, std::move(partials));
  }
  join_lanes(scope.ref, partials);
  return partials;
}

KernelEmitter::Partials KernelEmitter::emit_vector_turns(const Loop& loop, VectorScope& scope,
                                                         std::int64_t first, std::int64_t last,
                                                         VectorTurns turns, Partials partials) {
  const std::int64_t turn = std::int64_t{loop.vector_width} * scope.copies;
  Value* end = builder_.getInt64(static_cast<std::uint64_t>(last));
  const auto body = [&](Value* index, Partials& so_far) {
    if (turns == VectorTurns::masked) scope.mask = first_lanes(builder_.CreateSub(end, index));
    emit_vector_body(loop, index, so_far);
  };
  Value* begin = builder_.getInt64(static_cast<std::uint64_t>(first));
  if (last - first <= turn) {
    body(begin, partials);
  } else if (turns == VectorTurns::unrolled) {
    partials = emit_folding(loop, "vector", {begin, end, turn}, (last - first) / turn, true,
                            std::move(partials), body);
  } else {
    partials = emit_turns("rest", {begin, end, turn}, std::move(partials), body);
  }
  scope.mask = nullptr;
  return partials;
}

// A range that the caller chose, or what a piece has of it: masked steps up to the next multiple of
// the width, unmasked turns from there while they last, masked steps to the end. Both bodies hang
// on one head:
//
//   head: index == end? -> done
//         index % width == 0 and a whole turn is left? -> turns (back to head when fewer are left)
//         else -> one masked step (back to head)
//
// A large body is there once, for masked steps alone.
void KernelEmitter::emit_vector_range(const Loop& loop, VectorScope& scope) {
  const auto width = static_cast<std::uint64_t>(loop.vector_width);
  const std::uint64_t turn = width * static_cast<std::uint64_t>(loop.unroll);
  const bool has_turns = loop.extent >= static_cast<std::int64_t>(turn) && !is_large(loop.body);
  llvm::IRBuilder<>& b = builder_;
  Partials none;

  const Turns range = iterations(loop);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = block("head");
  llvm::BasicBlock* choose = block("choose");
  llvm::BasicBlock* step = block("step");
  llvm::BasicBlock* after = block("range.end");
  b.CreateBr(head);

  b.SetInsertPoint(head);
  llvm::PHINode* index = b.CreatePHI(b.getInt64Ty(), 3);
  index->addIncoming(range.first, before);
  b.CreateCondBr(b.CreateICmpSLT(index, range.last), choose, after);

  b.SetInsertPoint(choose);
  Value* past = b.CreateAnd(index, b.getInt64(width - 1));
  if (has_turns) {
    llvm::BasicBlock* vector = block("vector");
    Value* is_aligned = b.CreateICmpEQ(past, b.getInt64(0));
    Value* has_turn = b.CreateICmpSGE(b.CreateSub(range.last, index), b.getInt64(turn));
    b.CreateCondBr(b.CreateAnd(is_aligned, has_turn), vector, step);

    b.SetInsertPoint(vector);
    llvm::PHINode* inner = b.CreatePHI(b.getInt64Ty(), 2);
    inner->addIncoming(index, choose);
    scope.copies = loop.unroll;
    emit_vector_body(loop, inner, none);
    Value* next = b.CreateNSWAdd(inner, b.getInt64(turn));
    inner->addIncoming(next, b.GetInsertBlock());
    index->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSGE(b.CreateSub(range.last, next), b.getInt64(turn)), vector, head);
  } else {
    b.CreateBr(step);
  }

  b.SetInsertPoint(step);
  Value* to_multiple = b.CreateSub(b.getInt64(width), past);
  Value* left = b.CreateSub(range.last, index);
  Value* count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to_multiple, left);
  scope.copies = 1;
  scope.mask = first_lanes(count);
  emit_vector_body(loop, index, none);
  scope.mask = nullptr;
  index->addIncoming(b.CreateNSWAdd(index, count), b.GetInsertBlock());
  b.CreateBr(head);

  b.SetInsertPoint(after);
}

// Instructions on vectors, for each copy of the lanes.
int KernelEmitter::size_of(const Block& block) const {
  int instructions = 0;
  for (Ref ref : block) {
    if (const auto* loop = std::get_if<Loop>(&kernel_[ref].operation)) {
      const int turn = size_of_turn(*loop);
      instructions += turn * (is_written_out(*loop, turn) ? static_cast<int>(loop->extent) : 1);
    } else if (scope_->lanes.needs_vector(ref)) {
      const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
      const bool is_costly =
          compute && info(compute->op).has(OpInfo::approximate) && !is_called(*compute);
      instructions += is_costly ? 10 : 1;
    }
  }
  return instructions;
}

int KernelEmitter::size_of_turn(const Loop& loop) const {
  return size_of(loop.body) + static_cast<int>(loop.reductions.size());
}

// Whether a loop in lanes is its turns one after the other, without a jump: one over a window, or
// over the components of a vector. The first turn of a maximum then only loads.
bool KernelEmitter::is_written_out(const Loop& loop, int turn) const {
  return loop.vector_width == 1 && !loop.parallel && !loop.condition() &&
         loop.extent <= most_turns_written_out && loop.extent * turn <= most_written_out;
}

bool KernelEmitter::is_large(const Block& block) const { return size_of(block) > large_body; }

// The mask of the first `count` lanes.
Value* KernelEmitter::first_lanes(Value* count) {
  const int width = scope_->loop.vector_width;
  llvm::SmallVector<std::uint32_t, 64> lanes;
  for (int i = 0; i < width; ++i) lanes.push_back(static_cast<std::uint32_t>(i));
  Value* bound = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, count, builder_.getInt64(static_cast<std::uint64_t>(width)));
  Value* narrow = builder_.CreateTrunc(bound, builder_.getInt32Ty());
  return builder_.CreateICmpULT(llvm::ConstantDataVector::get(builder_.getContext(), lanes),
                                splat(narrow));
}

void KernelEmitter::emit_vector_body(const Loop& loop, Value* index, Partials& partials) {
  const std::size_t mark = defined_.size();
  const Ref own = expanded_[scope_->ref];
  define(own, index);
  if (scope_->lanes.needs_vector(own)) {
    for (int copy = 0; copy < scope_->copies; ++copy) {
      llvm::SmallVector<std::uint64_t, 64> lanes;
      for (int i = 0; i < loop.vector_width; ++i) {
        lanes.push_back(static_cast<std::uint64_t>(copy * loop.vector_width + i));
      }
      auto* offsets = llvm::ConstantDataVector::get(builder_.getContext(), lanes);
      define_lanes(own, builder_.CreateAdd(splat(index), offsets));
    }
  }
  emit(loop.body);
  fold(loop, partials);
  forget(mark);
}

// --- what does not change in a loop
// ------------------------------------------------------------------

bool KernelEmitter::is_available(Ref ref) const {
  if (contracted_[ref.index]) {
    const auto& product = std::get<Compute>(kernel_[ref].operation);
    return std::ranges::all_of(product.operands,
                               [&](Ref operand) { return is_available(operand); });
  }
  return emitted_[ref.index].scalar || !emitted_[ref.index].vectors.empty();
}

bool KernelEmitter::can_hoist(Ref ref) const {
  if (contracted_[ref.index]) return false;
  const Operation& operation = kernel_[ref].operation;
  if (std::holds_alternative<ConstantInstruction>(operation)) return true;
  if (const auto* compute = std::get_if<Compute>(&operation)) {
    return std::ranges::all_of(compute->operands,
                               [&](Ref operand) { return is_available(operand); });
  }
  if (const auto* load = std::get_if<Load>(&operation)) {
    return kernel_.buffers[load->buffer].access == Access::read && is_available(expanded_[ref]) &&
           (!load->mask || is_available(load->mask));
  }
  return false;
}

// Emits here what every iteration would compute alike. All loops inside run at least once, or are
// passed over.
void KernelEmitter::hoist(const Block& block) {
  for (Ref ref : block) {
    if (const auto* loop = std::get_if<Loop>(&kernel_[ref].operation)) {
      // A vector loop hoists for itself, once it is known what its lanes need.
      if (loop->extent > 0 && loop->vector_width == 1) hoist(loop->body);
    } else if (can_hoist(ref) && !is_available(ref)) {
      for (int copy = 0; copy < copies(); ++copy) emit(ref, copy);
    }
  }
}

// Where a loop has more to compute than divisions, they are left to the divider, which works beside
// the other units; elsewhere it is the slowest of all.
void KernelEmitter::prepare_divisors(const Block& block) {
  if (std::ranges::any_of(block, [&](Ref ref) {
        const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
        return compute && scope_->lanes.needs_vector(ref) &&
               info(compute->op).has(OpInfo::approximate);
      })) {
    return;
  }
  for (Ref ref : block) {
    const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
    if (!compute || compute->op != Op::divide || !scope_->lanes.needs_vector(ref)) continue;
    const Ref divisor = compute->operands[1];
    const Dtype dtype = kernel_[divisor].dtype;
    if ((dtype != f32 && dtype != f64) || !is_lanes(compute->operands[0])) continue;
    if (!emitted_[divisor.index].scalar || shared_divisor(*compute)) continue;
    scope_->divisors.emplace_back(
        divisor, prepare_divisor(builder_, scalar(divisor), scope_->loop.vector_width));
  }
}

// Buffers that are read at indices of any kind, and small enough to be looked up in.
void KernelEmitter::prepare_tables(const Block& block) {
  for (Ref ref : block) {
    const Operation& operation = kernel_[ref].operation;
    if (const auto* loop = std::get_if<Loop>(&operation)) prepare_tables(loop->body);
    const auto* load = std::get_if<Load>(&operation);
    if (!load || !scope_->lanes.needs_vector(ref) || !is_lanes(expanded_[ref])) continue;
    const KernelBuffer& buffer = kernel_.buffers[load->buffer];
    if (scope_->lanes.stride(expanded_[ref]) || buffer.access != Access::read) continue;
    const auto form = table_form(*function_->getParent(), buffer.dtype, buffer.size, buffer.size);
    if (!form) continue;
    scope_->tables.emplace(ref.index, load_table(builder_, *form, buffers_[load->buffer]));
  }
}

const Divisor* KernelEmitter::shared_divisor(const Compute& compute) const {
  if (compute.op != Op::divide) return nullptr;
  for (const auto& [ref, divisor] : scope_->divisors) {
    if (ref == compute.operands[1]) return &divisor;
  }
  return nullptr;
}

}  // namespace anabranch::cpu
