"""A matrix with the sum of tanh of its diagonal added."""
SIZES = {"bench": dict(n=2000), "test": dict(n=7)}
COMPILED = True


def data(rng, n):
    return dict(a=rng.random((n, n)))


def work(n):
    return dict(flops=n * n, bytes=16 * n * n)


def numpy(np):
    def go_fast(a):
        return a + np.sum(np.tanh(np.diag(a)))

    return go_fast


numba = jax = torch = numpy
