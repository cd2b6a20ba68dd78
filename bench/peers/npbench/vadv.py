"""Vertical advection of a weather model: a tridiagonal system per column, the last axis."""
SIZES = {"bench": dict(i=112, j=112, k=80), "test": dict(i=3, j=4, k=6)}


def data(rng, i, j, k):
    fields = {name: rng.random((i, j, k)) for name in ("utens_stage", "u_stage", "u_pos", "utens")}
    return dict(fields, wcon=rng.random((i + 1, j, k)), dtr=3.0 / 20.0)


def work(i, j, k):
    return dict(flops=30 * i * j * k, bytes=6 * 8 * i * j * k)


def numpy(np):
    def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr):
        levels = u_pos.shape[2]
        c, d, result = np.zeros_like(u_pos), np.zeros_like(u_pos), np.zeros_like(u_pos)
        wind = 0.25 * (wcon[1:] + wcon[:-1])
        for k in range(levels):
            right = dtr * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k]
            b = dtr
            if k < levels - 1:
                c[:, :, k] = 0.5 * wind[:, :, k + 1]
                b = b - c[:, :, k]
                right = right - c[:, :, k] * (u_stage[:, :, k + 1] - u_stage[:, :, k])
            if k > 0:
                a = -0.5 * wind[:, :, k]
                b = b - a - c[:, :, k - 1] * a
                right = right - a * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - d[:, :, k - 1] * a
            c[:, :, k] = c[:, :, k] / b
            d[:, :, k] = right / b
        x = d[:, :, levels - 1]
        result[:, :, levels - 1] = dtr * (x - u_pos[:, :, levels - 1])
        for k in range(levels - 2, -1, -1):
            x = d[:, :, k] - c[:, :, k] * x
            result[:, :, k] = dtr * (x - u_pos[:, :, k])
        return result

    return vadv


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr):
        ni, nj, levels = u_pos.shape
        result = np.empty_like(u_pos)
        for i in prange(ni):
            c, d = np.zeros(levels), np.zeros(levels)
            for j in range(nj):
                for k in range(levels):
                    right = dtr * u_pos[i, j, k] + utens[i, j, k] + utens_stage[i, j, k]
                    b = dtr
                    c[k] = 0.0
                    if k < levels - 1:
                        c[k] = 0.125 * (wcon[i + 1, j, k + 1] + wcon[i, j, k + 1])
                        b -= c[k]
                        right -= c[k] * (u_stage[i, j, k + 1] - u_stage[i, j, k])
                    if k > 0:
                        a = -0.125 * (wcon[i + 1, j, k] + wcon[i, j, k])
                        b -= a + c[k - 1] * a
                        right -= a * (u_stage[i, j, k - 1] - u_stage[i, j, k]) + d[k - 1] * a
                    c[k] /= b
                    d[k] = right / b
                x = 0.0
                for k in range(levels - 1, -1, -1):
                    x = d[k] - c[k] * x
                    result[i, j, k] = dtr * (x - u_pos[i, j, k])
        return result

    return vadv


def jax(jnp):
    from jax import lax

    def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr):
        wind = 0.5 * 0.25 * (wcon[1:] + wcon[:-1])
        c = jnp.pad(wind[:, :, 1:], ((0, 0), (0, 0), (0, 1)))
        a = -jnp.pad(wind[:, :, 1:], ((0, 0), (0, 0), (1, 0)))
        change = u_stage[:, :, 1:] - u_stage[:, :, :-1]
        d = (dtr * u_pos + utens + utens_stage + a * jnp.pad(change, ((0, 0), (0, 0), (1, 0)))
             - c * jnp.pad(change, ((0, 0), (0, 0), (0, 1))))

        def forward(state, row):
            a, b, c, d = row
            scale = 1.0 / (b - state[0] * a)
            state = c * scale, (d - state[1] * a) * scale
            return state, state

        def backward(x, row):
            x = row[1] - row[0] * x
            return x, x

        none = jnp.zeros(u_pos.shape[:2])
        rows = [jnp.moveaxis(x, 2, 0) for x in (a, dtr - a - c, c, d)]
        swept = lax.scan(forward, (none, none), rows)[1]
        return dtr * (jnp.moveaxis(lax.scan(backward, none, swept, reverse=True)[1], 0, 2) - u_pos)

    return vadv
