"""A[r, q, :] C4 for all r and q."""
SIZES = {"bench": dict(nr=60, nq=60, np_=128), "test": dict(nr=3, nq=4, np_=5)}
COMPILED = True


def data(rng, nr, nq, np_):
    return dict(A=rng.random((nr, nq, np_)), C4=rng.random((np_, np_)))


def work(nr, nq, np_):
    return dict(flops=2 * nr * nq * np_ * np_, bytes=8 * (2 * nr * nq * np_ + np_ * np_))


def numpy(np):
    def doitgen(A, C4):
        return (A.reshape(-1, A.shape[2]) @ C4).reshape(A.shape)

    return doitgen


numba = jax = torch = numpy
