"""Electric and magnetic fields on a rectangle by finite differences in time."""
SIZES = {"bench": dict(nx=400, ny=450, steps=60), "test": dict(nx=6, ny=7, steps=3)}
INPLACE = ("ex", "ey", "hz")


def data(rng, nx, ny, steps):
    return dict(ex=rng.random((nx, ny)), ey=rng.random((nx, ny)), hz=rng.random((nx, ny)), source=rng.random(steps))


def work(nx, ny, steps):
    return dict(flops=steps * 11 * nx * ny, bytes=steps * 6 * 8 * nx * ny)


def numpy(np):
    def fdtd_2d(ex, ey, hz, source):
        for t in range(len(source)):
            ey[0] = source[t]
            ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
            ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
            hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        return ex, ey, hz

    return fdtd_2d


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def fdtd_2d(ex, ey, hz, source):
        nx, ny = ex.shape
        for t in range(len(source)):
            ey[0] = source[t]
            for i in prange(nx):
                for j in range(ny):
                    if i > 0:
                        ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
                    if j > 0:
                        ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
            for i in prange(nx - 1):
                for j in range(ny - 1):
                    hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
        return ex, ey, hz

    return fdtd_2d


def jax(jnp):
    from jax import lax

    def fdtd_2d(ex, ey, hz, source):
        def step(t, fields):
            x, y, z = fields
            y = y.at[0].set(source[t])
            y = y.at[1:].add(-0.5 * (z[1:] - z[:-1]))
            x = x.at[:, 1:].add(-0.5 * (z[:, 1:] - z[:, :-1]))
            return x, y, z.at[:-1, :-1].add(-0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1]))

        return lax.fori_loop(0, len(source), step, (ex, ey, hz))

    return fdtd_2d
