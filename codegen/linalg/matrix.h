// Matrices as the tasks of linear algebra see them: row by row in buffers, column by column in
// LAPACK's memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/type.h"

namespace anabranch::lapack {

/// The matrices that the last two axes of a type hold.
struct Batch {
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit Batch(const Type& type)
      : rows(type.shape[type.rank() - 2]), columns(type.shape[type.rank() - 1]) {
    for (int axis = 0; axis + 2 < type.rank(); ++axis) count *= type.shape[axis];
  }
  std::int64_t size() const { return rows * columns; }
  std::int64_t least() const { return std::min(rows, columns); }
};

/// NaN in both parts, where it has two.
template <class T>
inline constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();
template <class R>
inline constexpr std::complex<R> nan_of<std::complex<R>> = {std::numeric_limits<R>::quiet_NaN(),
                                                            std::numeric_limits<R>::quiet_NaN()};

template <class T>
bool all_finite(const T* elements, std::int64_t count) {
  // A sum of products with 0 is 0, or NaN where one is not finite: no branch in the loop.
  T sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += elements[i] * T(0);
  return sum == T(0);
}

/// What a row of `size` elements has of a Hermitian matrix's triangle, with zeros beside it: of the
/// diagonal the real part. Whether all of it is finite.
template <class T>
bool copy_triangle_row(const T* from, T* to, std::int64_t size, std::int64_t row, bool lower) {
  from += row * size, to += row * size;
  const std::int64_t first = lower ? 0 : row, last = lower ? row + 1 : size;
  std::fill_n(to, first, T(0));
  std::copy(from + first, from + last, to + first);
  std::fill_n(to + last, size - last, T(0));
  to[row] = std::real(to[row]);
  return all_finite(to + first, last - first);
}

/// NaN in what a row of `size` elements has of a triangle.
template <class T>
void fill_triangle_row(T* matrix, std::int64_t size, std::int64_t row, bool lower) {
  const std::int64_t first = lower ? 0 : row, last = lower ? row + 1 : size;
  std::fill_n(matrix + row * size + first, last - first, nan_of<T>);
}

/// What a routine asks for with a size of -1. It answers in its element type, and many releases of
/// LAPACK round to the nearest number, which may be below: the next one above is enough.
template <class T>
std::vector<T> workspace(T asked) {
  using Part = decltype(std::real(asked));
  const Part size = std::nextafter(std::real(asked), std::numeric_limits<Part>::infinity());
  return std::vector<T>(static_cast<std::size_t>(std::max(size, Part(1))));
}

/// to[j][i] = from[i][j], in blocks that stay in the cache.
template <class T>
void transpose(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  constexpr std::int64_t block = 32;
  for (std::int64_t i = 0; i < rows; i += block) {
    const std::int64_t last_row = std::min(i + block, rows);
    for (std::int64_t j = 0; j < columns; j += block) {
      const std::int64_t last_column = std::min(j + block, columns);
      for (std::int64_t row = i; row < last_row; ++row) {
        for (std::int64_t column = j; column < last_column; ++column) {
          to[column * rows + row] = from[row * columns + column];
        }
      }
    }
  }
}

/// A matrix of `rows` by `columns` with ones on its diagonal.
template <class T>
void set_identity(T* matrix, std::int64_t rows, std::int64_t columns) {
  std::fill_n(matrix, rows * columns, T(0));
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) matrix[i * columns + i] = 1;
}

}  // namespace anabranch::lapack
