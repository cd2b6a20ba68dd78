"""The LU factors of A without pivoting, both in one matrix."""
SIZES = {"bench": dict(n=220), "test": dict(n=7)}
INPLACE = ("A",)


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(A=x @ x.T / n + np.eye(n))


def work(n):
    return dict(flops=2 * n**3 / 3, bytes=16 * n * n)


def numpy(np):
    def lu(A):
        for k in range(len(A) - 1):
            A[k + 1:, k] /= A[k, k]
            A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:])
        return A

    return lu


torch = numpy


def numba(np):
    from numba import njit

    @njit
    def lu(A):
        n = len(A)
        for k in range(n - 1):
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
        return A

    return lu


def jax(jnp):
    from jax import lax

    def lu(A):
        place = jnp.arange(len(A))

        def step(k, a):
            column = a[:, k]
            below = jnp.where(place > k, column / column[k], column)
            a = a - jnp.outer(jnp.where(place > k, below, 0), jnp.where(place > k, a[k], 0))
            return a.at[:, k].set(below)

        return lax.fori_loop(0, len(A) - 1, step, A)

    return lu
