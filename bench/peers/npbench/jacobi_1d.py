"""The mean of three neighbours on a line, from A into B and from B into A, step after step."""
SIZES = {"bench": dict(n=12000, steps=3000), "test": dict(n=20, steps=3)}
INPLACE = ("A", "B")


def data(rng, n, steps):
    return dict(A=rng.random(n), B=rng.random(n), steps=steps)


def work(n, steps):
    return dict(flops=2 * (steps - 1) * 3 * n, bytes=2 * (steps - 1) * 2 * 8 * n)


def mean(x):
    return 0.33333 * (x[:-2] + x[1:-1] + x[2:])


def numpy(np):
    def jacobi_1d(A, B, steps):
        for _ in range(1, steps):
            B[1:-1] = mean(A)
            A[1:-1] = mean(B)
        return A, B

    return jacobi_1d


torch = numpy


def numba(np):
    from numba import njit

    @njit
    def jacobi_1d(A, B, steps):
        for _ in range(1, steps):
            for i in range(1, len(A) - 1):
                B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
            for i in range(1, len(A) - 1):
                A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
        return A, B

    return jacobi_1d


def jax(jnp):
    from jax import lax

    def jacobi_1d(A, B, steps):
        def body(_, state):
            a, b = state
            b = b.at[1:-1].set(mean(a))
            return a.at[1:-1].set(mean(b)), b

        return lax.fori_loop(1, steps, body, (A, B))

    return jacobi_1d
