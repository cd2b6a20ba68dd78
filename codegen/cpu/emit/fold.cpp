// The reductions that the loops of emit_kernel carry: where they begin, what an iteration folds in,
// what they come to.
#include "codegen/cpu/emit/kernel_emitter.h"

namespace anabranch::cpu {

using llvm::Value;

KernelEmitter::Partials KernelEmitter::initial_partials(const Loop& loop, bool as_lanes) {
  Partials partials;
  for (const Reduction& reduction : loop.reductions) {
    const bool is_vector = as_lanes || is_lanes(reduction.results[0]);
    Copies copies(is_vector ? static_cast<std::size_t>(this->copies()) : 1);
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
      for (Ref ref : reduction.initial) {
        Value* value = as_lanes    ? splat(scalar(ref))
                       : is_vector ? vector(ref, static_cast<int>(copy))
                                   : scalar(ref);
        copies[copy].push_back(value);
      }
      if (as_lanes && is_carried_in_parts(reduction.combine, kernel_[reduction.results[0]].dtype)) {
        copies[copy] = in_parts(builder_, copies[copy][0]);
      }
    }
    partials.push_back(std::move(copies));
  }
  return partials;
}

KernelEmitter::Partials KernelEmitter::add_phis(const Partials& incoming, llvm::BasicBlock* from) {
  Partials phis = incoming;
  for (Copies& copies : phis) {
    for (Partial& partial : copies) {
      for (Value*& value : partial) {
        llvm::PHINode* phi = builder_.CreatePHI(value->getType(), 2);
        phi->addIncoming(value, from);
        value = phi;
      }
    }
  }
  return phis;
}

void KernelEmitter::close_phis(const Partials& phis, const Partials& outgoing,
                               llvm::BasicBlock* from) {
  for (std::size_t i = 0; i < phis.size(); ++i) {
    for (std::size_t copy = 0; copy < phis[i].size(); ++copy) {
      for (std::size_t k = 0; k < phis[i][copy].size(); ++k) {
        llvm::cast<llvm::PHINode>(phis[i][copy][k])->addIncoming(outgoing[i][copy][k], from);
      }
    }
  }
}

void KernelEmitter::fold(const Loop& loop, Partials& partials) {
  for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
    const Reduction& reduction = loop.reductions[i];
    if (runs_in_order(reduction.combine)) {
      hand_on(reduction, partials[i]);
    } else {
      fold(reduction, partials[i]);
    }
  }
}

void KernelEmitter::fold(const Reduction& reduction, Copies& so_far) {
  // In a vector loop; in those around it what is added up in lanes stands for one value.
  const bool is_vector = scope_ && so_far[0][0]->getType()->isVectorTy();
  auto value_of = [&](Ref ref, std::size_t copy) {
    return is_vector ? vector(ref, static_cast<int>(copy)) : scalar(ref);
  };
  const Copies before = so_far;
  if (so_far[0].size() == 3) {
    llvm::SmallVector<Value*, 4> next;
    for (std::size_t copy = 0; copy < so_far.size(); ++copy) {
      next.push_back(value_of(reduction.values[0], copy));
    }
    fold_in_parts(builder_, reduction.combine, so_far, next);
  } else {
    for (std::size_t copy = 0; copy < so_far.size(); ++copy) {
      fold_one(reduction, so_far[copy], [&](Ref ref) { return value_of(ref, copy); });
    }
  }
  if (!is_vector || !scope_->mask) return;
  for (std::size_t copy = 0; copy < so_far.size(); ++copy) {
    for (std::size_t k = 0; k < so_far[copy].size(); ++k) {
      so_far[copy][k] = builder_.CreateSelect(scope_->mask, so_far[copy][k], before[copy][k]);
    }
  }
}

void KernelEmitter::fold_one(const Reduction& reduction, Partial& so_far,
                             const std::function<Value*(Ref)>& value_of) {
  if (Ref value = reduction.values[0]; contracted_[value.index]) {
    const auto& product = std::get<Compute>(kernel_[value].operation);
    so_far = {builder_.CreateIntrinsic(
        llvm::Intrinsic::fmuladd, {so_far[0]->getType()},
        {value_of(product.operands[0]), value_of(product.operands[1]), so_far[0]})};
    return;
  }
  Partial next;
  for (Ref ref : reduction.values) next.push_back(value_of(ref));
  const Dtype dtype = kernel_[reduction.results[0]].dtype;
  so_far = combine_later(builder_, reduction.combine, dtype, so_far, next);
}

// What an iteration begins with.
void KernelEmitter::define_arguments(const Loop& loop, const Partials& partials) {
  for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
    define_scalars(loop.reductions[i].so_far, partials[i]);
  }
}

void KernelEmitter::hand_on(const Reduction& reduction, Copies& so_far) {
  const bool is_vector = is_lanes(reduction.results[0]);
  for (std::size_t copy = 0; copy < so_far.size(); ++copy) {
    for (std::size_t k = 0; k < reduction.values.size(); ++k) {
      const Ref value = reduction.values[k];
      so_far[copy][k] = is_vector ? vector(value, static_cast<int>(copy)) : scalar(value);
    }
  }
}

void KernelEmitter::define_results(const Loop& loop, const Partials& partials) {
  for (std::size_t i = 0; i < partials.size(); ++i) {
    define_scalars(loop.reductions[i].results, partials[i]);
  }
}

void KernelEmitter::define_scalars(const std::vector<Ref>& refs, const Copies& copies) {
  for (std::size_t k = 0; k < refs.size(); ++k) {
    const bool is_vector = is_lanes(refs[k]);
    for (const Partial& partial : copies) {
      is_vector ? define_lanes(refs[k], partial[k]) : define(refs[k], partial[k]);
    }
  }
}

}  // namespace anabranch::cpu
