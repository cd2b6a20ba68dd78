// Eigenvalues and eigenvectors of any square matrix by Schur's form: rotations make it a Hessenberg
// matrix, and shifted QR steps a triangle. Golub and Van Loan, "Matrix Computations", 4th ed.,
// sections 7.4 to 7.6.
#include <algorithm>

#include "ir/interpret/matrix.h"

namespace anabranch {
namespace {

constexpr int most_qr_steps = 300;  // for one eigenvalue

// A = Q T Q^H with Q unitary and T an upper triangle, whose diagonal has the eigenvalues.
template <class R>
class Schur {
 public:
  using C = std::complex<R>;

  explicit Schur(Matrix<C> a)
      : t_(std::move(a)), q_(Matrix<C>::identity(t_.rows(), t_.rows())), size_(t_.rows()) {
    for (const C& x : t_.elements()) norm_ = std::max(norm_, std::abs(x));
    make_hessenberg();
    converged_ = make_triangle();
  }

  bool converged() const { return converged_; }
  R norm() const { return norm_; }
  std::int64_t size() const { return size_; }
  C value(std::int64_t k) const { return t_(k, k); }

  /// v with A v = w v for eigenvalue k: back substitution in T.
  std::vector<C> right(std::int64_t k) const {
    std::vector<C> x = unit(k);
    for (std::int64_t i = k - 1; i >= 0; --i) {
      C sum = 0;
      for (std::int64_t j = i + 1; j <= k; ++j) sum += t_(i, j) * x[at(j)];
      x[at(i)] = -sum / apart(i, k);
      hold_down(x, i);
    }
    return normalised(x);
  }
  /// u with u^H A = w u^H for eigenvalue k: forward substitution in T, for conjugates.
  std::vector<C> left(std::int64_t k) const {
    std::vector<C> x = unit(k);
    for (std::int64_t j = k + 1; j < size_; ++j) {
      C sum = 0;
      for (std::int64_t i = k; i < j; ++i) sum += x[at(i)] * t_(i, j);
      x[at(j)] = -sum / apart(j, k);
      hold_down(x, j);
    }
    for (C& number : x) number = std::conj(number);
    return normalised(x);
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  // The unitary matrix (c, s; -conj(s), c) that takes (x, y) to (r, 0).
  struct Rotation {
    R c = 1;
    C s = 0;

    Rotation(C x, C y) {
      const R size = std::hypot(std::abs(x), std::abs(y));
      if (size == 0) return;
      c = std::abs(x) / size;
      s = c == 0 ? std::conj(y) / size : x / std::abs(x) * std::conj(y) / size;
    }
  };

  // T becomes G T G^H, and Q becomes Q G^H, G being the rotation of rows p and q.
  void rotate(std::int64_t p, std::int64_t q, const Rotation& g) {
    for (std::int64_t j = 0; j < size_; ++j) {
      const C x = t_(p, j), y = t_(q, j);
      t_(p, j) = g.c * x + g.s * y;
      t_(q, j) = g.c * y - std::conj(g.s) * x;
    }
    for (Matrix<C>* matrix : {&t_, &q_}) {
      for (std::int64_t i = 0; i < size_; ++i) {
        const C x = (*matrix)(i, p), y = (*matrix)(i, q);
        (*matrix)(i, p) = g.c * x + std::conj(g.s) * y;
        (*matrix)(i, q) = g.c * y - g.s * x;
      }
    }
  }

  void make_hessenberg() {
    for (std::int64_t k = 0; k + 2 < size_; ++k) {
      for (std::int64_t i = size_ - 1; i > k + 1; --i) {
        if (t_(i, k) == C(0)) continue;
        rotate(i - 1, i, Rotation(t_(i - 1, k), t_(i, k)));
        t_(i, k) = 0;
      }
    }
  }

  // Whether what is below the diagonal at `i` does not count.
  bool is_negligible(std::int64_t i) const {
    const R beside = std::abs(t_(i - 1, i - 1)) + std::abs(t_(i, i));
    const R epsilon = std::numeric_limits<R>::epsilon();
    return std::abs(t_(i, i - 1)) <= epsilon * (beside > 0 ? beside : norm_);
  }

  // The eigenvalue of the last two rows and columns that is nearer to the last element (Wilkinson's
  // shift), or now and then another number, where that one leads round in a circle.
  C shift(std::int64_t last, int step) const {
    const C below = t_(last, last - 1), corner = t_(last, last);
    if (step % 10 == 9) return corner + C(std::abs(below));
    const C half = (t_(last - 1, last - 1) - corner) / R(2), product = t_(last - 1, last) * below;
    const C root = std::sqrt(half * half + product);
    const C sum = std::abs(half + root) >= std::abs(half - root) ? half + root : half - root;
    return sum == C(0) ? corner : corner - product / sum;
  }

  // An implicit QR step of rows and columns `first` to `last`.
  void step(std::int64_t first, std::int64_t last, C shift) {
    C x = t_(first, first) - shift, y = t_(first + 1, first);
    for (std::int64_t k = first; k < last; ++k) {
      rotate(k, k + 1, Rotation(x, y));
      if (k > first) t_(k + 1, k - 1) = 0;
      if (k + 2 > last) break;
      x = t_(k + 1, k), y = t_(k + 2, k);
    }
  }

  bool make_triangle() {
    int steps = 0;
    for (std::int64_t last = size_ - 1; last > 0;) {
      std::int64_t first = last;
      while (first > 0 && !is_negligible(first)) --first;
      if (first > 0) t_(first, first - 1) = 0;
      if (first == last) {
        --last;
        steps = 0;
        continue;
      }
      if (steps == most_qr_steps) return false;
      step(first, last, shift(last, steps++));
    }
    return true;
  }

  std::vector<C> unit(std::int64_t k) const {
    std::vector<C> x(at(size_));
    x[at(k)] = 1;
    return x;
  }

  // T's element i of the diagonal less its element k, and not 0.
  C apart(std::int64_t i, std::int64_t k) const {
    const C difference = t_(i, i) - t_(k, k);
    const R least =
        std::max(std::numeric_limits<R>::epsilon() * norm_, std::numeric_limits<R>::min());
    return std::abs(difference) < least ? C(least) : difference;
  }

  // Scales a vector down whose element i has become large.
  static void hold_down(std::vector<C>& x, std::int64_t i) {
    const R size = std::abs(x[at(i)]);
    if (size < 1 / std::numeric_limits<R>::epsilon()) return;
    for (C& number : x) number /= size;
  }

  // Q x, of length 1, its greatest component real.
  std::vector<C> normalised(const std::vector<C>& x) const {
    std::vector<C> v(at(size_));
    R squares = 0, greatest = 0;
    C leading = 1;
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t j = 0; j < size_; ++j) v[at(i)] += q_(i, j) * x[at(j)];
      const R size = std::abs(v[at(i)]);
      squares += size * size;
      if (size > greatest) greatest = size, leading = v[at(i)];
    }
    const C factor = std::conj(leading) / std::abs(leading) / std::sqrt(squares);
    for (C& number : v) number *= factor;
    return v;
  }

