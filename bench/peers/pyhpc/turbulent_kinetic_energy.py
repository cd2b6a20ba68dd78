"""A step of the turbulent kinetic energy of the ocean: mixing and dissipation along columns, an implicit system each,
then diffusion and advection sideways (superbee fluxes)."""
SIZES = {"64k": dict(size=65536), "1M": dict(size=1048576), "4M": dict(size=4194304), "test": dict(size=64)}
INPLACE = ("tke", "dtke")
TOLERANCE = 1e-7  # some of the random systems are nearly singular


def data(rng, size):
    import math

    wide, deep = math.ceil(2 * size ** (1 / 3)), max(4, math.ceil(0.25 * size ** (1 / 3)))
    shape = (wide, wide, deep)
    values = {f"mask_{c}": (rng.random(shape) < 0.8).astype("f8") for c in "uvw"}
    values |= {name: rng.standard_normal(wide) for name in ("dxt", "dxu", "dyt", "dyu", "cost", "cosu")}
    values |= {name: rng.standard_normal(deep) for name in ("dzt", "dzw")}
    values |= {name: rng.standard_normal(shape) for name in ("kappa", "mixing_length", "forcing")}
    values |= {name: rng.standard_normal((*shape, 3)) for name in ("u", "v", "w", "tke", "dtke")}
    return values | dict(kbot=rng.integers(0, deep, (wide, wide)), surface_forcing=rng.standard_normal((wide, wide)))


def work(size):
    return dict(flops=140 * size, bytes=8 * size * (3 + 3 + 3 + 3 + 3 + 6))


