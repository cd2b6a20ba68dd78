"""The solution of L x = b, L being lower triangular."""
SIZES = {"bench": dict(n=2000), "test": dict(n=7)}


def data(rng, n):
    import numpy as np

    return dict(L=rng.random((n, n)) / n + np.eye(n), b=rng.random(n))


def work(n):
    return dict(flops=n * n, bytes=4 * n * n)


def numpy(np):
    def trisolv(L, b):
        x = np.empty_like(b)
        for i in range(len(b)):
            x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
        return x

    return trisolv


numba = numpy


def jax(jnp):
    from jax.scipy.linalg import solve_triangular

    return lambda L, b: solve_triangular(L, b, lower=True)


def torch(torch):
    return lambda L, b: torch.linalg.solve_triangular(L, b[:, None], upper=False)[:, 0]
