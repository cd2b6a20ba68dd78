// Ops as others: what emitters need not know.
#pragma once

#include <span>
#include <string_view>

#include "codegen/kernel/pass.h"

namespace anabranch {

/// An op whose results are those of other ops, bit for bit, for some dtypes of its operands.
struct Decomposition {
  std::string_view equation;
  Op op;
  bool (*applies)(Dtype operand);
};

/// Every one there is.
std::span<const Decomposition> decompositions();

/// The kernel without ops that have one.
Kernel decompose(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass decompose_pass = {
    "decompose", "write ops as others where those give the same bits", decompose, false, true};

}  // namespace anabranch
