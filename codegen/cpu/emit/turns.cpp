// The turns of a loop, one after the other: all in a row, or in blocks where it adds up many
// floats.
#include <algorithm>

#include "codegen/cpu/emit/kernel_emitter.h"
#include "codegen/kernel/blocked_sums.h"

namespace anabranch::cpu {

using llvm::Value;

// At least one turn, `step` apart from `first` to below `last`.
KernelEmitter::Partials KernelEmitter::emit_turns(const char* name, const Turns& turns,
                                                  Partials partials, TurnBody body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = block(name);
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  index->addIncoming(turns.first, before);
  const Partials phis = add_phis(partials, before);
  partials = phis;
  body(index, partials);
  Value* step = builder_.getInt64(static_cast<std::uint64_t>(turns.step));
  Value* next = builder_.CreateNSWAdd(index, step);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  index->addIncoming(next, latch);
  close_phis(phis, partials, latch);
  llvm::BasicBlock* after = block((std::string(name) + ".end").c_str());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, turns.last), loop, after);
  builder_.SetInsertPoint(after);
  return partials;
}

// The sums of a block start anew in each, and are added to those around it; what else the loop
// folds carries on. `blocks` are outermost first. Where the partial results of the `copies` are of
// one sum, they become one at the end of a block.
KernelEmitter::Partials KernelEmitter::emit_in_blocks(const Loop& loop, const char* name,
                                                      const Turns& turns,
                                                      std::span<const std::int64_t> blocks,
                                                      const Partials& initial, bool joins,
                                                      Partials partials, TurnBody body) {
  if (blocks.empty()) return emit_turns(name, turns, std::move(partials), body);
  const std::int64_t size = blocks.front() * turns.step;
  const auto one_block = [&](Value* first, Partials& whole) {
    Value* end = builder_.CreateNSWAdd(first, builder_.getInt64(static_cast<std::uint64_t>(size)));
    end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, turns.last);
    Partials part = whole;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!is_blocked(kernel_, loop.reductions[i])) continue;
      part[i] = initial[i];
      if (joins && blocks.size() > 1) part[i].resize(1);
    }
    part = emit_in_blocks(loop, name, {first, end, turns.step}, blocks.subspan(1), initial, joins,
                          std::move(part), body);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Reduction& reduction = loop.reductions[i];
      if (!is_blocked(kernel_, reduction)) {
        whole[i] = part[i];
        continue;
      }
      if (joins) join_copies(reduction, part[i]);
      const Dtype dtype = kernel_[reduction.results[0]].dtype;
      for (std::size_t copy = 0; copy < part[i].size(); ++copy) {
        whole[i][copy] = combine(builder_, reduction.combine, dtype, whole[i][copy], part[i][copy]);
      }
    }
  };
  return emit_turns("block", {turns.first, turns.last, size}, std::move(partials), one_block);
}

KernelEmitter::Partials KernelEmitter::emit_folding(const Loop& loop, const char* name,
                                                    const Turns& turns, std::int64_t count,
                                                    bool joins, Partials partials, TurnBody body) {
  const std::vector<std::int64_t> blocks = sum_blocks(kernel_, loop, count);
  const Partials initial = partials;
  for (std::size_t i = 0; joins && !blocks.empty() && i < partials.size(); ++i) {
    if (is_blocked(kernel_, loop.reductions[i])) partials[i].resize(1);
  }
  return emit_in_blocks(loop, name, turns, blocks, initial, joins, std::move(partials), body);
}

// By halves: an order that the number of copies alone decides. None is all of later iterations than
// another, once one has been joined.
void KernelEmitter::join_copies(const Reduction& reduction, Copies& copies) {
  const Dtype dtype = kernel_[reduction.results[0]].dtype;
  while (copies.size() > 1) {
    const std::size_t half = copies.size() / 2;
    for (std::size_t k = 0; k < half; ++k) {
      copies[k] =
          combine(builder_, reduction.combine, dtype, copies[k], copies[copies.size() - half + k]);
    }
    copies.resize(copies.size() - half);
  }
}

// After a loop, or not before the loop around it.
void KernelEmitter::join_lanes(Ref ref, Partials& partials) {
  if (lane_sums_.go_on.contains(ref.index)) return;
  const auto& loop = std::get<Loop>(kernel_[ref].operation);
  for (std::size_t i = 0; i < partials.size(); ++i) {
    const Dtype dtype = kernel_[loop.reductions[i].results[0]].dtype;
    partials[i] = {combine_lanes(builder_, loop.reductions[i].combine, dtype, partials[i][0])};
  }
}

}  // namespace anabranch::cpu
