// Eigenvalues and singular values by Jacobi's rotations: slow, simple, and as accurate as can be.
// Golub and Van Loan, "Matrix Computations", 4th ed., sections 8.5 and 8.6.3.
#include <algorithm>
#include <numeric>

#include "ir/interpret/matrix.h"

namespace anabranch {
namespace {

constexpr int most_sweeps = 100;

// The rotation (c, s; -s, c) that makes (x, z; z, y) diagonal.
template <class R>
std::pair<R, R> rotation(R x, R y, R z) {
  const R zeta = (y - x) / (2 * z);
  const R t = (zeta >= 0 ? R(1) : R(-1)) / (std::abs(zeta) + std::hypot(R(1), zeta));
  const R c = 1 / std::hypot(R(1), t);
  return {c, c * t};
}

template <class S>
void rotate_columns(Matrix<S>& a, std::int64_t p, std::int64_t q, Real<S> c, Real<S> s) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const S x = a(i, p), y = a(i, q);
    a(i, p) = c * x - s * y;
    a(i, q) = s * x + c * y;
  }
}
template <class S>
void rotate_rows(Matrix<S>& a, std::int64_t p, std::int64_t q, Real<S> c, Real<S> s) {
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    const S x = a(p, j), y = a(q, j);
    a(p, j) = c * x - s * y;
    a(q, j) = s * x + c * y;
  }
}
template <class S>
void scale_column(Matrix<S>& a, std::int64_t j, S factor) {
  for (std::int64_t i = 0; i < a.rows(); ++i) a(i, j) *= factor;
}

template <class S>
S phase_of(S x) {
  return x / S(std::abs(x));
}

// The places of `values` from the least to the greatest.
template <class R>
std::vector<std::int64_t> ascending(const std::vector<R>& values) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

template <class S>
struct Eigen {
  std::vector<Real<S>> values;
  Matrix<S> vectors;
};

// Rotations on both sides of a Hermitian matrix until nothing is left beside the diagonal.
template <class S>
void diagonalise(Matrix<S>& a, Matrix<S>& vectors) {
  using R = Real<S>;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool is_done = true;
    for (std::int64_t p = 0; p < a.rows(); ++p) {
      for (std::int64_t q = p + 1; q < a.rows(); ++q) {
        const R size = std::abs(a(p, q));
        const R beside = std::max(std::abs(std::real(a(p, p))), std::abs(std::real(a(q, q))));
        if (size <= std::numeric_limits<R>::min() ||
            size <= std::numeric_limits<R>::epsilon() * beside * R(0.01)) {
          continue;
        }
        is_done = false;
        const S phase = phase_of(a(p, q));
        scale_column(a, q, conjugate(phase));
        for (std::int64_t j = 0; j < a.columns(); ++j) a(q, j) *= phase;
        scale_column(vectors, q, conjugate(phase));
        const auto [c, s] = rotation<R>(std::real(a(p, p)), std::real(a(q, q)), std::real(a(p, q)));
        rotate_columns(a, p, q, c, s);
        rotate_rows(a, p, q, c, s);
        rotate_columns(vectors, p, q, c, s);
        a(p, q) = a(q, p) = 0;
      }
    }
    if (is_done) return;
  }
}

template <class S>
Eigen<S> eigen_of(Matrix<S> a) {
  const std::int64_t size = a.rows();
  auto vectors = Matrix<S>::identity(size, size);
  diagonalise(a, vectors);
  std::vector<Real<S>> diagonal;
  for (std::int64_t i = 0; i < size; ++i) diagonal.push_back(std::real(a(i, i)));
  Eigen<S> result{{}, Matrix<S>(size, size)};
  for (std::int64_t from : ascending(diagonal)) {
    const auto to = static_cast<std::int64_t>(result.values.size());
    result.values.push_back(diagonal[static_cast<std::size_t>(from)]);
    for (std::int64_t i = 0; i < size; ++i) result.vectors(i, to) = vectors(i, from);
  }
  return result;
}

// The other triangle from the one that is read.
template <class S>
void complete(Matrix<S>& a, bool lower) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    a(i, i) = std::real(a(i, i));
    for (std::int64_t j = 0; j < i; ++j) {
      if (lower) {
        a(j, i) = conjugate(a(i, j));
      } else {
        a(i, j) = conjugate(a(j, i));
      }
    }
  }
}

template <class S>
struct Singular {
  std::vector<Real<S>> values;
  Matrix<S> left, right;  // right: V, not its adjoint
};

template <class S>
S inner(const Matrix<S>& a, std::int64_t p, std::int64_t q) {
  S sum = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) sum += conjugate(a(i, p)) * a(i, q);
  return sum;
}

// Rotations of columns until they are orthogonal (one-sided Jacobi).
template <class S>
void orthogonalise(Matrix<S>& a, Matrix<S>& right) {
  using R = Real<S>;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool is_done = true;
    for (std::int64_t p = 0; p < a.columns(); ++p) {
      for (std::int64_t q = p + 1; q < a.columns(); ++q) {
        const R x = std::real(inner(a, p, p)), y = std::real(inner(a, q, q));
        const S z = inner(a, p, q);
        if (std::abs(z) <= std::numeric_limits<R>::min() ||
            std::abs(z) <= 4 * std::numeric_limits<R>::epsilon() * std::sqrt(x) * std::sqrt(y)) {
          continue;
        }
        is_done = false;
        const S phase = phase_of(z);
        scale_column(a, q, conjugate(phase));
        scale_column(right, q, conjugate(phase));
        const auto [c, s] = rotation<R>(x, y, std::abs(z));
        rotate_columns(a, p, q, c, s);
        rotate_columns(right, p, q, c, s);
      }
    }
    if (is_done) return;
  }
}

