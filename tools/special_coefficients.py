#!/usr/bin/env python3
"""Writes frontend/ops/special_coefficients.h: the polynomials of anabranch/special.h, near minimax.

Each is the Chebyshev interpolant of a smooth function over an interval, turned into powers of its variable and rounded
to double. Needs mpmath (PyPI):  tools/special_coefficients.py > frontend/ops/special_coefficients.h
"""
from mpmath import (bernoulli, besseli, chebyfit, diff, digamma, erfc, euler, exp, findroot, log, loggamma, mp, mpf, pi,
                    sqrt)

mp.dps = 40
ROOT = findroot(digamma, 1.4616)


def erfcx_scaled(t):
    """(1 + 2x) e^(x^2) erfc(x), x = 3.75 (1 + t) / (1 - t)."""
    if t >= 1:
        return 2 / sqrt(pi)
    x = mpf(15) / 4 * (1 + t) / (1 - t)
    if x < 60:
        return (1 + 2 * x) * exp(x * x) * erfc(x)
    total = term = mpf(1)
    for k in range(1, 25):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return (1 + 2 * x) / (x * sqrt(pi)) * total


def log_gamma_near_two(t):
    """lgamma(x) / ((x - 1) (x - 2)), x = 2 + t."""
    if t == 0:
        return diff(loggamma, 2)
    return euler if t == -1 else loggamma(2 + t).real / ((1 + t) * t)


def digamma_near_two(t):
    """digamma(x) / (x - root), x = 2 + t, at the root in [1, 2]."""
    x = 2 + t
    return digamma(x) / (x - ROOT) if abs(x - ROOT) > 1e-14 else diff(digamma, ROOT)


def log_gamma_tail(w):
    """What Stirling's formula leaves of lgamma(x), times x; w = 1 / x^2."""
    if w < mpf(1) / 400:
        return sum(bernoulli(2 * k) / (2 * k * (2 * k - 1)) * w**(k - 1) for k in range(1, 40))
    x = 1 / sqrt(w)
    return (loggamma(x) - ((x - mpf(1) / 2) * log(x) - x + log(2 * pi) / 2)) * x


def digamma_tail(w):
    """(log(x) - 1 / (2x) - digamma(x)) x^2; w = 1 / x^2."""
    if w < mpf(1) / 400:
        return sum(bernoulli(2 * k) / (2 * k) * w**(k - 1) for k in range(1, 40))
    x = 1 / sqrt(w)
    return (log(x) - 1 / (2 * x) - digamma(x)) * x * x


def bessel_i0_small(a):
    """(I0(x) - 1) / a, a = x^2 / 4."""
    return (besseli(0, 2 * sqrt(a)) - 1) / a if a > 1e-9 else 1 + a / 4


def bessel_i1_small(a):
    """I1(x) / (x / 2), a = x^2 / 4."""
    return besseli(1, 2 * sqrt(a)) / sqrt(a) if a > 1e-9 else 1 + a / 2


def bessel_large(order):
    """e^-x I(x) sqrt(x), 8 / x = (t + 1) / 2."""

    def function(t):
        s = (t + 1) / 2
        if s > mpf(1) / 20:
            return besseli(order, 8 / s) * exp(-8 / s) * sqrt(8 / s)
        total = term = mpf(1)
        for k in range(1, 40):
            term *= -(4 * order * order - (2 * k - 1)**2) * s / (64 * k)
            total += term
            if abs(term) < 1e-38:
                break
        return total / sqrt(2 * pi)

    return function


def normal_tail(t):
    """x / r where P(X < -x) = e^(-r^2 / 2), log(r) = 2.2 + 1.5 t: r from 2.01 to 40.4."""
    r = exp(mpf('2.2') + mpf('1.5') * t)
    x = r - (log(2 * pi) + 2 * log(r)) / (2 * r)
    for _ in range(60):
        value = log(erfc(x / sqrt(2)) / 2)
        slope = -exp(-x * x / 2) / sqrt(2 * pi) / exp(value)
        step = (value + r * r / 2) / slope
        x -= step
        if abs(step) < 1e-34:
            break
    return x / r


def write(name, function, count, low, high, meaning):
    coefficients = chebyfit(function, [low, high], count)
    low, high = mpf(low), mpf(high)
    points = [low + (high - low) * (mpf(k) + mpf(1) / 3) / 30 for k in range(30)]
    error = max(abs(mp.polyval(coefficients, t) / function(t) - 1) for t in points)
    assert error < 3e-17, (name, error)
    print(f"/// {meaning}")
    print(f"inline constexpr double {name}[] = {{")
    texts = [float(c).hex() + "," for c in reversed(coefficients)]
    for i in range(0, count, 4):
        print("    " + " ".join(texts[i:i + 4]))
    print("};")


print("""// Coefficients of the special functions' polynomials, lowest degree first. Written by
// tools/special_coefficients.py; do not edit.
#pragma once

namespace anabranch::coefficients {
// clang-format off
""")
write("erfcx_scaled", erfcx_scaled, 25, -1, 1, "(1 + 2x) e^(x^2) erfc(x) of (x - 3.75) / (x + 3.75), x >= 0")
write("log_gamma_near_two", log_gamma_near_two, 29, -1, 1, "lgamma(x) / ((x - 1) (x - 2)) of x - 2, 1 <= x <= 3")
write("log_gamma_tail", log_gamma_tail, 8, 0, mpf(1) / 64,
      "x (lgamma(x) - (x - 0.5) log(x) + x - log(2 pi) / 2) of 1 / x^2, x >= 8")
write("digamma_near_two", digamma_near_two, 30, -1, 1, "digamma(x) / (x - root) of x - 2, 1 <= x <= 3")
write("digamma_tail", digamma_tail, 8, 0, mpf(1) / 64, "x^2 (log(x) - 1 / (2x) - digamma(x)) of 1 / x^2, x >= 8")
high = float(ROOT)
print("/// Where digamma is 0, and what a double leaves of it.")
print(f"inline constexpr double digamma_root = {high.hex()}, digamma_root_rest = {float(ROOT - mpf(high)).hex()};")
write("bessel_i0_small", bessel_i0_small, 16, 0, 16, "(I0(x) - 1) / a of a = x^2 / 4, |x| <= 8")
write("bessel_i1_small", bessel_i1_small, 16, 0, 16, "I1(x) / (x / 2) of a = x^2 / 4, |x| <= 8")
write("bessel_i0_large", bessel_large(0), 25, -1, 1, "e^-x I0(x) sqrt(x) of 16 / x - 1, x >= 8")
write("bessel_i1_large", bessel_large(1), 25, -1, 1, "e^-x I1(x) sqrt(x) of 16 / x - 1, x >= 8")
write("normal_tail", normal_tail, 28, -1, 1, "x / r of (log(r) - 2.2) / 1.5, P(X < -x) = e^(-r^2 / 2), 2.1 < r < 40")
print("""// clang-format on
}  // namespace anabranch::coefficients""")
