"""The Yule-Walker equations of r by Durbin's recursion."""
SIZES = {"bench": dict(n=1000), "test": dict(n=9)}


def data(rng, n):
    import numpy as np

    return dict(r=0.5 ** np.arange(1, n + 1) + 0.01 * rng.random(n) / np.arange(1, n + 1))


def work(n):
    return dict(flops=2 * n * n, bytes=16 * n)


def numpy(np):
    def durbin(r):
        y = np.empty_like(r)
        y[0] = alpha = -r[0]
        beta = 1.0
        for k in range(1, len(r)):
            beta *= 1 - alpha * alpha
            alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
            y[:k] += alpha * y[:k][::-1].copy()
            y[k] = alpha
        return y

    return durbin


def numba(np):
    from numba import njit

    @njit
    def durbin(r):
        n = len(r)
        y = np.empty_like(r)
        z = np.empty_like(r)
        alpha = -r[0]
        y[0] = alpha
        beta = 1.0
        for k in range(1, n):
            beta *= 1 - alpha * alpha
            total = r[k]
            for i in range(k):
                total += r[k - 1 - i] * y[i]
            alpha = -total / beta
            for i in range(k):
                z[i] = y[i] + alpha * y[k - 1 - i]
            y[:k] = z[:k]
            y[k] = alpha
        return y

    return durbin


def jax(jnp):
    from jax import lax

    def durbin(r):
        place = jnp.arange(len(r))

        def step(k, state):
            y, alpha, beta = state
            beta = beta * (1 - alpha * alpha)
            turned = lambda x: jnp.where(place < k, x[k - 1 - place], 0)
            alpha = -(r[k] + turned(r) @ y) / beta
            return jnp.where(place == k, alpha, y + alpha * turned(y)), alpha, beta

        first = jnp.where(place == 0, -r[0], 0.0)
        return lax.fori_loop(1, len(r), step, (first, -r[0], jnp.ones(())))[0]

    return durbin


def torch(torch):
    def durbin(r):
        y = torch.empty_like(r)
        alpha = -r[0]
        y[0] = alpha
        beta = 1.0
        for k in range(1, len(r)):
            beta = beta * (1 - alpha * alpha)
            alpha = -(r[k] + r[:k].flip(0) @ y[:k]) / beta
            y[:k] += alpha * y[:k].flip(0)
            y[k] = alpha
        return y

    return durbin
