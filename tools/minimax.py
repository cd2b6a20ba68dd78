#!/usr/bin/env python3
"""Derives codegen/cpu/math/coefficients.h: minimax polynomials by Lawson's iteration (needs mpmath).

Each polynomial minimises the largest |weight(x) * (f(x) - p(x - shift))| over its interval. Coefficients are
rounded to the format one after the other, lowest degree first, the others being fitted again each time.

    tools/minimax.py > codegen/cpu/math/coefficients.h     prints the errors reached on stderr
"""
import sys
from mpmath import (mp, mpf, asin, atan, atanh, cos, cosh, erf, erfc, erfinv, exp, expm1, log,
                    log1p, lu_solve, matrix, nstr, pi, polyval, sin, sinh, sqrt, tan, tanh)

mp.dps = 70


def round_to(value, bits):
    """`value` to `bits` significant bits, ties to even."""
    if value == 0:
        return mpf(0)
    exponent = int(mp.floor(mp.log(abs(value), 2))) + 1 - bits
    return mp.ldexp(mp.nint(mp.ldexp(value, -exponent)), exponent)


def chebyshev_points(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (count - 1 - i) / (count - 1)) for i in range(count)]


def polynomial(coefficients, u):
    return polyval(coefficients[::-1], u) if coefficients else mpf(0)


def solve(gram, right, fixed):
    """Least squares with the first coefficients given: the others."""
    k, count = len(fixed), len(right)
    system, rest = matrix(count - k, count - k), matrix(count - k, 1)
    for i in range(k, count):
        rest[i - k] = right[i] - sum(gram[i + j] * fixed[j] for j in range(k))
        for j in range(k, count):
            system[i - k, j - k] = gram[i + j]
    return list(lu_solve(system, rest))


def fit(f, low, high, count, bits, weight, shift=0):
    """`count` coefficients of `bits` bits, and the greatest weighted error with them."""
    points = chebyshev_points(mpf(low), mpf(high), 20 * count + 2)
    samples = [(x - shift, f(x), weight(x) ** 2) for x in points]
    polynomial = lambda c, u: polyval(c[::-1], u)
    errors = lambda c: [mp.sqrt(w) * abs(y - polynomial(c, u)) for u, y, w in samples]
    importance = [mpf(1)] * len(samples)
    for _ in range(8):  # Lawson: where the error is large, weigh it more
        gram, right = [mpf(0)] * (2 * count - 1), [mpf(0)] * count
        for (u, y, w), extra in zip(samples, importance):
            term = w * extra
            for i in range(2 * count - 1):
                gram[i] += term
                if i < count:
                    right[i] += term * y
                term *= u
        now = errors(solve(gram, right, []))
        top = max(now)
        importance = [extra * (e / top + mpf("0.02")) for extra, e in zip(importance, now)]
        scale = len(samples) / sum(importance)
        importance = [extra * scale for extra in importance]
    fixed = []
    while len(fixed) < count:
        fixed.append(round_to(solve(gram, right, fixed)[0], bits))
    return fixed, max(errors(fixed))


ln2 = log(mpf(2))
half_ln2 = ln2 / 2 * mpf("1.0005")
third = mpf(1) / 3 * mpf("1.0001")
tiny = mpf(10) ** -12



def erf_inv_of_w(w):
    """The inverse of erf at x = sqrt(1 - e^-w), by Halley's iteration on erfc from Winitzki's approximation."""
    if w not in known:
        complement = exp(-w) / (1 + sqrt(-expm1(-w)))
        c = 2 / (pi * mpf("0.147")) - w / 2
        y = sqrt(sqrt(c * c + w / mpf("0.147")) - c)
        for _ in range(6):
            step = (complement - erfc(y)) * sqrt(pi) / 2 * exp(y * y)
            y -= step / (1 + y * step)
        known[w] = y
    return known[w]


known = {}
erf_inv_slope = lambda w: erf_inv_of_w(w) / sqrt(-expm1(-w))
erf_inv_rest = lambda v: erf_inv_of_w(v * v) - v
erf_inv_weight = lambda v: 1 / erf_inv_of_w(v * v)

