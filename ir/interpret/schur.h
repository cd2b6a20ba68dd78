// SchurForm: A = Z T Z^H with Z unitary and T triangular, by rotations that make A a Hessenberg
// matrix and by shifted QR steps. Golub and Van Loan, "Matrix Computations", 4th ed., sections 7.4
// and 7.5.
#pragma once

#include <algorithm>

#include "ir/interpret/matrix.h"

namespace anabranch {

/// Of a real A, T has a block of two rows and columns on its diagonal for each pair of eigenvalues
/// that are not real: its diagonal elements are equal, and the other two differ in sign.
template <class S>
class SchurForm {
 public:
  using R = Real<S>;

  explicit SchurForm(Matrix<S> a)
      : t_(std::move(a)), z_(Matrix<S>::identity(t_.rows(), t_.rows())), size_(t_.rows()) {
    for (const S& x : t_.elements()) norm_ = std::max(norm_, std::abs(x));
    make_hessenberg();
    converged_ = make_triangle();
  }

  bool converged() const { return converged_; }
  /// The greatest magnitude of an element of A.
  R norm() const { return norm_; }
  Matrix<S>& t() { return t_; }
  const Matrix<S>& t() const { return t_; }
  Matrix<S>& z() { return z_; }
  const Matrix<S>& z() const { return z_; }

 private:
  static constexpr int most_qr_steps = 300;  // for one eigenvalue
  static constexpr bool is_real = std::is_same_v<S, R>;

  // The unitary matrix (c, s; -conj(s), c) that takes (x, y) to (r, 0).
  struct Rotation {
    R c = 1;
    S s = 0;

    Rotation(S x, S y) {
      const R size = std::hypot(std::abs(x), std::abs(y));
      if (size == 0) return;
      c = std::abs(x) / size;
      s = c == 0 ? conjugate(y) / size : x / std::abs(x) * conjugate(y) / size;
    }
  };

  // T becomes G T G^H, and Z becomes Z G^H, G being the rotation of rows p and q.
  void rotate(std::int64_t p, std::int64_t q, const Rotation& g) {
    for (std::int64_t j = 0; j < size_; ++j) {
      const S x = t_(p, j), y = t_(q, j);
      t_(p, j) = g.c * x + g.s * y;
      t_(q, j) = g.c * y - conjugate(g.s) * x;
    }
    for (Matrix<S>* matrix : {&t_, &z_}) {
      for (std::int64_t i = 0; i < size_; ++i) {
        const S x = (*matrix)(i, p), y = (*matrix)(i, q);
        (*matrix)(i, p) = g.c * x + conjugate(g.s) * y;
        (*matrix)(i, q) = g.c * y - g.s * x;
      }
    }
  }

