// Ops as others: what emitters need not know.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/kernel/pass.h"
#include "codegen/kernel/rewrite_ops.h"

namespace anabranch {

/// An op whose results are those of other ops, bit for bit, for some dtypes of its operands.
struct Decomposition {
  std::string_view equation;
  Op op;
  bool (*applies)(Dtype operand);
  /// The last of the other ops; its operands are added before it.
  Compute (*make)(ScalarWriter& to, const std::vector<Ref>& operands, Dtype dtype);
};

/// Every one there is; of several for an op, the first that applies is meant.
std::span<const Decomposition> decompositions();

/// The kernel without ops that have one.
Kernel decompose(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass decompose_pass = {
    "decompose", "write ops as others where those give the same bits", decompose, false, true};

}  // namespace anabranch
