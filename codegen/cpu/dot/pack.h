// Kernels around a library dot: operands copied into a layout and dtype that the library takes, and
// results rounded to theirs.
#pragma once

#include "codegen/cpu/dot/shape.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cpu {

/// Copies a matrix [rows, columns] of any strides to a dense row-major one of dtype `to`; its
/// parallel loop runs over the rows. Buffers: from, to.
Kernel pack_kernel(const StridedAxes& rows, const StridedAxes& columns, Dtype from, Dtype to);

/// Converts `size` elements; its parallel loop runs over them. Buffers: from, to.
Kernel convert_kernel(std::int64_t size, Dtype from, Dtype to);

}  // namespace anabranch::cpu
