"""The lengths of the shortest paths between all pairs of nodes."""
SIZES = {"bench": dict(n=400), "test": dict(n=9)}
INPLACE = ("path",)


def data(rng, n):
    import numpy as np

    i, j = np.mgrid[:n, :n]
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return dict(path=np.where(far, 999, i * j % 7 + 1).astype("int32"))


def work(n):
    return dict(flops=n**3, bytes=8 * n * n, dtype="f32")


def numpy(np):
    def floyd_warshall(path):
        for k in range(len(path)):
            path = np.minimum(path, path[:, k, None] + path[k])
        return path

    return floyd_warshall


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def floyd_warshall(path):
        n = len(path)
        for k in range(n):
            for i in prange(n):
                for j in range(n):
                    path[i, j] = min(path[i, j], path[i, k] + path[k, j])
        return path

    return floyd_warshall


def jax(jnp):
    from jax import lax

    def floyd_warshall(path):
        return lax.fori_loop(0, len(path), lambda k, p: jnp.minimum(p, p[:, k, None] + p[k]), path)

    return floyd_warshall
