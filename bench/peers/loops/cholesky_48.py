"""The Cholesky factor of a small matrix."""
SIZES = {"bench": dict(n=48), "test": dict(n=5)}


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(a=x @ x.T / n + np.eye(n))


def work(n):
    return dict(flops=n**3 / 3, bytes=16 * n * n)


def numpy(np):
    return lambda a: np.linalg.cholesky(a)


def jax(jnp):
    return lambda a: jnp.linalg.cholesky(a)


def torch(torch):
    return lambda a: torch.linalg.cholesky(a)
