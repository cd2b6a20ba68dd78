// Sums of products: matrix products in all their forms.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// The matrix product over the last axis of a and the last but one of b; axes before those are
/// batches and broadcast; a vector counts as a row on the left and a column on the right. f16 and
/// bf16 add in f32.
Array matmul(const Operand& a, const Operand& b);

/// The last axis of a with the last but one (or only) of b; without batches: NumPy's dot.
Array dot(const Operand& a, const Operand& b);

/// Sums of conj(a[i...]) * b[i...] along an axis of both, of equal sizes there, in their dtype.
/// Error for an axis that is not negative where the ranks differ.
Array vecdot(const Operand& a, const Operand& b, Axis axis = -1);

/// Sums over the last `axes` axes of a with the first `axes` of b.
Array tensordot(const Operand& a, const Operand& b, Extent axes = 2);
/// Sums over axes a_axes[i] of a with b_axes[i] of b; what remains of a comes first.
Array tensordot(const Operand& a, const Operand& b, const Axes& a_axes, const Axes& b_axes);

/// a[i] * b[j] of two vectors.
Array outer(const Operand& a, const Operand& b);

/// Sums of products by Einstein's convention: einsum("bij,bjk->bik", a, b). A letter per axis; a
/// letter missing on the right is summed over, one repeated in an operand takes its diagonal.
/// Without an arrow the letters that occur once come out in alphabetical order. Operands are
/// combined from the left.
Array einsum(std::string_view equation, const Operands& operands);
inline Array einsum(std::string_view equation, std::initializer_list<Operand> operands) {
  return einsum(equation, Operands(operands));
}
Array einsum(std::string_view equation, const Operand& a);
Array einsum(std::string_view equation, const Operand& a, const Operand& b);

}  // namespace anabranch
