"""The greatest of each 2 x 2 elements of an image, f32."""
SIZES = {"bench": dict(n=4096), "test": dict(n=18)}
COMPILED = True


def data(rng, n):
    return dict(x=rng.random((n, n), dtype="float32"))


def work(n):
    return dict(flops=3 / 4 * n * n, bytes=5 * n * n, dtype="f32")


def numpy(np):
    def pooled(x):
        top, bottom = x[::2], x[1::2]
        return np.maximum(np.maximum(top[:, ::2], top[:, 1::2]), np.maximum(bottom[:, ::2], bottom[:, 1::2]))

    return pooled


def jax(jnp):
    def pooled(x):
        n = x.shape[0] // 2
        return x.reshape(n, 2, n, 2).max((1, 3))

    return pooled


def torch(torch):
    return lambda x: torch.nn.functional.max_pool2d(x[None], 2)[0]


def numba(np):
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def pooled(x):
        n = x.shape[0] // 2
        result = np.empty((n, n), x.dtype)
        for i in prange(n):
            for j in range(n):
                result[i, j] = max(max(x[2 * i, 2 * j], x[2 * i, 2 * j + 1]),
                                   max(x[2 * i + 1, 2 * j], x[2 * i + 1, 2 * j + 1]))
        return result

    return pooled
