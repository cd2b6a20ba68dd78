// Arithmetic in the dtypes that machines have.
#pragma once

#include "codegen/kernel/pass.h"

namespace anabranch {

/// What `dtypes.def` says is computed in another dtype (f16 and bf16 in f32) is converted, computed
/// there and rounded at once. Left in such dtypes: loads, stores, conversions, casts of bits, what
/// a selection chooses from and what a general reduction carries.
Kernel legalise_dtypes(const Kernel& kernel, KernelContext& context);

inline constexpr KernelPass legalise_dtypes_pass = {
    "legalise_dtypes", "compute f16 and bf16 in f32", legalise_dtypes, false, true};

}  // namespace anabranch
