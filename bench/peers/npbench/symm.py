"""alpha A B + beta C, of a symmetric A of which the lower triangle counts."""
SIZES = {"bench": dict(m=500, n=600), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(A=rng.random((m, m)), B=rng.random((m, n)), C=rng.random((m, n)))


def work(m, n):
    return dict(flops=2 * m * m * n, bytes=8 * (m * m // 2 + 3 * m * n))


def numpy(np):
    def symm(A, B, C):
        return 1.5 * ((np.tril(A) + np.tril(A, -1).T) @ B) + 1.2 * C

    return symm


numba = jax = torch = numpy
