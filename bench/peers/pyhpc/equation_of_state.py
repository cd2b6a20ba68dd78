"""The derivative by temperature of the dynamic enthalpy of sea water, from the 48 terms of its density (TEOS-10).

The specific volume is (a0 + a1 p + a2 p^2 + a3 p^3) / (b0 + 2 b1 p + b2 p^2), polynomials in salinity sa and
temperature ct; enthalpy is its integral over the pressure p (IOC et al., 2010: The thermodynamic equation of seawater).
Each function below gives a value and its slope by ct.
"""
SIZES = {"64k": dict(size=65536), "1M": dict(size=1048576), "4M": dict(size=4194304), "test": dict(size=8)}
COMPILED = True
TOLERANCE = 1e-8

# Coefficients of powers of ct, the highest first: of 1, of sa, of sa^1.5.
B0 = ((1.181805545074306e-3, -3.147759265588511e-2, 2.839940833161907e0, 9.998420897506056e2),
      (2.327859407479162e-4, -2.986498947203215e-2, -6.698001071123802e0),
      (1.645039373682922e-7, -1.426984671633621e-5, 5.095422573880500e-4, -3.988822378968490e-2))
B1 = ((3.726050720345733e-6, -3.436090079851880e-4, -2.233269627352527e-2),
      (6.876837219536232e-7, -1.806789763745328e-4))
B2 = (-1.061519070296458e-11, -1.988366587925593e-8, -3.087032500374211e-7)
B2_SA = 1.550932729220080e-10
A0 = ((6.743689325042773e-10, 1.119513357486743e-6, -2.349607444135925e-5, 2.775927747785646e-3, 1.0),
      (-1.811147201949891e-11, 9.527875081696435e-10, 1.262937315098546e-7, -2.764306979894411e-5,
       -7.521448093615448e-3),
      (2.681097235569143e-12, -4.634182341116144e-11, -7.672876869259043e-9, 3.801564588876298e-7,
       -3.303308871386421e-5))
A0_SA2 = 5.419326551148740e-6
A1 = ((-1.931012931541776e-12, 3.191413910561627e-9, -3.212746477974189e-7, -2.742185394906099e-5),
      (6.211426728363857e-10, -1.105097577149576e-7))
A2 = (-1.864826425365600e-14, -1.941660213148725e-11, -1.119011592875110e-10)
A2_SA = 1.119522344879478e-14
A3 = (6.057902487546866e-17, -1.200507748551599e-15)


def data(rng, size):
    import math

    wide, deep = math.ceil(math.sqrt(2) * size ** (1 / 3)), math.ceil(0.5 * size ** (1 / 3))
    return dict(sa=rng.uniform(1e-2, 10, (wide, wide, deep)), ct=rng.uniform(-12, 20, (wide, wide, deep)),
                p=rng.uniform(0, 1000, (1, 1, deep)))


def work(size):
    return dict(flops=300 * size, bytes=3 * 8 * size)


def formula(sqrt, log, helper):
    """d enthalpy / d ct of elements or of arrays; `helper` compiles a function where that is needed."""

    @helper
    def polynomial(x, coefficients):
        value, slope = coefficients[0], 0.0
        for coefficient in coefficients[1:]:
            slope = slope * x + value
            value = value * x + coefficient
        return value, slope

    @helper
    def slope(sa, ct, p):
        root = sqrt(sa)
        b0_0, b0_0s = polynomial(ct, B0[0])
        b0_1, b0_1s = polynomial(ct, B0[1])
        b0_2, b0_2s = polynomial(ct, B0[2])
        b0, b0s = b0_0 + sa * (b0_1 + root * b0_2), b0_0s + sa * (b0_1s + root * b0_2s)
        b1_0, b1_0s = polynomial(ct, B1[0])
        b1_1, b1_1s = polynomial(ct, B1[1])
        b1, b1s = 0.5 * (b1_0 + sa * b1_1), 0.5 * (b1_0s + sa * b1_1s)
        b2, b2s = polynomial(ct, B2)
        b2 = b2 + B2_SA * sa
        a0_0, a0_0s = polynomial(ct, A0[0])
        a0_1, a0_1s = polynomial(ct, A0[1])
        a0_2, a0_2s = polynomial(ct, A0[2])
        a0 = a0_0 + sa * (a0_1 + A0_SA2 * sa + root * a0_2)
        a0s = a0_0s + sa * (a0_1s + root * a0_2s)
        a1_0, a1_0s = polynomial(ct, A1[0])
        a1_1, a1_1s = polynomial(ct, A1[1])
        a1, a1s = a1_0 + sa * a1_1, a1_0s + sa * a1_1s
        a2, a2s = polynomial(ct, A2)
        a2, a2s = a2 + A2_SA * sa * ct, a2s + A2_SA * sa
        a3, a3s = polynomial(ct, A3)

        # The numerator's remainder by the denominator is n + m p; the quotient is (a2 - 2 q + a3 p) / b2.
        r = 1.0 / b2
        rs = -b2s * r * r
        q = a3 * b1 * r
        qs = (a3s * b1 + a3 * b1s) * r + a3 * b1 * rs
        n0 = 2.0 * q - a2
        n0s = 2.0 * qs - a2s
        n = a0 + n0 * b0 * r
        ns = a0s + (n0s * b0 + n0 * b0s) * r + n0 * b0 * rs
        m0 = 4.0 * q * b1 - a3 * b0 - 2.0 * a2 * b1
        m0s = 4.0 * (qs * b1 + q * b1s) - a3s * b0 - a3 * b0s - 2.0 * (a2s * b1 + a2 * b1s)
        m = a1 + m0 * r
        ms = a1s + m0s * r + m0 * rs

        # The denominator is b2 (p - p1) (p - p2), of roots that are 2 s / b2 apart.
        s = sqrt(b1 * b1 - b0 * b2)
        ss = 0.5 * (2.0 * b1 * b1s - b0s * b2 - b0 * b2s) / s
        u = p * (2.0 * b1 + b2 * p) / b0
        us = (p * (2.0 * b1s + b2s * p) - u * b0s) / b0
        low, high = b1 - s, b1 + s + b2 * p
        lows, highs = b1s - ss, b1s + ss + b2s * p
        w = 2.0 * p * b2 * s / (low * high)
        ws = (2.0 * p * (b2s * s + b2 * ss) - w * (lows * high + low * highs)) / (low * high)
        t = (n * b2 - m * b1) / s
        ts = (ns * b2 + n * b2s - ms * b1 - m * b1s - t * ss) / s
        whole = p * (a2 - 2.0 * q + 0.5 * a3 * p)
        wholes = p * (a2s - 2.0 * qs + 0.5 * a3s * p)
        log_u, log_w = log(1.0 + u), log(1.0 + w)
        parts = whole + 0.5 * (m * log_u + t * log_w)
        partss = wholes + 0.5 * (ms * log_u + m * us / (1.0 + u) + ts * log_w + t * ws / (1.0 + w))
        return 1e4 * (partss * r + parts * rs)

    return slope


def numpy(np):
    return formula(np.sqrt, np.log, lambda function: function)


jax = torch = numpy


def numba(np):
    from numba import njit, prange

    slope = formula(np.sqrt, np.log, njit(inline="always"))

    @njit(parallel=True)
    def equation_of_state(sa, ct, p):
        result = np.empty_like(sa)
        for i in prange(sa.shape[0]):
            for j in range(sa.shape[1]):
                for k in range(sa.shape[2]):
                    result[i, j, k] = slope(sa[i, j, k], ct[i, j, k], p[0, 0, k])
        return result

    return equation_of_state
