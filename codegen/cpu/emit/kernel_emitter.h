// The state of emit_kernel: the function being built and what each instruction has become so far.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/emit/lane_steps.h"
#include "codegen/cpu/emit/lane_sums.h"
#include "codegen/cpu/emit/lanes.h"
#include "codegen/cpu/emit/memory.h"
#include "codegen/cpu/emit/quotient.h"
#include "codegen/cpu/emit/reduction.h"
#include "codegen/cpu/emit/table.h"
#include "codegen/cpu/math/uses.h"
#include "codegen/cpu/square_stores.h"
#include "codegen/kernel/expand_indices.h"

namespace anabranch::cpu {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const Kernel& kernel, const std::string& symbol,
                const MathUses& together);
  void run();

 private:
  /// What an instruction has become. In a vector loop, `scalar` is the value that all lanes share,
  /// or the first lane's of an affine index; `vectors` has one entry per copy, or one for all of
  /// them.
  struct Emitted {
    llvm::Value* scalar = nullptr;
    llvm::SmallVector<llvm::Value*, 4> vectors;
  };

  /// The vector loop that the builder stands in: `copies` groups of `width` lanes, only those of
  /// `mask` (null: all).
  struct VectorScope {
    const Lanes& lanes;
    const Loop& loop;
    Ref ref;  ///< the loop
    int copies = 1;
    llvm::Value* mask = nullptr;
    std::vector<std::pair<Ref, Divisor>> divisors = {};  ///< that all iterations share
    std::map<std::uint32_t, Table> tables = {};          ///< by load: that its lanes look up in
    std::vector<SquareStores> squares = {};
    std::map<std::uint32_t, llvm::Value*> held = {};  ///< by store: values of squares to be written
  };

  /// One partial result per copy, for each reduction of a loop.
  using Copies = llvm::SmallVector<Partial, 4>;
  using Partials = std::vector<Copies>;

  // emit_kernel.cpp: the frame, and straight-line code
  void load_buffers();
  llvm::Value* allocate_scratch(const KernelBuffer& buffer);
  void finish();
  void emit(const Block& block);
  void emit(Ref ref, int copy);
  void emit_scalar(Ref ref);
  void emit_vector(Ref ref, int copy);
  bool is_index_division(Ref ref) const;
  LaneSteps lane_steps(const Lanes::Steps& steps, int copy) const;
  void emit_store(Ref ref, const Store& store, int copy);
  bool emit_in_square(Ref ref, const Store& store, int copy);
  void emit_square(const SquareStores& square, int copy);
  llvm::Value* compute(Ref ref, const std::function<llvm::Value*(Ref)>& value_of);
  llvm::Value* constant(Dtype dtype, ElementBits bits);
  llvm::Value* scalar_load(Ref ref, const Load& load);
  llvm::Value* vector_load(Ref ref, const Load& load, int copy);
  std::optional<std::pair<Table, llvm::Value*>> table_of(Ref ref, const Load& load, int copy);
  Lane lane(std::uint32_t buffer, Ref index, int copy, llvm::Value* mask);
  std::int64_t known_multiple(Index index, std::int64_t lanes) const;
  bool may_bypass_caches(Ref ref, const Store& store) const;
  bool is_aligned(const Store& store, std::int64_t lanes) const;
  bool is_called(const Compute& compute) const;

  /// Iterations `step` apart, from `first` to below `last`.
  struct Turns {
    llvm::Value *first, *last;
    std::int64_t step = 1;
  };

  // emit_loop.cpp
  Turns iterations(const Loop& loop);
  void emit_loop(Ref ref);
  void emit_scalar_loop(Ref ref, const Loop& loop);
  Partials emit_while(const Loop& loop, const Reduction& condition, Partials partials);
  void emit_vector_loop(Ref ref, const Loop& loop);
  Partials emit_vector_rows(const Loop& loop, VectorScope& scope);
  void emit_vector_range(const Loop& loop, VectorScope& scope);
  enum class VectorTurns { unrolled, single, masked };
  Partials emit_vector_turns(const Loop& loop, VectorScope& scope, std::int64_t first,
                             std::int64_t last, VectorTurns turns, Partials partials);
  llvm::Value* first_lanes(llvm::Value* count);
  int size_of(const Block& block) const;
  int size_of_turn(const Loop& loop) const;
  bool is_written_out(const Loop& loop, int turn) const;
  bool is_large(const Block& block) const;
  void emit_vector_body(const Loop& loop, llvm::Value* index, Partials& partials);
  void hoist(const Block& block);
  void prepare_divisors(const Block& block);
  void prepare_tables(const Block& block);
  const Divisor* shared_divisor(const Compute& compute) const;
  bool is_available(Ref ref) const;
  bool can_hoist(Ref ref) const;

  // emit_turns.cpp
  using TurnBody = llvm::function_ref<void(llvm::Value* index, Partials& partials)>;
  Partials emit_turns(const char* name, const Turns& turns, Partials partials, TurnBody body);
  Partials emit_in_blocks(const Loop& loop, const char* name, const Turns& turns,
                          std::span<const std::int64_t> blocks, const Partials& initial, bool joins,
                          Partials partials, TurnBody body);
  Partials emit_folding(const Loop& loop, const char* name, const Turns& turns, std::int64_t count,
                        bool joins, Partials partials, TurnBody body);
  void join_copies(const Reduction& reduction, Copies& copies);
  void join_lanes(Ref ref, Partials& partials);

  // emit_fold.cpp
  Partials initial_partials(const Loop& loop, bool as_lanes);
  Partials add_phis(const Partials& incoming, llvm::BasicBlock* from);
  void close_phis(const Partials& phis, const Partials& outgoing, llvm::BasicBlock* from);
  void fold(const Loop& loop, Partials& partials);
  void fold(const Reduction& reduction, Copies& so_far);
  void fold_one(const Reduction& reduction, Partial& so_far,
                const std::function<llvm::Value*(Ref)>& value_of);
  void hand_on(const Reduction& reduction, Copies& so_far);
  void define_arguments(const Loop& loop, const Partials& partials);
  void define_results(const Loop& loop, const Partials& partials);
  void define_scalars(const std::vector<Ref>& refs, const Copies& copies);

  // values
  bool is_lanes(Ref ref) const { return scope_ && scope_->lanes.varying(ref); }
  int copies() const { return scope_ ? scope_->copies : 1; }
  llvm::Value* scalar(Ref ref) const;
  llvm::Value* vector(Ref ref, int copy) const;
  llvm::Value* splat(llvm::Value* value);
  void define(Ref ref, llvm::Value* value);
  void define_lanes(Ref ref, llvm::Value* value);
  void forget(std::size_t mark);
  llvm::BasicBlock* block(const char* name);

  const ExpandedKernel expanded_;
  const Kernel& kernel_;
  const std::vector<bool> contracted_;
  const LaneSums lane_sums_;
  std::set<Op> called_;  // approximate ops that are not inline
  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  llvm::Value* begin_;
  llvm::Value* end_;
  llvm::Value* heap_ = nullptr;  // scratch that must be released
  bool stored_past_caches_ = false;
  std::vector<llvm::Value*> buffers_;
  std::vector<Emitted> emitted_;
  std::vector<Ref> defined_;  // in the order of definition, to undo it when a scope ends
  VectorScope* scope_ = nullptr;
};

}  // namespace anabranch::cpu
