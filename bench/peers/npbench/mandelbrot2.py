"""The step at which each point of the plane leaves the disc of radius 2, in real numbers."""
SIZES = {"bench": dict(n=500, steps=80), "test": dict(n=9, steps=8)}
MAY_DIFFER = 1e-3  # near the edge of the set a rounding grows to another orbit


def data(rng, n, steps):
    import numpy as np

    return dict(x0=np.linspace(-2, 0.5, n), y0=np.linspace(-1.25, 1.25, n)[:, None].copy(), steps=steps)


def work(n, steps):
    return dict(flops=10 * steps * n * n, bytes=4 * n * n)


def numpy(np):
    def mandelbrot2(x0, y0, steps):
        c = (x0 + 1j * y0).reshape(-1)
        count = np.zeros(len(c), "int32")
        left, z = np.arange(len(c)), np.zeros_like(c)
        for step in range(steps):
            z = z * z + c
            leaves = np.abs(z) > 2.0
            count[left[leaves]] = step + 1
            left, z, c = left[~leaves], z[~leaves], c[~leaves]
        return count.reshape(len(y0), len(x0))

    return mandelbrot2


def torch(torch):
    def mandelbrot2(x0, y0, steps):
        c = (x0 + 1j * y0).reshape(-1)
        count = torch.zeros(len(c), dtype=torch.int32)
        left, z = torch.arange(len(c)), torch.zeros_like(c)
        for step in range(steps):
            z = z * z + c
            leaves = torch.abs(z) > 2.0
            count[left[leaves]] = step + 1
            left, z, c = left[~leaves], z[~leaves], c[~leaves]
        return count.reshape(len(y0), len(x0))

    return mandelbrot2


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def mandelbrot2(x0, y0, steps):
        count = np.zeros((len(y0), len(x0)), np.int32)
        for i in prange(len(y0)):
            for j in range(len(x0)):
                x = y = 0.0
                for step in range(steps):
                    x, y = x * x - y * y + x0[j], 2 * x * y + y0[i, 0]
                    if x * x + y * y > 4:
                        count[i, j] = step + 1
                        break
        return count

    return mandelbrot2


def jax(jnp):
    from jax import lax

    def mandelbrot2(x0, y0, steps):
        def step(i, state):
            x, y, n = state
            nx, ny = x * x - y * y + x0, 2 * x * y + y0
            leaves = (n == 0) & (nx * nx + ny * ny > 4)
            inside = (n == 0) & ~leaves
            return jnp.where(inside, nx, x), jnp.where(inside, ny, y), jnp.where(leaves, i + 1, n)

        none = jnp.zeros((len(y0), len(x0)))
        return lax.fori_loop(0, steps, step, (none, none, jnp.zeros(none.shape, jnp.int32)))[2]

    return mandelbrot2
