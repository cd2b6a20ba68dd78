// KernelBuilder: writes a kernel from the outside in, putting every instruction into the outermost
// block where its operands are visible and reusing an equal one that is, so that what a loop does
// not change is computed before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/index.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

class KernelBuilder {
 public:
  explicit KernelBuilder(std::string name);

  IndexTable& indices() { return kernel_.indices; }
  const Kernel& kernel() const { return kernel_; }

  /// Where instructions made from now on come from.
  void set_location(SourceLocation location) { location_ = location; }

  /// The number of a new buffer. Scratch comes after every argument.
  std::uint32_t add_buffer(KernelBuffer buffer);

  /// Opens a loop; what follows may go into its body.
  Ref open_loop(std::int64_t extent);
  /// Its index as an expression.
  Index index_of(Ref loop) { return kernel_.index_of(loop); }
  /// Closes the innermost open loop and defines its reductions' results, one per entry of
  /// `initial`. Returns the loop's reductions, filled in.
  std::vector<Reduction> close_loop(std::vector<Reduction> reductions = {});

  /// What an iteration of the innermost open loop has from the one before it.
  Ref argument(Dtype dtype);

  Ref constant(Dtype dtype, ElementBits bits);
  Ref compute(Op op, Dtype dtype, std::span<const Ref> operands,
              Comparison direction = Comparison::eq);
  Ref compute(Op op, Dtype dtype, std::initializer_list<Ref> operands,
              Comparison direction = Comparison::eq) {
    return compute(op, dtype, std::span(operands.begin(), operands.size()), direction);
  }
  /// An integer scalar, held between 0 and `high`, as an expression; `at` as of IndexTable::scalar.
  Index clamped(Ref scalar, std::int64_t high, Index at);
  Index clamped(Ref scalar, std::int64_t high) {
    return clamped(scalar, high, indices().constant(0));
  }
  /// The expression as an i64 scalar.
  Ref scalar(Index index);
  Ref load(std::uint32_t buffer, Index index, Ref mask = {}, std::int64_t prefetch = 0);
  void store(std::uint32_t buffer, Index index, Ref value);

  bool is_visible(Ref ref) const;

  /// Every expression that places something or has become a scalar.
  std::span<const Index> used_indices() const { return used_; }

  /// The finished kernel; every loop is closed.
  Kernel take();

 private:
  struct Scope {
    std::uint32_t serial = 0;
    Ref loop;
    Block block;
  };

  Ref append(Instruction instruction);
  Ref place(Instruction instruction, std::uint32_t depth, std::uint64_t hash);
  Ref find(const Instruction& instruction, std::uint64_t hash) const;
  std::uint32_t depth(Index index) const;
  void use(Index index);
  void open_scope(Ref loop);
  std::uint32_t depth(Ref ref) const { return ref ? home_[ref.index].depth : 0; }

  struct Home {
    std::uint32_t depth = 0, serial = 0;
  };

  Kernel kernel_;
  SourceLocation location_;
  std::vector<Scope> scopes_;
  std::uint32_t next_serial_ = 0;
  std::vector<Home> home_;  // per instruction
  std::unordered_multimap<std::uint64_t, Ref> by_hash_;
  std::unordered_set<std::uint32_t> is_used_;  // by Index
  std::vector<Index> used_;
};

}  // namespace anabranch
