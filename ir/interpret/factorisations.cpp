// Factorisations that end after a known number of steps, and what solves with their triangles.
// Golub and Van Loan, "Matrix Computations", 4th ed., chapters 3 to 5.
#include <numeric>

#include "ir/interpret/matrix.h"

namespace anabranch {
namespace {

// A = L L^H, row by row (Cholesky-Banachiewicz), from the lower triangle. Whether there is one.
template <class S>
bool factor_in_place(Matrix<S>& a) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      S sum = i == j ? S(std::real(a(i, j))) : a(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= a(i, k) * conjugate(a(j, k));
      if (!is_finite_number(sum)) return false;
      if (i > j) {
        a(i, j) = sum / a(j, j);
      } else if (std::real(sum) > 0) {
        a(i, i) = std::sqrt(std::real(sum));
      } else {
        return false;
      }
    }
  }
  return true;
}

// The lower triangle with its factor, or NaN.
template <class S>
Matrix<S> cholesky_of(Matrix<S> a) {
  const bool exists = factor_in_place(a);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      if (j > i) {
        a(i, j) = 0;
      } else if (!exists) {
        a(i, j) = nan_of<S>;
      }
    }
  }
  return a;
}

// X with A X = B, in place of B, for the lower or upper triangle of A.
template <class S>
void substitute(const Matrix<S>& a, bool lower, bool unit_diagonal, Matrix<S>& b) {
  const std::int64_t size = a.rows();
  for (std::int64_t column = 0; column < b.columns(); ++column) {
    for (std::int64_t step = 0; step < size; ++step) {
      const std::int64_t i = lower ? step : size - 1 - step;
      S sum = b(i, column);
      const std::int64_t begin = lower ? 0 : i + 1, end = lower ? i : size;
      for (std::int64_t k = begin; k < end; ++k) sum -= a(i, k) * b(k, column);
      b(i, column) = unit_diagonal ? sum : sum / a(i, i);
    }
  }
}

template <class S>
Matrix<S> conjugated(Matrix<S> a) {
  for (S& x : a.elements()) x = conjugate(x);
  return a;
}

// X op(A) = B is op(A)^T X^T = B^T.
template <class S>
Matrix<S> triangular_solution(Matrix<S> a, Matrix<S> b, const TriangularSolveAttributes& how) {
  bool lower = how.lower;
  const bool turned = (how.transpose_a != Transpose::no) == how.left_side;
  if (how.transpose_a == Transpose::adjoint) a = conjugated(a);
  if (turned) {
    a = conjugated(a.adjoint());
    lower = !lower;
  }
  if (!how.left_side) b = conjugated(b.adjoint());
  substitute(a, lower, how.unit_diagonal, b);
  if (how.left_side) return b;
  return conjugated(b.adjoint());
}

