"""x1 + A y1 and x2 + y2 A."""
SIZES = {"bench": dict(n=5500), "test": dict(n=7)}
COMPILED = True


def data(rng, n):
    return dict(A=rng.random((n, n)), x1=rng.random(n), x2=rng.random(n), y1=rng.random(n), y2=rng.random(n))


def work(n):
    return dict(flops=4 * n * n, bytes=8 * n * n)


def numpy(np):
    def mvt(A, x1, x2, y1, y2):
        return x1 + A @ y1, x2 + y2 @ A

    return mvt


numba = jax = torch = numpy
