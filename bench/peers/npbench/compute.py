"""clip(a, 2, 10) * 4 + b * 3 + 9 of integers."""
SIZES = {"bench": dict(m=2000, n=2000), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(a=rng.integers(0, 1000, (m, n)), b=rng.integers(0, 1000, (m, n)))


def work(m, n):
    return dict(bytes=24 * m * n)


def numpy(np):
    def compute(a, b):
        return np.clip(a, 2, 10) * 4 + b * 3 + 9

    return compute


numba = jax = torch = numpy
