"""C = alpha A B + beta C."""
SIZES = {"bench": dict(ni=1000, nj=1100, nk=1200), "test": dict(ni=5, nj=6, nk=7)}


def data(rng, ni, nj, nk):
    return dict(A=rng.random((ni, nk)), B=rng.random((nk, nj)), C=rng.random((ni, nj)))


def work(ni, nj, nk):
    return dict(flops=2 * ni * nj * nk, bytes=8 * (ni * nk + nk * nj + 2 * ni * nj))


def numpy(np):
    def gemm(A, B, C):
        return 1.5 * (A @ B) + 1.2 * C

    return gemm


numba = jax = torch = numpy
COMPILED = True
