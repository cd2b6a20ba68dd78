// The derivative by temperature of the dynamic enthalpy of sea water, from the 48 terms of its
// density (TEOS-10; IOC et al., 2010).
//
// The specific volume is (a0 + a1 p + a2 p^2 + a3 p^3) / (b0 + 2 b1 p + b2 p^2), polynomials in
// salinity sa and temperature ct; enthalpy is its integral over the pressure p.
#include "bench/peers/benchmark.h"

namespace peers {

// A value and its slope by temperature.
struct Sloped {
  ab::Array value, slope;
};

static Sloped operator+(const Sloped& a, const Sloped& b) {
  return {a.value + b.value, a.slope + b.slope};
}
static Sloped operator-(const Sloped& a, const Sloped& b) {
  return {a.value - b.value, a.slope - b.slope};
}
static Sloped operator*(const Sloped& a, const Sloped& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
static Sloped operator*(const ab::Operand& a, const Sloped& b) {
  return {a * b.value, a * b.slope};
}
static Sloped operator/(const Sloped& a, const Sloped& b) {
  const ab::Array quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}
static Sloped sqrt(const Sloped& a) {
  const ab::Array root = ab::sqrt(a.value);
  return {root, 0.5 * a.slope / root};
}
static Sloped log_of_one_and(const Sloped& a) {
  const ab::Array sum = 1.0 + a.value;
  return {ab::log(sum), a.slope / sum};
}

static ab::Array enthalpy_slope(ab::Array sa, ab::Array ct, ab::Array p) {
  // Powers of ct, the highest first.
  const auto in_ct = [&](std::initializer_list<double> coefficients) {
    const double* coefficient = coefficients.begin();
    ab::Array value = ab::full_like(ct, *coefficient), slope = ab::zeros_like(ct);
    while (++coefficient != coefficients.end()) {
      slope = slope * ct + value;
      value = value * ct + *coefficient;
    }
    return Sloped{value, slope};
  };
  const ab::Array root = ab::sqrt(sa), none = ab::zeros_like(sa);
  const auto only = [&](const ab::Array& value) { return Sloped{value, none}; };

  const Sloped b0 =
      in_ct(
          {1.181805545074306e-3, -3.147759265588511e-2, 2.839940833161907e0, 9.998420897506056e2}) +
      sa * (in_ct({2.327859407479162e-4, -2.986498947203215e-2, -6.698001071123802e0}) +
            root * in_ct({1.645039373682922e-7, -1.426984671633621e-5, 5.095422573880500e-4,
                          -3.988822378968490e-2}));
  const Sloped b1 =
      0.5 * (in_ct({3.726050720345733e-6, -3.436090079851880e-4, -2.233269627352527e-2}) +
             sa * in_ct({6.876837219536232e-7, -1.806789763745328e-4}));
  const Sloped b2 = in_ct({-1.061519070296458e-11, -1.988366587925593e-8, -3.087032500374211e-7}) +
                    only(1.550932729220080e-10 * sa);
  const Sloped a0 =
      in_ct({6.743689325042773e-10, 1.119513357486743e-6, -2.349607444135925e-5,
             2.775927747785646e-3, 1.0}) +
      sa * (in_ct({-1.811147201949891e-11, 9.527875081696435e-10, 1.262937315098546e-7,
                   -2.764306979894411e-5, -7.521448093615448e-3}) +
            only(5.419326551148740e-6 * sa) +
            root * in_ct({2.681097235569143e-12, -4.634182341116144e-11, -7.672876869259043e-9,
                          3.801564588876298e-7, -3.303308871386421e-5}));
  const Sloped a1 = in_ct({-1.931012931541776e-12, 3.191413910561627e-9, -3.212746477974189e-7,
                           -2.742185394906099e-5}) +
                    sa * in_ct({6.211426728363857e-10, -1.105097577149576e-7});
  const Sloped a2 =
      in_ct({-1.864826425365600e-14, -1.941660213148725e-11, -1.119011592875110e-10}) +
      1.119522344879478e-14 * sa * in_ct({1.0, 0.0});
  const Sloped a3 = in_ct({6.057902487546866e-17, -1.200507748551599e-15});

  // The numerator's remainder by the denominator is n + m p; the quotient is (a2 - 2 q + a3 p) /
  // b2.
  const Sloped q = a3 * b1 / b2;
  const Sloped n = a0 + (2.0 * q - a2) * b0 / b2;
  const Sloped m = a1 + (4.0 * q * b1 - a3 * b0 - 2.0 * a2 * b1) / b2;
  // The denominator is b2 (p - p1) (p - p2), of roots that are 2 s / b2 apart.
  const Sloped s = sqrt(b1 * b1 - b0 * b2);
  const Sloped u = p * (2.0 * b1 + p * b2) / b0;
  const Sloped w = 2.0 * p * b2 * s / ((b1 - s) * (b1 + s + p * b2));
  const Sloped parts = p * (a2 - 2.0 * q + 0.5 * p * a3) +
                       0.5 * (m * log_of_one_and(u) + (n * b2 - m * b1) / s * log_of_one_and(w));
  return 1e4 * (parts / b2).slope;
}

Benchmark equation_of_state() { return benchmark(enthalpy_slope, {"sa", "ct", "p"}); }

}  // namespace peers