  void make_hessenberg() {
    for (std::int64_t k = 0; k + 2 < size_; ++k) {
      for (std::int64_t i = size_ - 1; i > k + 1; --i) {
        if (t_(i, k) == S(0)) continue;
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

  bool make_triangle() {
    int steps = 0;
    for (std::int64_t last = size_ - 1; last > 0;) {
      std::int64_t first = last;
      while (first > 0 && !is_negligible(first)) --first;
      if (first > 0) t_(first, first - 1) = 0;
      const bool is_pair = is_real && first == last - 1;
      if constexpr (is_real) {
        if (is_pair) standardise(first);
      }
      if (first == last || is_pair) {
        last = first - 1;
        steps = 0;
        continue;
      }
      if (steps == most_qr_steps) return false;
      const bool is_exceptional = ++steps % 10 == 0;
      if constexpr (is_real) {
        double_step(first, last, is_exceptional);
      } else {
        single_step(first, last, shift(last, is_exceptional));
      }
    }
    return true;
  }

  // --- complex numbers: one shift a step ---------------------------------------------------------

  // The eigenvalue of the last two rows and columns that is nearer to the last element (Wilkinson's
  // shift), or now and then another number, where that one leads round in a circle.
  S shift(std::int64_t last, bool is_exceptional) const {
    const S below = t_(last, last - 1), corner = t_(last, last);
    if (is_exceptional) return corner + S(std::abs(below));
    const S half = (t_(last - 1, last - 1) - corner) / R(2), product = t_(last - 1, last) * below;
    const S root = std::sqrt(half * half + product);
    const S sum = std::abs(half + root) >= std::abs(half - root) ? half + root : half - root;
    return sum == S(0) ? corner : corner - product / sum;
  }

  // An implicit QR step of rows and columns `first` to `last`.
  void single_step(std::int64_t first, std::int64_t last, S shift) {
    S x = t_(first, first) - shift, y = t_(first + 1, first);
    for (std::int64_t k = first; k < last; ++k) {
      rotate(k, k + 1, Rotation(x, y));
      if (k > first) t_(k + 1, k - 1) = 0;
      if (k + 2 > last) break;
      x = t_(k + 1, k), y = t_(k + 2, k);
    }
  }

  // --- real numbers: two shifts a step, which are real or conjugates -----------------------------

  // Francis's step of rows and columns `first` to `last`, of which there are at least three. The
  // shifts are the eigenvalues of the last two rows and columns, or now and then other numbers
  // (those of EISPACK's hqr). Section 7.5.5.
  void double_step(std::int64_t first, std::int64_t last, bool is_exceptional) {
    const auto h = [this](std::int64_t i, std::int64_t j) { return t_(i, j); };
    S sum = h(last - 1, last - 1) + h(last, last);
    S product = h(last - 1, last - 1) * h(last, last) - h(last - 1, last) * h(last, last - 1);
    if (is_exceptional) {
      const S size = std::abs(h(last, last - 1)) + std::abs(h(last - 1, last - 2));
      const S centre = h(last, last) + S(0.75) * size;
      sum = 2 * centre;
      product = centre * centre + S(0.4375) * size * size;
    }
    // The first column of (H - a)(H - b), then what is below the diagonal of each column.
    const S corner = h(first, first), below = h(first + 1, first);
    S x = corner * (corner - sum) + h(first, first + 1) * below + product;
    S y = below * (corner + h(first + 1, first + 1) - sum);
    S z = below * h(first + 2, first + 1);
    for (std::int64_t k = first; k < last; ++k) {
      if (k + 2 <= last) {
        const Rotation g(y, z);
        rotate(k + 1, k + 2, g);
        y = g.c * y + g.s * z;
      }
      rotate(k, k + 1, Rotation(x, y));
      for (std::int64_t i = k + 1; k > first && i <= std::min(k + 2, last); ++i) t_(i, k - 1) = 0;
      x = h(k + 1, k);
      y = k + 2 <= last ? h(k + 2, k) : 0;
      z = k + 3 <= last ? h(k + 3, k) : 0;
    }
  }

  // The block of rows and columns p and p + 1 becomes upper triangular where its eigenvalues are
  // real; else its diagonal elements become equal. A block is m + (d, b; c, -d); a rotation by an
  // angle turns d and (b + c) / 2 by twice as much, and leaves (b - c) / 2.
  void standardise(std::int64_t p) {
    const std::int64_t q = p + 1;
    S d = (t_(p, p) - t_(q, q)) / 2, b = t_(p, q), c = t_(q, p);
    if (c == 0) return;
    if (d * d + b * c < 0) {
      const S half_angle = std::atan2(-d, (b + c) / 2) / 2;
      rotate(p, q, Rotation(std::cos(half_angle), std::sin(half_angle)));
      t_(p, p) = t_(q, q) = (t_(p, p) + t_(q, q)) / 2;
      d = 0, b = t_(p, q), c = t_(q, p);
      if (b * c < 0) return;
    }
    const S root = std::sqrt(std::max(d * d + b * c, S(0)));
    rotate(p, q, Rotation(d >= 0 ? d + root : d - root, c));  // (d + root, c) is an eigenvector
    t_(q, p) = 0;
  }

  Matrix<S> t_, z_;
  std::int64_t size_;
  R norm_ = 0;
  bool converged_ = false;
};

}  // namespace anabranch
