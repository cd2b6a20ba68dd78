"""z = z^2 + c of points of the plane while |z| is below 2, counted, in complex numbers."""
SIZES = {"bench": dict(n=250, steps=150), "test": dict(n=9, steps=8)}
MAY_DIFFER = 1e-2  # near the edge of the set a rounding grows to another orbit


def data(rng, n, steps):
    import numpy as np

    return dict(c=np.linspace(-1.75, 0.25, n) + 1j * np.linspace(-1, 1, n)[:, None], steps=steps)


def work(n, steps):
    return dict(flops=10 * steps * n * n, bytes=(16 + 20) * n * n)


def numpy(np):
    def mandelbrot1(c, steps):
        n, z = np.zeros(c.shape, "int32"), np.zeros_like(c)
        for step in range(steps):
            inside = np.abs(z) < 2.0
            n[inside] = step
            z[inside] = z[inside] ** 2 + c[inside]
        n[n == steps - 1] = 0
        return z, n

    return mandelbrot1


def torch(torch):
    def mandelbrot1(c, steps):
        n, z = torch.zeros(c.shape, dtype=torch.int32), torch.zeros_like(c)
        for step in range(steps):
            inside = torch.abs(z) < 2.0
            n[inside] = step
            z = torch.where(inside, z * z + c, z)
        n[n == steps - 1] = 0
        return z, n

    return mandelbrot1


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def mandelbrot1(c, steps):
        n, zs = np.zeros(c.shape, np.int32), np.zeros_like(c)
        for i in prange(c.shape[0]):
            for j in range(c.shape[1]):
                z = 0j
                for step in range(steps):
                    if not abs(z) < 2.0:
                        break
                    n[i, j] = step
                    z = z * z + c[i, j]
                zs[i, j] = z
                if n[i, j] == steps - 1:
                    n[i, j] = 0
        return zs, n

    return mandelbrot1


def jax(jnp):
    from jax import lax

    def mandelbrot1(c, steps):
        def step(i, state):
            z, n = state
            inside = jnp.abs(z) < 2.0
            return jnp.where(inside, z * z + c, z), jnp.where(inside, i, n)

        z, n = lax.fori_loop(0, steps, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))
        return z, jnp.where(n == steps - 1, 0, n)

    return mandelbrot1
