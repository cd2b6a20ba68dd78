"""The Cholesky factor of a small matrix."""
SIZES = {"bench": dict(n=48), "test": dict(n=5)}


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(a=x @ x.T / n + np.eye(n))


def work(n):
    return dict(flops=n**3 / 3, bytes=16 * n * n)


def numpy(np):
    return np.linalg.cholesky


def jax(jnp):
    return jnp.linalg.cholesky


def torch(torch):
    return torch.linalg.cholesky
