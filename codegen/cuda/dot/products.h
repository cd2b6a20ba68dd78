// A dot as products D = A B of matrices that cuBLASLt takes, which stores them column by column.
//
//   dot f32[64,128], f32[128,32]    ->    D[32,64] = A[32,128] B[128,64]
//
// A row-major matrix, read column by column, is its transpose: so A is the dot's right operand, B
// its left one, and a column of D is a row of the dot's result.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "anabranch/type.h"
#include "ir/attributes.h"

namespace anabranch::cuda {

/// Where a matrix is, or one for each product of a batch; in elements.
struct Matrix {
  bool is_transposed = false;     ///< as it is stored; D never is
  std::int64_t leading = 1;       ///< from one stored column to the next
  std::int64_t batch_stride = 0;  ///< from one product's matrix to the next one's

  bool operator==(const Matrix&) const = default;
};

struct DotProducts {
  /// Where the matrices of one call begin, in elements.
  struct Call {
    std::int64_t a = 0, b = 0, d = 0;
  };

  std::int64_t rows = 1, columns = 1, inner = 1;
  std::int64_t batch = 1;  ///< products that one call computes
  Matrix a, b, d;
  std::vector<Call> calls;  ///< few: they come one after the other
};

/// Nothing where the strides of the operands, or an axis of size 0, do not allow it.
std::optional<DotProducts> dot_products(const Type& lhs, const Type& rhs,
                                        const DotAttributes& attributes);

/// A dot whose operands may have to be transposed first, so that `dot_products` has something.
struct LaidOutDot {
  Type lhs, rhs;  ///< after that
  DotAttributes attributes;
  /// How to transpose each operand; empty where it is taken as it is.
  std::vector<std::int64_t> lhs_order, rhs_order;
};

/// As few bytes are transposed as can be. No axis has size 0.
LaidOutDot lay_out(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

/// Whether cuBLASLt computes this dot, once it is laid out: f16, bf16, f32 and f64, no axis of size
/// 0. Others are lowered to loops.
bool has_library_dot(const Type& lhs, const Type& rhs, const DotAttributes& attributes);

}  // namespace anabranch::cuda