// What LAPACK takes for the magnitude of a pivot.
template <class S>
Real<S> pivot_size(S x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// Gaussian elimination with row exchanges; the first of the greatest pivots.
template <class S>
void eliminate(Matrix<S>& a, std::vector<std::int32_t>& pivots, std::vector<std::int32_t>& order) {
  for (std::int64_t j = 0; j < std::min(a.rows(), a.columns()); ++j) {
    std::int64_t best = j;
    for (std::int64_t i = j + 1; i < a.rows(); ++i) {
      if (pivot_size(a(i, j)) > pivot_size(a(best, j))) best = i;
    }
    pivots[static_cast<std::size_t>(j)] = static_cast<std::int32_t>(best);
    if (best != j) {
      for (std::int64_t k = 0; k < a.columns(); ++k) std::swap(a(j, k), a(best, k));
      std::swap(order[static_cast<std::size_t>(j)], order[static_cast<std::size_t>(best)]);
    }
    if (a(j, j) == S(0)) continue;
    for (std::int64_t i = j + 1; i < a.rows(); ++i) {
      a(i, j) /= a(j, j);
      for (std::int64_t k = j + 1; k < a.columns(); ++k) a(i, k) -= a(i, j) * a(j, k);
    }
  }
}

// H = I - tau v v^H, v(0) = 1, with H^H x = beta e_0 and beta real: LAPACK's larfg. `x` becomes
// beta and the rest of v; gives tau.
template <class S>
S reflect(Matrix<S>& a, std::int64_t j) {
  Real<S> tail = 0;
  for (std::int64_t i = j + 1; i < a.rows(); ++i) tail += std::norm(a(i, j));
  const S alpha = a(j, j);
  if (tail == 0 && std::imag(alpha) == 0) return 0;
  const Real<S> norm = std::sqrt(tail + std::norm(alpha));
  const Real<S> beta = std::real(alpha) >= 0 ? -norm : norm;
  for (std::int64_t i = j + 1; i < a.rows(); ++i) a(i, j) /= alpha - beta;
  a(j, j) = beta;
  return (S(beta) - alpha) / beta;
}

// (I - tau v v^H) times columns `begin` and on of `target`; v is below the diagonal of column j of
// `vectors`.
template <class S>
void apply_reflector(const Matrix<S>& vectors, std::int64_t j, S tau, Matrix<S>& target,
                     std::int64_t begin) {
  for (std::int64_t column = begin; column < target.columns(); ++column) {
    S sum = target(j, column);
    for (std::int64_t i = j + 1; i < target.rows(); ++i) {
      sum += conjugate(vectors(i, j)) * target(i, column);
    }
    sum *= tau;
    target(j, column) -= sum;
    for (std::int64_t i = j + 1; i < target.rows(); ++i) {
      target(i, column) -= vectors(i, j) * sum;
    }
  }
}

template <class S>
std::vector<S> triangularise(Matrix<S>& a) {
  std::vector<S> factors(static_cast<std::size_t>(std::min(a.rows(), a.columns())));
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const auto column = static_cast<std::int64_t>(j);
    factors[j] = reflect(a, column);
    apply_reflector(a, column, conjugate(factors[j]), a, column + 1);
  }
  return factors;
}

template <class S>
void swap_columns(Matrix<S>& a, std::int64_t p, std::int64_t q) {
  for (std::int64_t i = 0; i < a.rows() && p != q; ++i) std::swap(a(i, p), a(i, q));
}

// The same, each column after the first `fixed` chosen among those that are left: the first of the
// longest in the rows that are left. Section 5.4.2.
template <class S>
std::vector<S> triangularise_pivoted(Matrix<S>& a, std::int64_t fixed,
                                     std::vector<std::int32_t>& order) {
  std::vector<S> factors(static_cast<std::size_t>(std::min(a.rows(), a.columns())));
  for (std::int64_t j = 0; j < std::ssize(factors); ++j) {
    std::int64_t best = j;
    Real<S> greatest = -1;
    for (std::int64_t column = j; column < a.columns() && j >= fixed; ++column) {
      Real<S> squares = 0;
      for (std::int64_t i = j; i < a.rows(); ++i) squares += std::norm(a(i, column));
      if (squares > greatest) greatest = squares, best = column;
    }
    swap_columns(a, j, best);
    std::swap(order[static_cast<std::size_t>(j)], order[static_cast<std::size_t>(best)]);
    S& factor = factors[static_cast<std::size_t>(j)];
    factor = reflect(a, j);
    apply_reflector(a, j, conjugate(factor), a, j + 1);
  }
  return factors;
}

// A matrix of three diagonals, as rows that begin at the diagonal: elimination with exchanges fills
// one diagonal more.
template <class S>
struct Tridiagonal {
  std::vector<S> below, on, above, above_that;

  // X with A X = B, in place of B. Whether there is one.
  bool solve(Matrix<S>& b) {
    const std::size_t size = on.size();
    above_that.assign(size, S(0));
    for (std::size_t i = 0; i + 1 < size; ++i) eliminate(i, b);
    for (std::size_t i = 0; i < size; ++i) {
      if (on[i] == S(0)) return false;
    }
    for (std::size_t step = 1; step <= size; ++step) substitute(size - step, b);
    return true;
  }

