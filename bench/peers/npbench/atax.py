"""A^T (A x)."""
SIZES = {"bench": dict(m=4000, n=5000), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(A=rng.random((m, n)), x=rng.random(n))


def work(m, n):
    return dict(flops=4 * m * n, bytes=8 * m * n)


def numpy(np):
    def atax(A, x):
        return (A @ x) @ A

    return atax


numba = jax = torch = numpy
