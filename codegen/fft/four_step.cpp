#include "codegen/fft/four_step.h"

#include <cmath>
#include <numbers>

namespace anabranch::fft {
namespace {

// Below it one thread is as fast with the plain method.
constexpr std::int64_t shortest_length = 1 << 14;
constexpr std::int64_t least_factor = 16;

// The largest factor up to the square root.
std::int64_t lesser_factor(std::int64_t length) {
  auto factor = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length)));
  while (factor * factor > length) --factor;
  while (length % factor != 0) --factor;
  return factor;
}

// Powers of exp(2 pi i / n), each the product of two from tables of about sqrt(n).
class RootsOfUnity {
 public:
  RootsOfUnity(std::int64_t n, bool is_forward) : n_(n) {
    while (step_ * step_ < n) ++step_;
    const long double turn =
        (is_forward ? -2 : 2) * std::numbers::pi_v<long double> / static_cast<long double>(n);
    for (std::int64_t i = 0; i < step_; ++i) {
      low_.push_back(root(static_cast<long double>(i) * turn));
      high_.push_back(root(static_cast<long double>(i * step_) * turn));
    }
  }

  template <class T>
  std::complex<T> power(std::int64_t exponent) const {
    const std::int64_t i = exponent % n_;
    const Root& a = low_[static_cast<std::size_t>(i % step_)];
    const Root& b = high_[static_cast<std::size_t>(i / step_)];
    return {static_cast<T>(a.real * b.real - a.imag * b.imag),
            static_cast<T>(a.real * b.imag + a.imag * b.real)};
  }

 private:
  struct Root {
    long double real, imag;
  };
  static Root root(long double angle) { return {std::cos(angle), std::sin(angle)}; }

  std::int64_t n_, step_ = 1;
  std::vector<Root> low_, high_;
};

}  // namespace

template <class T>
bool FourStep<T>::suits(std::int64_t length) {
  return length >= shortest_length && lesser_factor(length) >= least_factor;
}

template <class T>
FourStep<T>::FourStep(std::int64_t length, bool is_forward)
    : rows_(lesser_factor(length)), columns_(length / rows_), is_forward_(is_forward) {
  constexpr std::int64_t block = Sweep<T>::block;
  // Rows that begin at other places of a page each do not share one set of a cache.
  stride_ = columns_ + block / 2;
  const RootsOfUnity roots(length, is_forward);
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (std::int64_t column = 0; column < block; ++column) {
      fine_.push_back(roots.power<T>(row * column));
    }
  }
  for (std::int64_t first = 0; first < columns_; first += block) {
    for (std::int64_t row = 0; row < rows_; ++row) coarse_.push_back(roots.power<T>(row * first));
  }
}

template <class T>
Sweep<T> FourStep<T>::columns() const {
  Sweep<T> sweep;
  sweep.is_forward = is_forward_;
  sweep.to = Sweep<T>::Array::workspace;
  sweep.lines = {.outer = 1,
                 .inner = columns_,
                 .length = rows_,
                 .from = {.outer = 0, .inner = 1, .along = columns_},
                 .to = {.outer = 0, .inner = 1, .along = stride_}};
  sweep.fine = fine_.data();
  sweep.coarse = coarse_.data();
  return sweep;
}

template <class T>
Sweep<T> FourStep<T>::rows(double scale) const {
  Sweep<T> sweep;
  sweep.is_forward = is_forward_;
  sweep.scale = static_cast<T>(scale);
  sweep.from = Sweep<T>::Array::workspace;
  sweep.lines = {.outer = 1,
                 .inner = rows_,
                 .length = columns_,
                 .from = {.outer = 0, .inner = stride_, .along = 1},
                 .to = {.outer = 0, .inner = 1, .along = rows_}};
  return sweep;
}

template class FourStep<float>;
template class FourStep<double>;

}  // namespace anabranch::fft
