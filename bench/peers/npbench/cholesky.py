"""The Cholesky factor of A below the diagonal, A above it."""
SIZES = {"bench": dict(n=300), "test": dict(n=7)}


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(A=x @ x.T / n + np.eye(n))


def work(n):
    return dict(flops=n**3 / 3, bytes=16 * n * n)


def numpy(np):
    def cholesky(A):
        return np.linalg.cholesky(A) + np.triu(A, 1)

    return cholesky


numba = jax = torch = numpy
