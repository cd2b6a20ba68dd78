"""D = alpha A B C + beta D."""
SIZES = {"bench": dict(ni=800, nj=850, nk=900, nl=950), "test": dict(ni=4, nj=5, nk=6, nl=7)}
COMPILED = True


def data(rng, ni, nj, nk, nl):
    return dict(A=rng.random((ni, nk)), B=rng.random((nk, nj)), C=rng.random((nj, nl)), D=rng.random((ni, nl)))


def work(ni, nj, nk, nl):
    return dict(flops=2 * ni * nj * (nk + nl), bytes=8 * (ni * nk + nk * nj + nj * nl + 2 * ni * nl))


def numpy(np):
    def k2mm(A, B, C, D):
        return 1.5 * (A @ B) @ C + 1.2 * D

    return k2mm


numba = jax = torch = numpy
