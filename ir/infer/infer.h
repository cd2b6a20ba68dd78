// Result types of an op from its operands: the one place that says what each op accepts.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// The attributes struct that ops.def gives the op, with nothing set.
Attributes default_attributes(Op op);

/// One type per result. `stated` is the result type that the writer of a `typed` op gave. Throws
/// Error
/// ("dot: inner sizes differ: f32[64,128] x f32[64,32] (128 against 64), at model.cpp:12").
std::vector<Type> infer(Op op, std::span<const Type> operands, const Attributes& attributes,
                        const std::optional<Type>& stated, std::span<const Graph> regions,
                        SourceLocation location);

}  // namespace anabranch
