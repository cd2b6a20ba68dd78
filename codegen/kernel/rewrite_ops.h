// Computations of a kernel written anew where they stand.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/kernel/kernel.h"

namespace anabranch {

/// Adds scalars to the block at hand, before the instruction that is rewritten.
class ScalarWriter {
 public:
  explicit ScalarWriter(Kernel& kernel) : kernel_(kernel) {}

  Ref compute(Op op, Dtype dtype, std::vector<Ref> operands,
              Comparison direction = Comparison::eq) {
    return add(Compute{op, std::move(operands), direction}, dtype);
  }
  Ref constant(Dtype dtype, ElementBits bits) { return add(ConstantInstruction{bits}, dtype); }
  /// `value` as the op `convert` makes it of a number of that dtype.
  Ref number(Dtype dtype, double value);
  Ref convert(Ref x, Dtype to) { return compute(Op::convert, to, {x}); }
  Ref add(Operation operation, Dtype dtype);
  /// Puts an instruction that is in no block yet before the one at hand.
  void place(Ref ref) { block_.push_back(ref); }
  /// What has been added.
  const Block& block() const { return block_; }

  const Instruction& operator[](Ref ref) const { return kernel_[ref]; }
  /// What the instruction at hand is from now on, under its old number.
  void become(Ref ref, Operation operation, Dtype dtype) {
    kernel_[ref].operation = std::move(operation);
    kernel_[ref].dtype = dtype;
  }

 private:
  friend class OpRewriter;

  Kernel& kernel_;
  Block block_;
  SourceLocation location_;
};

/// Says anew what stands in blocks. Each is called with a copy of what it rewrites.
struct OpRewrite {
  std::function<void(ScalarWriter& writer, Ref ref, const Compute& compute)> compute;
  /// Called where the loop stands, with its body done; may be empty. What it adds stands before the
  /// loop; `at_end` adds to the end of its body.
  std::function<void(ScalarWriter& writer, Ref ref, ScalarWriter& at_end)> loop = {};
  /// Called for each result of a loop; may be empty.
  std::function<void(ScalarWriter& writer, Ref ref)> result = {};
};

/// Every block of the kernel, those inside loops and reductions too.
void rewrite_ops(Kernel& kernel, const OpRewrite& rewrite);

}  // namespace anabranch
