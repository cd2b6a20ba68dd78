"""Deriche's edge detector: recursive filters along rows and columns, forwards and backwards."""
import math

SIZES = {"bench": dict(width=1500, height=1000), "test": dict(width=7, height=9)}
ALPHA = 0.25
E = math.exp(-ALPHA)
K = (1 - E) * (1 - E) / (1 + ALPHA * E - math.exp(2 * ALPHA))
A1, A2, A3, A4 = K, K * E * (ALPHA - 1), K * E * (ALPHA + 1), -K * E * E
B1, B2 = 2**-ALPHA, -E * E


def data(rng, width, height):
    return dict(image=rng.random((width, height)))


def work(width, height):
    return dict(flops=28 * width * height, bytes=2 * 2 * 8 * width * height)


def numpy(np):
    def along_rows(x):
        n = x.shape[1]
        y, z = np.zeros_like(x), np.zeros_like(x)
        y[:, 0] = A1 * x[:, 0]
        y[:, 1] = A1 * x[:, 1] + A2 * x[:, 0] + B1 * y[:, 0]
        for j in range(2, n):
            y[:, j] = A1 * x[:, j] + A2 * x[:, j - 1] + B1 * y[:, j - 1] + B2 * y[:, j - 2]
        z[:, n - 2] = A3 * x[:, n - 1]
        for j in range(n - 3, -1, -1):
            z[:, j] = A3 * x[:, j + 1] + A4 * x[:, j + 2] + B1 * z[:, j + 1] + B2 * z[:, j + 2]
        return y + z

    return lambda image: along_rows(along_rows(image).T).T


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def along_rows(x):
        m, n = x.shape
        y, z = np.zeros_like(x), np.zeros_like(x)
        for i in prange(m):
            y[i, 0] = A1 * x[i, 0]
            y[i, 1] = A1 * x[i, 1] + A2 * x[i, 0] + B1 * y[i, 0]
            for j in range(2, n):
                y[i, j] = A1 * x[i, j] + A2 * x[i, j - 1] + B1 * y[i, j - 1] + B2 * y[i, j - 2]
            z[i, n - 2] = A3 * x[i, n - 1]
            for j in range(n - 3, -1, -1):
                z[i, j] = A3 * x[i, j + 1] + A4 * x[i, j + 2] + B1 * z[i, j + 1] + B2 * z[i, j + 2]
        return y + z

    @njit
    def deriche(image):
        return along_rows(along_rows(image).T.copy()).T

    return deriche


def jax(jnp):
    from jax import lax

    def recursive(x, reverse):
        def step(state, r):
            y = r + B1 * state[0] + B2 * state[1]
            return (y, state[0]), y

        none = jnp.zeros_like(x[0])
        return lax.scan(step, (none, none), x, reverse=reverse)[1]

    def filtered(x):
        behind = jnp.pad(x, ((1, 0), (0, 0)))[:-1]
        ahead = jnp.pad(x, ((0, 2), (0, 0)))
        return recursive(A1 * x + A2 * behind, False) + recursive(A3 * ahead[1:-1] + A4 * ahead[2:], True)

    return lambda image: filtered(filtered(image.T).T)
