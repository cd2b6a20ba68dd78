// The error function and its inverse.
#include "codegen/cpu/math/coefficients.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {

Simd erf(Simd x) {
  Simd a = abs(x);
  // Close to 0, x + x p(x^2).
  Simd central = fma(a, polynomial(a * a, coefficients::erf_central), a);
  // Elsewhere 1 - e^p(a), p = log(erfc a); from `limit` on that is 1.
  const double limit = x.pick(4.0, 5.95);
  Simd clamped = select(a > limit, limit, a);
  auto [r, k, whole] =
      reduce_exponential(polynomial(clamped - x.pick(2.0, 2.5), coefficients::log_erfc));
  Simd exponential = fma(r, fma(r, polynomial(r, coefficients::exponential), 1), 1);
  Simd outer = fma(exponential, -power_of_two(k), 1);
  return copysign(select(a < 1, central, outer), x);
}

Simd erf_inv(Simd x) {
  // After M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): polynomials in
  // w = -log(1 - x^2) in the middle, in v = sqrt(w) outside, where the result is v plus a little.
  Simd a = abs(x);
  Simd w = -log_of_reduced(reduce_log(fma(-a, a, 1)));
  Simd central = fma(a, polynomial(w - 2.5, coefficients::erf_inv_central), a);
  Simd v = sqrt(w);
  Simd rest = polynomial(v - 3, coefficients::erf_inv_tail);
  if (x.is_wide()) {
    Simd far = polynomial(v - 4.75, coefficients::erf_inv_far_tail);
    rest = select(v > 3.8, far, rest);
  }
  // What the square root lost, (w - v^2) / (2 v), with 1 / (2 v) roughly.
  rest = fma(fma(-v, v, w), fma(v, -0.03, 0.27), rest);
  Simd y = select(w < x.pick(5.0, 5.76), central, v + rest);
  y = select(a == 1, x.infinity(), y);
  return select(a <= 1, copysign(y, x), x.nan());
}

}  // namespace anabranch::cpu::math
