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
