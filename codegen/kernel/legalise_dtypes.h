// Arithmetic in the dtypes that machines have.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch {

/// Whether code is emitted for the op on operands of this dtype: it is computed in, the op moves
/// what it gets, or the target has an instruction for it.
bool is_legal(Op op, Dtype operand, const Target& target = {});

/// What `dtypes.def` says is computed in another dtype (f16 and bf16 in f32) is converted, computed
/// there and rounded at once. Left in such dtypes: loads, stores, conversions, casts of bits, what
/// a selection chooses from, what a loop carries, and with `Target::half_arithmetic` the sums,
/// differences, products and extrema. Those give the same bits: f32 has more than twice their bits,
/// so that rounding to it first changes nothing (Figueroa, "When is double rounding innocuous?",
/// SIGNUM Newsletter 30(3), 1995).
Kernel legalise_dtypes(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass legalise_dtypes_pass = {
    "legalise_dtypes", "compute f16 and bf16 in f32", legalise_dtypes, false, true};

}  // namespace anabranch