def program(np, assign, solved):
    """`assign(array, index, value)` gives the array with a part replaced."""
    inner = (slice(2, -2), slice(2, -2))

    def shifted(f, by):
        """The level below (by = 1) or above (-1), 0 past the ends."""
        edge = np.zeros_like(f[..., :1])
        return np.concatenate([edge, f[..., :-1]] if by == 1 else [f[..., 1:], edge], -1)

    def superbee(speed, factor, carried, water, dx):
        velocity = factor * speed
        before, own, following, after = carried
        here = (following - own) * water[1]
        upwind = np.where(speed > 0.0, (own - before) * water[0], (after - following) * water[2])
        ratio = upwind / np.where(np.abs(here) < 1e-20, 1e-20, here)
        limit = np.where(ratio > 0.5, np.where(ratio > 1.0, np.where(ratio > 2.0, 2.0, ratio), 1.0),
                         np.where(ratio > 0.0, 2 * ratio, 0.0))
        return (velocity * (following + own) * 0.5
                - np.abs(velocity) * ((1.0 - limit) + np.abs(velocity / dx) * limit) * here * 0.5)

    def in_x(f):
        return f[:-3, 2:-2], f[1:-2, 2:-2], f[2:-1, 2:-2], f[3:, 2:-2]

    def in_y(f):
        return f[2:-2, :-3], f[2:-2, 1:-2], f[2:-2, 2:-1], f[2:-2, 3:]

    def in_z(f):
        g = f[inner]
        return shifted(g, 1), g, shifted(g, -1), shifted(shifted(g, -1), -1)

    def advection(now, u, v, w, mask_w, dxt, dyt, dzw, cost, cosu):
        """The change of each inner cell, sideways, and the fluxes upwards."""
        rows = cost[2:-2, None]
        both_x = np.concatenate([mask_w[1:] * mask_w[:-1], np.zeros_like(mask_w[:1])], 0)
        both_y = np.concatenate([mask_w[:, 1:] * mask_w[:, :-1], np.zeros_like(mask_w[:, :1])], 1)
        x = superbee(u[1:-2, 2:-2, :, 0], 1.0, in_x(now), in_x(both_x), rows * dxt[1:-2, None, None])
        y = superbee(v[2:-2, 1:-2, :, 0], cosu[1:-2, None], in_y(now), in_y(both_y), (cost * dyt)[1:-2, None])
        both_z = mask_w * shifted(mask_w, -1)
        z = superbee(w[2:-2, 2:-2, :, 0], 1.0, in_z(now), in_z(both_z), dzw)
        z = assign(z, (slice(None), slice(None), -1), 0.0)
        sideways = mask_w[inner] * (-(x[1:] - x[:-1]) / (rows * dxt[2:-2, None, None])
                                    - (y[:, 1:] - y[:, :-1]) / (rows * dyt[2:-2, None]))
        return sideways, z

    def integrate(u, v, w, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzt, dzw, cost, cosu, kbot, kappa,
                  mixing_length, forcing, surface_forcing, tke, dtke):
        levels = len(dzw)
        now, energy = tke[..., 0] + 0.0, tke[2:-2, 2:-2, :, 0]
        level = np.arange(levels)
        height = np.where(level == levels - 1, 0.5 * dzw, dzw)
        bottom = kbot[2:-2, 2:-2, None] - 1
        edge, water = (bottom >= 0) & (level == bottom), (bottom >= 0) & (level >= bottom)
        k = kappa[inner]
        delta = np.concatenate([0.5 * (k[..., :-1] + k[..., 1:]) / dzt[1:], np.zeros_like(k[..., :1])], -1)
        lost = 0.7 * np.sqrt(np.where(energy > 0.0, energy, 0.0)) / mixing_length[inner]
        right = energy + forcing[inner]
        right = assign(right, (slice(None), slice(None), -1),
                       right[..., -1] + surface_forcing[inner] / (0.5 * dzw[-1]))
        solution = solved(np.where(water & ~edge, -shifted(delta, 1) / height, 0.0),
                          np.where(edge, 1.0 + delta / dzw + lost,
                                   np.where(water, 1.0 + (delta + shifted(delta, 1)) / height + lost, 1.0)),
                          np.where(water, -delta / dzw, 0.0), np.where(water, right, 0.0))
        mixed = np.where(water, solution, tke[2:-2, 2:-2, :, 1])
        top = mixed[..., -1]
        correction = assign(np.zeros_like(surface_forcing), inner, np.where(top < 0.0, -top * 0.5 * dzw[-1], 0.0))
        mixed = assign(mixed, (slice(None), slice(None), -1), np.where(top < 0.0, 0.0, top))

        rows = cost[2:-2, None]
        x = 2000.0 * (now[1:, 2:-2] - now[:-1, 2:-2]) / (rows * dxu[:-1, None, None]) * mask_u[:-1, 2:-2]
        y = 2000.0 * (now[2:-2, 1:] - now[2:-2, :-1]) / dyu[:-1, None] * mask_v[2:-2, :-1] * cosu[:-1, None]
        diffusion = mask_w[inner] * ((x[2:-1] - x[1:-2]) / (rows * dxt[2:-2, None, None])
                                     + (y[:, 2:-1] - y[:, 1:-2]) / (rows * dyt[2:-2, None]))
        sideways, z = advection(now, u, v, w, mask_w, dxt, dyt, dzw, cost, cosu)
        dtke = assign(dtke, (*inner, slice(None), 0), sideways - (z - shifted(z, 1)) / height)
        tke = assign(tke, (*inner, slice(None), 1), mixed + diffusion)
        tke = assign(tke, (Ellipsis, 1), tke[..., 1] + 1.6 * dtke[..., 0] - 0.6 * dtke[..., 2])
        return tke, dtke, correction

    return integrate


def in_place(array, index, value):
    array[index] = value
    return array


def eliminate(np):
    def solved(below, diagonal, above, right):
        factor, value = np.empty_like(right), np.empty_like(right)
        factor[..., 0], value[..., 0] = above[..., 0] / diagonal[..., 0], right[..., 0] / diagonal[..., 0]
        for k in range(1, right.shape[-1]):
            pivot = diagonal[..., k] - below[..., k] * factor[..., k - 1]
            factor[..., k] = above[..., k] / pivot
            value[..., k] = (right[..., k] - below[..., k] * value[..., k - 1]) / pivot
        for k in range(right.shape[-1] - 2, -1, -1):
            value[..., k] -= factor[..., k] * value[..., k + 1]
        return value

    return solved


