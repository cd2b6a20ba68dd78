"""Heat in a cube by its six neighbours, from A into B and from B into A, step after step."""
SIZES = {"bench": dict(n=70, steps=100), "test": dict(n=6, steps=3)}
INPLACE = ("A", "B")


def data(rng, n, steps):
    return dict(A=rng.random((n, n, n)), B=rng.random((n, n, n)), steps=steps)


def work(n, steps):
    return dict(flops=2 * (steps - 1) * 15 * n**3, bytes=2 * (steps - 1) * 2 * 8 * n**3)


def heated(x):
    centre = x[1:-1, 1:-1, 1:-1]
    return (0.125 * (x[2:, 1:-1, 1:-1] - 2.0 * centre + x[:-2, 1:-1, 1:-1])
            + 0.125 * (x[1:-1, 2:, 1:-1] - 2.0 * centre + x[1:-1, :-2, 1:-1])
            + 0.125 * (x[1:-1, 1:-1, 2:] - 2.0 * centre + x[1:-1, 1:-1, :-2]) + centre)


def numpy(np):
    def heat_3d(A, B, steps):
        for _ in range(1, steps):
            B[1:-1, 1:-1, 1:-1] = heated(A)
            A[1:-1, 1:-1, 1:-1] = heated(B)
        return A, B

    return heat_3d


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def step(x, y):
        n = x.shape[0]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    twice = 2.0 * x[i, j, k]
                    y[i, j, k] = (0.125 * (x[i + 1, j, k] - twice + x[i - 1, j, k])
                                  + 0.125 * (x[i, j + 1, k] - twice + x[i, j - 1, k])
                                  + 0.125 * (x[i, j, k + 1] - twice + x[i, j, k - 1]) + x[i, j, k])

    @njit
    def heat_3d(A, B, steps):
        for _ in range(1, steps):
            step(A, B)
            step(B, A)
        return A, B

    return heat_3d


def jax(jnp):
    from jax import lax

    def heat_3d(A, B, steps):
        def body(_, state):
            a, b = state
            b = b.at[1:-1, 1:-1, 1:-1].set(heated(a))
            return a.at[1:-1, 1:-1, 1:-1].set(heated(b)), b

        return lax.fori_loop(1, steps, body, (A, B))

    return heat_3d
