"""alpha (A B^T + B A^T) + beta C, the lower triangle; above it C stays."""
SIZES = {"bench": dict(m=400, n=500), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(A=rng.random((n, m)), B=rng.random((n, m)), C=rng.random((n, n)))


def work(m, n):
    return dict(flops=2 * n * n * m, bytes=8 * (2 * n * m + 2 * n * n))


def numpy(np):
    def syr2k(A, B, C):
        product = A @ B.T
        return np.tril(1.5 * (product + product.T) + 1.2 * C) + np.triu(C, 1)

    return syr2k


numba = jax = torch = numpy
