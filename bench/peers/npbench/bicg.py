"""r A and A p, the two products of a step of the biconjugate gradient method."""
SIZES = {"bench": dict(m=4000, n=5000), "test": dict(m=5, n=7)}
COMPILED = True


def data(rng, m, n):
    return dict(A=rng.random((n, m)), p=rng.random(m), r=rng.random(n))


def work(m, n):
    return dict(flops=4 * m * n, bytes=8 * m * n)


def numpy(np):
    def bicg(A, p, r):
        return r @ A, A @ p

    return bicg


numba = jax = torch = numpy
