"""alpha A x + beta B x."""
SIZES = {"bench": dict(n=2000), "test": dict(n=7)}
COMPILED = True


def data(rng, n):
    return dict(A=rng.random((n, n)), B=rng.random((n, n)), x=rng.random(n))


def work(n):
    return dict(flops=4 * n * n, bytes=16 * n * n)


def numpy(np):
    def gesummv(A, B, x):
        return 1.5 * (A @ x) + 1.2 * (B @ x)

    return gesummv


numba = jax = torch = numpy
