"""The running sums of a long vector."""
SIZES = {"bench": dict(n=4194304), "test": dict(n=50)}


def data(rng, n):
    return dict(x=rng.random(n))


def work(n):
    return dict(flops=n, bytes=16 * n)


def numpy(np):
    return lambda x: np.cumsum(x)


def jax(jnp):
    return lambda x: jnp.cumsum(x)


def torch(torch):
    return lambda x: torch.cumsum(x, 0)