def numpy(np):
    return program(np, in_place, eliminate(np))


torch = numpy


def jax(jnp):
    from jax import lax

    def solved(*diagonals):
        def forward(state, row):
            below, diagonal, above, right = row
            pivot = diagonal - below * state[0]
            state = above / pivot, (right - below * state[1]) / pivot
            return state, state

        def backward(above, row):
            x = row[1] - row[0] * above
            return x, x

        none = jnp.zeros(diagonals[0].shape[:2])
        rows = lax.scan(forward, (none, none), [jnp.moveaxis(x, 2, 0) for x in diagonals])[1]
        return jnp.moveaxis(lax.scan(backward, none, rows, reverse=True)[1], 0, 2)

    return program(jnp, lambda array, index, value: array.at[index].set(value), solved)


def numba(np):
    from numba import njit, prange

    @njit(inline="always")
    def superbee(speed, factor, before, own, following, after, water0, water1, water2, dx):
        velocity = factor * speed
        here = (following - own) * water1
        upwind = (own - before) * water0 if speed > 0.0 else (after - following) * water2
        ratio = upwind / (1e-20 if abs(here) < 1e-20 else here)
        limit = max(0.0, max(min(1.0, 2 * ratio), min(2.0, ratio)))
        return (velocity * (following + own) * 0.5
                - abs(velocity) * ((1.0 - limit) + abs(velocity / dx) * limit) * here * 0.5)

    @njit(parallel=True)
    def mix(mask_w, dzt, dzw, kbot, kappa, mixing_length, forcing, surface_forcing, now, tke, correction):
        nx, ny, nz = mask_w.shape
        for i in prange(2, nx - 2):
            factor, value, delta = np.zeros(nz), np.zeros(nz), np.zeros(nz)
            for j in range(2, ny - 2):
                bottom = kbot[i, j] - 1
                for k in range(nz - 1):
                    delta[k] = 0.5 * (kappa[i, j, k] + kappa[i, j, k + 1]) / dzt[k + 1]
                if bottom >= 0:
                    for k in range(bottom, nz):
                        height = 0.5 * dzw[k] if k == nz - 1 else dzw[k]
                        diagonal = 1.0 + 0.7 * np.sqrt(max(0.0, now[i, j, k])) / mixing_length[i, j, k]
                        right = now[i, j, k] + forcing[i, j, k]
                        if k == nz - 1:
                            right += surface_forcing[i, j] / height
                        if k == bottom:
                            pivot = diagonal + delta[k] / dzw[k]
                            value[k] = right / pivot
                        else:
                            below = -delta[k - 1] / height
                            pivot = diagonal + (delta[k] + delta[k - 1]) / height - below * factor[k - 1]
                            value[k] = (right - below * value[k - 1]) / pivot
                        factor[k] = -delta[k] / dzw[k] / pivot
                    x = 0.0
                    for k in range(nz - 1, bottom - 1, -1):
                        x = value[k] - (factor[k] * x if k < nz - 1 else 0.0)
                        tke[i, j, k, 1] = x
                top = tke[i, j, nz - 1, 1]
                if top < 0.0:
                    correction[i, j] = -top * 0.5 * dzw[nz - 1]
                    tke[i, j, nz - 1, 1] = 0.0

    @njit(parallel=True)
    def fluxes(u, v, w, mask_w, dxt, dyt, dzw, cost, cosu, m, east, north, upward):
        nx, ny, nz = mask_w.shape
        for i in prange(1, nx - 2):
            for j in range(1, ny - 2):
                for k in range(nz):
                    if j > 1:
                        east[i, j, k] = superbee(
                            u[i, j, k, 0], 1.0, m[i - 1, j, k], m[i, j, k], m[i + 1, j, k], m[i + 2, j, k],
                            mask_w[i - 1, j, k] * mask_w[i, j, k], mask_w[i, j, k] * mask_w[i + 1, j, k],
                            mask_w[i + 1, j, k] * mask_w[i + 2, j, k], cost[j] * dxt[i])
                    if i > 1:
                        north[i, j, k] = superbee(
                            v[i, j, k, 0], cosu[j], m[i, j - 1, k], m[i, j, k], m[i, j + 1, k], m[i, j + 2, k],
                            mask_w[i, j - 1, k] * mask_w[i, j, k], mask_w[i, j, k] * mask_w[i, j + 1, k],
                            mask_w[i, j + 1, k] * mask_w[i, j + 2, k], cost[j] * dyt[j])
                    if i > 1 and j > 1 and k < nz - 1:
                        before, water0 = ((m[i, j, k - 1], mask_w[i, j, k - 1] * mask_w[i, j, k]) if k > 0
                                          else (0.0, 0.0))
                        after, water2 = ((m[i, j, k + 2], mask_w[i, j, k + 1] * mask_w[i, j, k + 2]) if k < nz - 2
                                         else (0.0, 0.0))
                        upward[i, j, k] = superbee(w[i, j, k, 0], 1.0, before, m[i, j, k], m[i, j, k + 1], after,
                                                   water0, mask_w[i, j, k] * mask_w[i, j, k + 1], water2, dzw[k])

    @njit(parallel=True)
    def add(mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzw, cost, cosu, m, east, north, upward, tke, dtke):
        nx, ny, nz = mask_w.shape
        for i in prange(nx):
            for j in range(ny):
                for k in range(nz):
                    if 2 <= i < nx - 2 and 2 <= j < ny - 2:
                        x1 = (m[i + 1, j, k] - m[i, j, k]) / (cost[j] * dxu[i]) * mask_u[i, j, k]
                        x0 = (m[i, j, k] - m[i - 1, j, k]) / (cost[j] * dxu[i - 1]) * mask_u[i - 1, j, k]
                        y1 = (m[i, j + 1, k] - m[i, j, k]) / dyu[j] * mask_v[i, j, k] * cosu[j]
                        y0 = (m[i, j, k] - m[i, j - 1, k]) / dyu[j - 1] * mask_v[i, j - 1, k] * cosu[j - 1]
                        wide, deep = cost[j] * dxt[i], cost[j] * dyt[j]
                        tke[i, j, k, 1] += 2000.0 * mask_w[i, j, k] * ((x1 - x0) / wide + (y1 - y0) / deep)
                        height = 0.5 * dzw[k] if k == nz - 1 else dzw[k]
                        below = upward[i, j, k - 1] if k > 0 else 0.0
                        dtke[i, j, k, 0] = (mask_w[i, j, k] * (-(east[i, j, k] - east[i - 1, j, k]) / wide
                                                               - (north[i, j, k] - north[i, j - 1, k]) / deep)
                                            - (upward[i, j, k] - below) / height)
                    tke[i, j, k, 1] += 1.6 * dtke[i, j, k, 0] - 0.6 * dtke[i, j, k, 2]

    @njit
    def integrate(u, v, w, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzt, dzw, cost, cosu, kbot, kappa,
                  mixing_length, forcing, surface_forcing, tke, dtke):
        now, correction = tke[:, :, :, 0].copy(), np.zeros_like(surface_forcing)
        east, north, upward = np.zeros_like(now), np.zeros_like(now), np.zeros_like(now)
        mix(mask_w, dzt, dzw, kbot, kappa, mixing_length, forcing, surface_forcing, now, tke, correction)
        fluxes(u, v, w, mask_w, dxt, dyt, dzw, cost, cosu, now, east, north, upward)
        add(mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzw, cost, cosu, now, east, north, upward, tke, dtke)
        return tke, dtke, correction

    return integrate
