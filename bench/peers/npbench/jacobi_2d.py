"""The mean of five neighbours on a square, from A into B and from B into A, step after step."""
SIZES = {"bench": dict(n=350, steps=80), "test": dict(n=7, steps=3)}
INPLACE = ("A", "B")


def data(rng, n, steps):
    return dict(A=rng.random((n, n)), B=rng.random((n, n)), steps=steps)


def work(n, steps):
    return dict(flops=2 * (steps - 1) * 5 * n * n, bytes=2 * (steps - 1) * 2 * 8 * n * n)


def mean(x):
    return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def numpy(np):
    def jacobi_2d(A, B, steps):
        for _ in range(1, steps):
            B[1:-1, 1:-1] = mean(A)
            A[1:-1, 1:-1] = mean(B)
        return A, B

    return jacobi_2d


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def step(x, y):
        n = x.shape[0]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j] + x[i - 1, j])

    @njit
    def jacobi_2d(A, B, steps):
        for _ in range(1, steps):
            step(A, B)
            step(B, A)
        return A, B

    return jacobi_2d


def jax(jnp):
    from jax import lax

    def jacobi_2d(A, B, steps):
        def body(_, state):
            a, b = state
            b = b.at[1:-1, 1:-1].set(mean(a))
            return a.at[1:-1, 1:-1].set(mean(b)), b

        return lax.fori_loop(1, steps, body, (A, B))

    return jacobi_2d
