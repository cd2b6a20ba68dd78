"""alpha A A^T + beta C, the lower triangle; above it C stays."""
SIZES = {"bench": dict(m=500, n=600), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(A=rng.random((n, m)), C=rng.random((n, n)))


def work(m, n):
    return dict(flops=n * n * m, bytes=8 * (n * m + 2 * n * n))


def numpy(np):
    def syrk(A, C):
        return np.tril(1.5 * (A @ A.T) + 1.2 * C) + np.triu(C, 1)

    return syrk


numba = jax = torch = numpy
