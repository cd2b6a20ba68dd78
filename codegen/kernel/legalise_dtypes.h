// Arithmetic in the dtypes that machines have.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch {

/// Whether code is emitted for the op on operands of this dtype: it is computed in, or the op moves
/// what it gets.
bool is_legal(Op op, Dtype operand);

/// What `dtypes.def` says is computed in another dtype (f16 and bf16 in f32) is converted, computed
/// there and rounded at once. Left in such dtypes: loads, stores, conversions, casts of bits, what
/// a selection chooses from and what a loop carries.
Kernel legalise_dtypes(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass legalise_dtypes_pass = {
    "legalise_dtypes", "compute f16 and bf16 in f32", legalise_dtypes, false, true};

}  // namespace anabranch