 private:
  // The measure by which LAPACK chooses a pivot.
  static Real<S> magnitude(S x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); }

  // What is below the diagonal in row i + 1.
  void eliminate(std::size_t i, Matrix<S>& b) {
    const auto row = static_cast<std::int64_t>(i);
    S next[3] = {below[i + 1], on[i + 1], i + 2 < on.size() ? above[i + 1] : S(0)};
    if (magnitude(on[i]) < magnitude(next[0])) {
      std::swap(on[i], next[0]);
      std::swap(above[i], next[1]);
      std::swap(above_that[i], next[2]);
      for (std::int64_t j = 0; j < b.columns(); ++j) std::swap(b(row, j), b(row + 1, j));
    }
    const S factor = on[i] == S(0) ? S(0) : next[0] / on[i];
    on[i + 1] = next[1] - factor * above[i];
    if (i + 2 < on.size()) above[i + 1] = next[2] - factor * above_that[i];
    for (std::int64_t j = 0; j < b.columns(); ++j) b(row + 1, j) -= factor * b(row, j);
  }

  void substitute(std::size_t i, Matrix<S>& b) const {
    const auto row = static_cast<std::int64_t>(i);
    for (std::int64_t j = 0; j < b.columns(); ++j) {
      S sum = b(row, j);
      if (i + 1 < on.size()) sum -= above[i] * b(row + 1, j);
      if (i + 2 < on.size()) sum -= above_that[i] * b(row + 2, j);
      b(row, j) = sum / on[i];
    }
  }
};

// Elements of matrix `index`'s diagonal but for `unread`, which is 0. All are finite, or `finite`
// becomes false.
template <class T>
std::vector<Wide<T>> diagonal_at(const Literal& literal, std::int64_t index, std::int64_t size,
                                 std::int64_t unread, bool& finite) {
  const auto values = literal.values<T>();
  std::vector<Wide<T>> diagonal;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(index * size + i);
    diagonal.push_back(i == unread ? Wide<T>(0) : Wide<T>(values[at]));
    finite = finite && is_finite_number(diagonal.back());
  }
  return diagonal;
}

}  // namespace

namespace rules {

Results cholesky(const Node& node, Operands operands) {
  const bool lower = node.as<TriangleAttributes>().lower;
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    Appended<T> result(node.types[0]);
    for (std::int64_t i = 0; i < Batch(node.types[0]).count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      if (!lower) a = a.adjoint();
      a = cholesky_of(std::move(a));
      if (!lower) {
        a = a.adjoint();
        for (std::int64_t row = 0; row < a.rows(); ++row) {
          for (std::int64_t column = 0; column < row; ++column) a(row, column) = 0;  // not -0 i
        }
      }
      result.add(a.elements());
    }
    return {std::move(result).finish()};
  });
}

Results triangular_solve(const Node& node, Operands operands) {
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    Appended<T> result(node.types[0]);
    for (std::int64_t i = 0; i < Batch(node.types[0]).count; ++i) {
      auto solution =
          triangular_solution(matrix_at<T>(operands[0], i), matrix_at<T>(operands[1], i),
                              node.as<TriangularSolveAttributes>());
      result.add(solution.elements());
    }
    return {std::move(result).finish()};
  });
}

Results lu(const Node& node, Operands operands) {
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    const Batch batch(node.types[0]);
    Appended<T> packed(node.types[0]);
    Appended<std::int32_t> all_pivots(node.types[1]), permutation(node.types[2]);
    for (std::int64_t i = 0; i < batch.count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      std::vector<std::int32_t> pivots(
          static_cast<std::size_t>(std::min(batch.rows, batch.columns))),
          order(static_cast<std::size_t>(batch.rows));
      std::iota(pivots.begin(), pivots.end(), 0);
      std::iota(order.begin(), order.end(), 0);
      if (a.all_finite()) {
        eliminate(a, pivots, order);
      } else {
        a.fill(nan_of<Wide<T>>);
      }
      packed.add(a.elements());
      all_pivots.add(pivots);
      permutation.add(order);
    }
    return {std::move(packed).finish(), std::move(all_pivots).finish(),
            std::move(permutation).finish()};
  });
}