// Columns `begin` and on become unit vectors orthogonal to all before them: the axes, less what
// lies in those, twice for the rounding.
template <class S>
void complete_basis(Matrix<S>& q, std::int64_t begin) {
  using R = Real<S>;
  std::int64_t axis = 0;
  for (std::int64_t j = begin; j < q.columns(); ++j) {
    for (R length = 0; length < R(0.1) / std::sqrt(R(q.rows())); ++axis) {
      for (std::int64_t i = 0; i < q.rows(); ++i) q(i, j) = i == axis ? 1 : 0;
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t k = 0; k < j; ++k) {
          const S along = inner(q, k, j);
          for (std::int64_t i = 0; i < q.rows(); ++i) q(i, j) -= along * q(i, k);
        }
      }
      length = std::sqrt(std::real(inner(q, j, j)));
      if (length > 0) scale_column(q, j, S(1 / length));
    }
  }
}

// Of a matrix with at least as many rows as columns; `left` and `right` are square.
template <class S>
Singular<S> tall_singular(Matrix<S> a) {
  using R = Real<S>;
  const std::int64_t rows = a.rows(), columns = a.columns();
  R greatest = 0;
  for (const S& x : a.elements()) greatest = std::max(greatest, R(std::abs(x)));
  if (greatest > 0) {  // squares neither overflow nor vanish
    for (S& x : a.elements()) x /= S(greatest);
  }
  auto right = Matrix<S>::identity(columns, columns);
  orthogonalise(a, right);
  std::vector<R> lengths;
  for (std::int64_t j = 0; j < columns; ++j) {
    lengths.push_back(std::sqrt(std::real(inner(a, j, j))));
  }
  std::vector<std::int64_t> order = ascending(lengths);
  std::ranges::reverse(order);
  Singular<S> result{{}, Matrix<S>(rows, rows), Matrix<S>(columns, columns)};
  std::int64_t known = 0;
  const R least = std::numeric_limits<R>::epsilon() * 10 *
                  (lengths.empty() ? 0 : lengths[static_cast<std::size_t>(order[0])]);
  for (std::int64_t from : order) {
    const auto to = static_cast<std::int64_t>(result.values.size());
    const R length = lengths[static_cast<std::size_t>(from)];
    result.values.push_back(length * greatest);
    for (std::int64_t i = 0; i < columns; ++i) result.right(i, to) = right(i, from);
    if (length <= least) continue;
    for (std::int64_t i = 0; i < rows; ++i) result.left(i, to) = a(i, from) / S(length);
    ++known;
  }
  complete_basis(result.left, known);
  return result;
}

template <class S>
Singular<S> singular_of(const Matrix<S>& a) {
  if (a.rows() >= a.columns()) return tall_singular(a);
  Singular<S> turned = tall_singular(a.adjoint());
  return {std::move(turned.values), std::move(turned.right), std::move(turned.left)};
}

template <class S>
Matrix<S> first_columns(const Matrix<S>& a, std::int64_t count) {
  Matrix<S> result(a.rows(), count);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < count; ++j) result(i, j) = a(i, j);
  }
  return result;
}

}  // namespace

namespace rules {

Results svd(const Node& node, Operands operands) {
  const auto& [vectors, full] = node.as<SvdAttributes>();
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    using S = Wide<T>;
    const Batch batch(operands[0].type());
    Appended<Real<T>> values(node.types[0]);
    std::vector<Appended<T>> bases;
    for (std::size_t i = 1; i < node.types.size(); ++i) bases.emplace_back(node.types[i]);
    for (std::int64_t i = 0; i < batch.count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      const bool finite = a.all_finite();
      if (!finite) a.fill(0);
      Singular<S> found = singular_of(a);
      if (!finite) {
        found.values.assign(found.values.size(), nan_of<Real<S>>);
        found.left.fill(nan_of<S>);
        found.right.fill(nan_of<S>);
      }
      values.add(found.values);
      if (!vectors) continue;
      const std::int64_t least = std::min(batch.rows, batch.columns);
      bases[0].add(first_columns(found.left, full ? batch.rows : least).elements());
      bases[1].add(first_columns(found.right, full ? batch.columns : least).adjoint().elements());
    }
    Results results = {std::move(values).finish()};
    for (auto& basis : bases) results.push_back(std::move(basis).finish());
    return results;
  });
}

Results eigh(const Node& node, Operands operands) {
  const auto& [vectors, lower] = node.as<EighAttributes>();
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    using S = Wide<T>;
    Appended<Real<T>> values(node.types[0]);
    Appended<T> bases(operands[0].type());
    for (std::int64_t i = 0; i < Batch(operands[0].type()).count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      complete(a, lower);
      const bool finite = a.all_finite();
      if (!finite) a.fill(0);
      Eigen<S> found = eigen_of(std::move(a));
      if (!finite) {
        found.values.assign(found.values.size(), nan_of<Real<S>>);
        found.vectors.fill(nan_of<S>);
      }
      values.add(found.values);
      bases.add(found.vectors.elements());
    }
    Results results = {std::move(values).finish()};
    if (vectors) results.push_back(std::move(bases).finish());
    return results;
  });
}

}  // namespace rules
}  // namespace anabranch