# name, f, low, high, weight, coefficients for f32 and for f64 (0: none), shift, meaning; a pair is for f32 and f64
tables = [
    ("exponential", lambda r: (expm1(r) - r) / r**2, -half_ln2, half_ln2, lambda r: r**2 / expm1(r), 5, 10, 0,
     "e^r = 1 + r + r^2 p(r), |r| <= ln(2) / 2"),
    ("exponential_minus_one", lambda r: (expm1(r) - r) / r**2, mpf("-0.2885"), mpf("0.4062"), lambda r: r**2 / expm1(r), 5, 11,
     0, "e^r - 1 = r + r^2 p(r), log(3/4) <= r <= log(3/2)"),
    ("hyperbolic_tangent", lambda s: (tanh(sqrt(s)) / sqrt(s) - 1) / s, tiny, mpf("0.1601"),
     lambda s: s * sqrt(s) / tanh(sqrt(s)), 4, 9, 0, "tanh x = x + x^3 p(x^2), |x| <= 0.4"),
    ("hyperbolic_sine", lambda s: (sinh(sqrt(s)) / sqrt(s) - 1) / s, tiny, half_ln2**2, lambda s: s, 3, 6, 0,
     "sinh r = r + r^3 p(r^2), |r| <= ln(2) / 2"),
    ("hyperbolic_cosine", lambda s: (cosh(sqrt(s)) - 1) / s, tiny, half_ln2**2, lambda s: s, 3, 6, 0,
     "cosh r = 1 + r^2 p(r^2), |r| <= ln(2) / 2"),
    ("exponential_2", lambda t: (2**t - 1) / t, mpf("-0.5001"), mpf("0.5001"), lambda t: t, 0, 6, 0,
     "2^t = 1 + t p(t) to 2^-29, |t| <= 1/2 (power of f32)"),
    ("log", lambda f: (log1p(f) - f + f * f / 2) / f**3, -third, third, lambda f: f**3 / log1p(f), 8, 19, 0,
     "log(1 + f) = f - f^2 / 2 + f^3 p(f), |f| <= 1/3"),
    ("log_2", lambda f: log1p(f) / ln2 / f, -third, third, lambda f: f / log1p(f), 0, 14, 0,
     "log2(1 + f) = f p(f) to 2^-37, |f| <= 1/3 (power of f32)"),
    ("log_quotient", lambda z: ((atanh(sqrt(z)) / sqrt(z) - 1) / z - mpf(1) / 3) / z, mpf(10)**-9, mpf("0.0401"),
     lambda z: z * z, 0, 8, 0, "log((1 + s) / (1 - s)) = 2 (s + s^3 (1/3 + s^2 p(s^2))), |s| <= 1/5 (power of f64)"),
    ("inverse_hyperbolic_tangent", lambda s: (atanh(sqrt(s)) / sqrt(s) - 1) / s, tiny, mpf("0.113"), lambda s: s, 5, 12,
     0, "atanh g = g + g^3 p(g^2), |g| <= 0.335"),
    ("sine", lambda s: (sin(sqrt(s)) / sqrt(s) - 1) / s, tiny, (pi / 2 * mpf("1.002"))**2,
     lambda s: s * sqrt(s) / sin(sqrt(s)), 4, 8, 0, "sin r = r + r^3 p(r^2), |r| <= pi / 2"),
    ("tangent", lambda s: (tan(sqrt(s)) / sqrt(s) - 1) / s, tiny, (pi / 4 * mpf("1.004"))**2,
     lambda s: s * sqrt(s) / tan(sqrt(s)), 7, 14, 0, "tan r = r + r^3 p(r^2), |r| <= pi / 4"),
    ("arc_sine", lambda s: (asin(sqrt(s)) / sqrt(s) - 1) / s, tiny, mpf("0.2501"),
     lambda s: s * sqrt(s) / asin(sqrt(s)), 6, 13, 0, "asin r = r + r^3 p(r^2), |r| <= 1/2"),
    ("arc_tangent", lambda s: (atan(sqrt(s)) / sqrt(s) - 1) / s, tiny, mpf("1"),
     lambda s: s * sqrt(s) / atan(sqrt(s)), 9, 20, 0, "atan r = r + r^3 p(r^2), |r| <= 1"),
    ("erf_central", lambda s: erf(sqrt(s)) / sqrt(s) - 1, tiny, mpf(1), lambda s: sqrt(s) / erf(sqrt(s)), 7, 13, 0,
     "erf x = x + x p(x^2), |x| <= 1"),
    ("log_erfc", lambda t: log(erfc(t)), mpf("0.99"), (mpf(4), mpf("5.95")), erfc, 8, 19, (2, mpf("2.5")),
     "log(erfc(x)) = p(x - 2), 1 <= x <= 4 (f32); p(x - 2.5), 1 <= x <= 5.95 (f64)"),
    ("erf_inv_central", lambda w: erf_inv_slope(w) - 1, mpf(10)**-8, (mpf("5.05"), mpf("5.8")),
     lambda w: 1 / erf_inv_slope(w), 10, 24, mpf("2.5"),
     "erf_inv(x) = x + x p(w - 2.5), w = -log(1 - x^2) <= 5.76 (f32: 5)"),
    ("erf_inv_tail", erf_inv_rest, (mpf("2.23"), mpf("2.399")), (mpf(4), mpf("3.801")), erf_inv_weight, 8, 19, 3,
     "erf_inv(x) = v + p(v - 3), v = sqrt(w) <= 3.8 (f32: 4)"),
    ("erf_inv_far_tail", erf_inv_rest, mpf("3.799"), mpf("6.01"), erf_inv_weight, 0, 19, mpf("4.75"),
     "erf_inv(x) = v + p(v - 4.75), 3.8 <= v <= 6.01"),
]


HEADER = """// Coefficients of minimax polynomials, lowest degree first. Written by tools/minimax.py; do not edit.
#pragma once

#include "codegen/cpu/math/value.h"

namespace anabranch::cpu::math::coefficients {
// clang-format off
"""


def main():
    print(HEADER)
    for name, f, low, high, weight, n32, n64, shift, meaning in tables:
        for index, (kind, count, bits) in enumerate((("f32", n32, 24), ("f64", n64, 53))):
            if not count:
                continue
            one = lambda fact: fact[index] if isinstance(fact, tuple) else fact
            found, worst = fit(f, one(low), one(high), count, bits, weight, one(shift))
            print(f"{name} {kind}: {count} coefficients, error 2^{nstr(log(worst, 2), 4)}", file=sys.stderr)
            print(f"inline constexpr double {name}_{kind}[] = {{")
            texts = [float(c).hex() for c in found]
            for i in range(0, count, 4):
                print("    " + ", ".join(texts[i:i + 4]) + ",")
            print("};")
        print(f"/// {meaning}")
        first = f"{name}_f32" if n32 else "{}"
        print(f"inline constexpr Coefficients {name}{{{first}, {name}_f64}};\n")
    print("// clang-format on\n}  // namespace anabranch::cpu::math::coefficients")


if __name__ == "__main__":
    main()