Results qr(const Node& node, Operands operands) {
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    Appended<T> packed(node.types[0]), factors(node.types[1]);
    for (std::int64_t i = 0; i < Batch(node.types[0]).count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      const bool finite = a.all_finite();
      auto tau = triangularise(a);
      if (!finite) {
        a.fill(nan_of<Wide<T>>);
        tau.assign(tau.size(), nan_of<Wide<T>>);
      }
      packed.add(a.elements());
      factors.add(tau);
    }
    return {std::move(packed).finish(), std::move(factors).finish()};
  });
}

Results qr_pivoted(const Node& node, Operands operands) {
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    using S = Wide<T>;
    const Batch batch(node.types[0]);
    const std::int64_t least = std::min(batch.rows, batch.columns);
    Appended<T> packed(node.types[0]), factors(node.types[1]);
    Appended<std::int32_t> permutation(node.types[2]);
    const auto is_first = operands[1].values<std::int32_t>();
    for (std::int64_t i = 0; i < batch.count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      std::vector<S> tau(static_cast<std::size_t>(least), nan_of<S>);
      std::vector<std::int32_t> order(static_cast<std::size_t>(batch.columns));
      std::iota(order.begin(), order.end(), 0);
      if (!a.all_finite()) {
        a.fill(nan_of<S>);
      } else if (least > 0) {
        std::int64_t fixed = 0;
        for (std::int64_t j = 0; j < batch.columns; ++j) {
          if (is_first[static_cast<std::size_t>(i * batch.columns + j)] == 0) continue;
          swap_columns(a, fixed, j);
          std::swap(order[static_cast<std::size_t>(fixed++)], order[static_cast<std::size_t>(j)]);
        }
        tau = triangularise_pivoted(a, fixed, order);
      }
      packed.add(a.elements());
      factors.add(tau);
      permutation.add(order);
    }
    return {std::move(packed).finish(), std::move(factors).finish(),
            std::move(permutation).finish()};
  });
}

Results householder_product(const Node& node, Operands operands) {
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    const Batch batch(node.types[0]);
    Appended<T> result(node.types[0]);
    const Type& factors = operands[1].type();
    const std::int64_t count = factors.shape[factors.rank() - 1];
    const auto taus = operands[1].values<T>();
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const auto a = matrix_at<T>(operands[0], i);
      bool finite = a.all_finite();
      auto q = Matrix<Wide<T>>::identity(batch.rows, batch.columns);
      for (std::int64_t j = count - 1; j >= 0; --j) {
        const auto tau = Wide<T>(taus[static_cast<std::size_t>(i * count + j)]);
        finite = finite && is_finite_number(tau);
        apply_reflector(a, j, tau, q, j);
      }
      if (!finite) q.fill(nan_of<Wide<T>>);
      result.add(q.elements());
    }
    return {std::move(result).finish()};
  });
}

Results tridiagonal_solve(const Node& node, Operands operands) {
  return visit_matrix(node, operands[3], [&]<class T>() -> Results {
    using S = Wide<T>;
    const Batch batch(node.types[0]);
    Appended<T> result(node.types[0]);
    for (std::int64_t i = 0; i < batch.count; ++i) {
      bool exists = true;
      const auto diagonal = [&](std::size_t k, std::int64_t unread) {
        return diagonal_at<T>(operands[k], i, batch.rows, unread, exists);
      };
      Tridiagonal<S> a{diagonal(0, 0), diagonal(1, -1), diagonal(2, batch.rows - 1), {}};
      auto x = matrix_at<T>(operands[3], i);
      exists = exists && a.solve(x);
      if (!exists) x.fill(nan_of<S>);
      result.add(x.elements());
    }
    return {std::move(result).finish()};
  });
}

}  // namespace rules
}  // namespace anabranch
