"""G = (A B) (C D)."""
SIZES = {"bench": dict(ni=800, nj=850, nk=900, nl=950, nm=1000), "test": dict(ni=4, nj=5, nk=6, nl=7, nm=8)}
COMPILED = True


def data(rng, ni, nj, nk, nl, nm):
    return dict(A=rng.random((ni, nk)), B=rng.random((nk, nj)), C=rng.random((nj, nm)), D=rng.random((nm, nl)))


def work(ni, nj, nk, nl, nm):
    return dict(flops=2 * (ni * nj * nk + nj * nl * nm + ni * nj * nl),
                bytes=8 * (ni * nk + nk * nj + nj * nm + nm * nl + ni * nl))


def numpy(np):
    def k3mm(A, B, C, D):
        return (A @ B) @ (C @ D)

    return k3mm


numba = jax = torch = numpy
