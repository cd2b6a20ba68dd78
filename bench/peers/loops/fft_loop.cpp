#include <complex>
#include <numbers>

#include "bench/peers/loop.h"

namespace peers {

using Complex = std::complex<double>;

struct Transform {
  std::vector<Complex> x, y, roots;
};

// Cooley and Tukey's, on elements in bit-reversed order.
static void transform(Transform& t) {
  const std::size_t n = t.x.size();
  for (std::size_t i = 0, j = 0; i < n; ++i) {
    t.y[j] = t.x[i];
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t block = 0; block < n; block += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        Complex &a = t.y[block + k], &b = t.y[block + half + k];
        const Complex root = t.roots[k * (n / 2 / half)];
        const Complex turned{b.real() * root.real() - b.imag() * root.imag(),
                             b.real() * root.imag() + b.imag() * root.real()};
        b = a - turned;
        a += turned;
      }
    }
  }
}

Benchmark fft_loop() {
  return [](const Inputs& inputs) {
    const auto x = values<Complex>(inputs, "x");
    std::vector<Complex> roots(x.size() / 2);
    for (std::size_t i = 0; i < roots.size(); ++i)
      roots[i] = std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(x.size()));
    return loops(Transform{x, x, roots}, [](Transform& t) {
      transform(t);
      return Outputs{borrowed(t.y, {t.y.size()})};
    });
  };
}

}  // namespace peers