  Matrix<C> t_, q_;
  std::int64_t size_;
  R norm_ = 0;
  bool converged_ = false;
};

template <class S>
Matrix<std::complex<Real<S>>> as_complex(Matrix<S> a) {
  Matrix<std::complex<Real<S>>> made(a.rows(), a.columns());
  std::ranges::copy(a.elements(), made.elements().begin());
  return made;
}

// Those of a real matrix are real but for rounding, or come in conjugate pairs.
template <class R>
std::vector<std::complex<R>> values_of(const Schur<R>& schur, bool is_real) {
  const R noise = 100 * std::numeric_limits<R>::epsilon() * schur.norm() * R(schur.size());
  std::vector<std::complex<R>> values;
  for (std::int64_t k = 0; k < schur.size(); ++k) {
    const std::complex<R> value = schur.value(k);
    const bool drops = is_real && std::abs(value.imag()) <= noise;
    values.push_back(drops ? std::complex<R>(value.real()) : value);
  }
  return values;
}

// Vectors as columns.
template <class R>
Matrix<std::complex<R>> vectors_of(const Schur<R>& schur, bool left) {
  Matrix<std::complex<R>> vectors(schur.size(), schur.size());
  for (std::int64_t k = 0; k < schur.size(); ++k) {
    const auto vector = left ? schur.left(k) : schur.right(k);
    for (std::int64_t i = 0; i < schur.size(); ++i) {
      vectors(i, k) = vector[static_cast<std::size_t>(i)];
    }
  }
  return vectors;
}

}  // namespace

namespace rules {

Results eig(const Node& node, Operands operands) {
  const bool left = node.as<EigAttributes>().left;
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    using R = Real<Wide<T>>;
    using Given = std::complex<Real<T>>;
    Appended<Given> values(node.types[0]);
    std::vector<Appended<Given>> bases;
    for (std::size_t i = 1; i < node.types.size(); ++i) bases.emplace_back(node.types[i]);
    for (std::int64_t i = 0; i < Batch(operands[0].type()).count; ++i) {
      auto a = as_complex(matrix_at<T>(operands[0], i));
      const bool is_finite = a.all_finite();
      if (!is_finite) a.fill(0);
      const Schur<R> schur(std::move(a));
      const bool exists = is_finite && schur.converged();
      auto found = values_of(schur, std::is_floating_point_v<T>);
      if (!exists) found.assign(found.size(), nan_of<std::complex<R>>);
      values.add(found);
      for (std::size_t k = 0; k < bases.size(); ++k) {
        auto vectors = vectors_of(schur, left && k == 0);
        if (!exists) vectors.fill(nan_of<std::complex<R>>);
        bases[k].add(vectors.elements());
      }
    }
    Results results = {std::move(values).finish()};
    for (auto& basis : bases) results.push_back(std::move(basis).finish());
    return results;
  });
}

}  // namespace rules
}  // namespace anabranch
