// Products of f64 matrices by OpenBLAS.
#pragma once

#include <cstdint>

namespace anabranch {

/// A matrix in memory: element [i, j] is at i * row_stride + j * column_stride, and one of the two
/// is 1.
struct StridedMatrix {
  const double* elements;
  std::int64_t row_stride, column_stride;
};

/// result = left right, of [rows, inner] and [inner, columns], on the calling thread; rows of the
/// result are `result_stride` elements apart. Throws Error where the process has left main.
void multiply(const StridedMatrix& left, const StridedMatrix& right, std::int64_t rows,
              std::int64_t inner, std::int64_t columns, double* result, std::int64_t result_stride);

}  // namespace anabranch
