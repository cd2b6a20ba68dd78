// The forms of Schur of square matrices, and eigenvalues and eigenvectors by them. Golub and Van
// Loan, "Matrix Computations", 4th ed., sections 7.4 to 7.6.
#include "ir/interpret/schur.h"

namespace anabranch {
namespace {

// A = Q T Q^H: the diagonal of the triangle T has the eigenvalues.
template <class R>
class Eigenvectors {
 public:
  using C = std::complex<R>;

  explicit Eigenvectors(Matrix<C> a) : form_(std::move(a)), size_(form_.t().rows()) {}

  bool converged() const { return form_.converged(); }
  R norm() const { return form_.norm(); }
  std::int64_t size() const { return size_; }
  C value(std::int64_t k) const { return t(k, k); }

  /// v with A v = w v for eigenvalue k: back substitution in T.
  std::vector<C> right(std::int64_t k) const {
    std::vector<C> x = unit(k);
    for (std::int64_t i = k - 1; i >= 0; --i) {
      C sum = 0;
      for (std::int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * x[at(j)];
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
      for (std::int64_t i = k; i < j; ++i) sum += x[at(i)] * t(i, j);
      x[at(j)] = -sum / apart(j, k);
      hold_down(x, j);
    }
    for (C& number : x) number = std::conj(number);
    return normalised(x);
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  const C& t(std::int64_t i, std::int64_t j) const { return form_.t()(i, j); }

  std::vector<C> unit(std::int64_t k) const {
    std::vector<C> x(at(size_));
    x[at(k)] = 1;
    return x;
  }

  // T's element i of the diagonal less its element k, and not 0.
  C apart(std::int64_t i, std::int64_t k) const {
    const C difference = t(i, i) - t(k, k);
    const R least =
        std::max(std::numeric_limits<R>::epsilon() * norm(), std::numeric_limits<R>::min());
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
      for (std::int64_t j = 0; j < size_; ++j) v[at(i)] += form_.z()(i, j) * x[at(j)];
      const R size = std::abs(v[at(i)]);
      squares += size * size;
      if (size > greatest) greatest = size, leading = v[at(i)];
    }
    const C factor = std::conj(leading) / std::abs(leading) / std::sqrt(squares);
    for (C& number : v) number *= factor;
    return v;
  }

  SchurForm<C> form_;
  std::int64_t size_;
};

template <class S>
Matrix<std::complex<Real<S>>> as_complex(Matrix<S> a) {
  Matrix<std::complex<Real<S>>> made(a.rows(), a.columns());
  std::ranges::copy(a.elements(), made.elements().begin());
  return made;
}

// Those of a real matrix are real but for rounding, or come in conjugate pairs.
template <class R>
std::vector<std::complex<R>> values_of(const Eigenvectors<R>& eigen, bool is_real) {
  const R noise = 100 * std::numeric_limits<R>::epsilon() * eigen.norm() * R(eigen.size());
  std::vector<std::complex<R>> values;
  for (std::int64_t k = 0; k < eigen.size(); ++k) {
    const std::complex<R> value = eigen.value(k);
    const bool drops = is_real && std::abs(value.imag()) <= noise;
    values.push_back(drops ? std::complex<R>(value.real()) : value);
  }
  return values;
}

// Vectors as columns.
template <class R>
Matrix<std::complex<R>> vectors_of(const Eigenvectors<R>& eigen, bool left) {
  Matrix<std::complex<R>> vectors(eigen.size(), eigen.size());
  for (std::int64_t k = 0; k < eigen.size(); ++k) {
    const auto vector = left ? eigen.left(k) : eigen.right(k);
    for (std::int64_t i = 0; i < eigen.size(); ++i) {
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
      const Eigenvectors<R> eigen(std::move(a));
      const bool exists = is_finite && eigen.converged();
      auto found = values_of(eigen, std::is_floating_point_v<T>);
      if (!exists) found.assign(found.size(), nan_of<std::complex<R>>);
      values.add(found);
      for (std::size_t k = 0; k < bases.size(); ++k) {
        auto vectors = vectors_of(eigen, left && k == 0);
        if (!exists) vectors.fill(nan_of<std::complex<R>>);
        bases[k].add(vectors.elements());
      }
    }
    Results results = {std::move(values).finish()};
    for (auto& basis : bases) results.push_back(std::move(basis).finish());
    return results;
  });
}

Results schur(const Node& node, Operands operands) {
  const bool vectors = node.as<SchurAttributes>().vectors;
  return visit_matrix(node, operands[0], [&]<class T>() -> Results {
    using S = Wide<T>;
    Appended<T> forms(node.types[0]), bases(node.types[0]);
    for (std::int64_t i = 0; i < Batch(node.types[0]).count; ++i) {
      auto a = matrix_at<T>(operands[0], i);
      const bool is_finite = a.all_finite();
      if (!is_finite) a.fill(0);
      SchurForm<S> form(std::move(a));
      if (!is_finite || !form.converged()) {
        form.t().fill(nan_of<S>);
        form.z().fill(nan_of<S>);
      }
      forms.add(form.t().elements());
      bases.add(form.z().elements());
    }
    Results results = {std::move(forms).finish()};
    if (vectors) results.push_back(std::move(bases).finish());
    return results;
  });
}

}  // namespace rules
}  // namespace anabranch
