// Matrices of the interpreter's linear algebra: computed in a wider type, rounded once.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/interpret/rules.h"

namespace anabranch {

/// The real type of a real or complex number.
template <class S>
struct RealOf {
  using type = S;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class S>
using Real = typename RealOf<S>::type;

/// What a matrix of T is computed in.
template <class T>
using Wide = Exact<T>;

template <class S>
S conjugate(S x) {
  if constexpr (std::is_floating_point_v<S>)
    return x;
  else
    return std::conj(x);
}

template <class S>
bool is_finite_number(S x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

/// Rows and columns of numbers, zeros at first.
template <class S>
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), elements_(static_cast<std::size_t>(rows * columns)) {}
  static Matrix identity(std::int64_t rows, std::int64_t columns) {
    Matrix made(rows, columns);
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) made(i, i) = 1;
    return made;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  S& operator()(std::int64_t row, std::int64_t column) {
    return elements_[static_cast<std::size_t>(row * columns_ + column)];
  }
  const S& operator()(std::int64_t row, std::int64_t column) const {
    return elements_[static_cast<std::size_t>(row * columns_ + column)];
  }

  std::vector<S>& elements() { return elements_; }
  bool all_finite() const {
    for (const S& x : elements_) {
      if (!is_finite_number(x)) return false;
    }
    return true;
  }
  void fill(S value) { elements_.assign(elements_.size(), value); }

  /// The conjugate transpose.
  Matrix adjoint() const {
    Matrix result(columns_, rows_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) result(j, i) = conjugate((*this)(i, j));
    }
    return result;
  }

 private:
  std::int64_t rows_, columns_;
  std::vector<S> elements_;
};

/// NaN in both parts, where it has two.
template <class S>
inline constexpr S nan_of = std::numeric_limits<S>::quiet_NaN();
template <class R>
inline constexpr std::complex<R> nan_of<std::complex<R>> = {std::numeric_limits<R>::quiet_NaN(),
                                                            std::numeric_limits<R>::quiet_NaN()};

/// Rows, columns and number of the matrices that the last two axes of a type hold.
struct Batch {
  std::int64_t count = 1, rows, columns;

  explicit Batch(const Type& type)
      : rows(type.shape[type.rank() - 2]), columns(type.shape[type.rank() - 1]) {
    for (int axis = 0; axis + 2 < type.rank(); ++axis) count *= type.shape[axis];
  }
};

/// Matrix `index` of a literal.
template <class T>
Matrix<Wide<T>> matrix_at(const Literal& literal, std::int64_t index) {
  const Batch batch(literal.type());
  Matrix<Wide<T>> made(batch.rows, batch.columns);
  const auto from = literal.values<T>().subspan(
      static_cast<std::size_t>(index * batch.rows * batch.columns), made.elements().size());
  for (std::size_t i = 0; i < from.size(); ++i) made.elements()[i] = Wide<T>(from[i]);
  return made;
}

/// Writes numbers one after the other as the elements of a result, rounded.
template <class T>
class Appended {
 public:
  explicit Appended(const Type& type) : elements_(type) {}

  template <class S>
  void add(const std::vector<S>& numbers) {
    for (const S& x : numbers) elements_[next_++] = T(x);
  }
  Literal finish() && { return std::move(elements_).finish()[0]; }

 private:
  Elements<T> elements_;
  std::int64_t next_ = 0;
};

/// `compute<T>()` for the dtype of a matrix.
template <class Compute>
Results visit_matrix(const Node& node, const Literal& operand, Compute compute) {
  switch (operand.type().dtype) {
    case Dtype::f32:
      return compute.template operator()<float>();
    case Dtype::f64:
      return compute.template operator()<double>();
    case Dtype::c64:
      return compute.template operator()<std::complex<float>>();
    case Dtype::c128:
      return compute.template operator()<std::complex<double>>();
    default:
      refuse_dtype(node, operand.type().dtype);
  }
}

}  // namespace anabranch
