// A Fourier transform of R^K points by K passes of Stockham's method, one DFT of R each.
#include <numbers>

#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array transform(ab::Array x, int r, int k) {
  const auto rows = [](const ab::Array& a) { return ab::expand_dims(a, 1); };
  // exp(-2 pi i n / count).
  const auto root = [](const ab::Array& n, std::int64_t count) {
    const ab::Array angle = n * (-2 * std::numbers::pi / static_cast<double>(count));
    return ab::complex(ab::cos(angle), ab::sin(angle));
  };
  const ab::Array digit = ab::arange(r, ab::f64);
  const ab::Array dft = root(rows(digit) * digit, r);
  ab::Array y = x;
  std::int64_t done = 1, left = x.size() / r;
  for (int pass = 0; pass < k; ++pass) {
    const ab::Array parts = ab::permute_dims(ab::reshape(y, {done, r, left}), {1, 0, 2});
    const ab::Array twiddles = root(rows(digit) * ab::arange(done, ab::f64), done * r);
    const ab::Array turned = parts * ab::expand_dims(twiddles, 2);
    y = ab::ravel(ab::matmul(dft, ab::reshape(turned, {r, -1})));
    done *= r;
    left /= r;
  }
  return y;
}

Benchmark stockham_fft() { return benchmark(transform, {"x", "r", "k"}); }

}  // namespace peers
