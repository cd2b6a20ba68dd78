"""The softmax of the last of four axes, f32."""
SIZES = {"bench": dict(n=32, h=8, sm=256), "test": dict(n=2, h=3, sm=9)}
COMPILED = True


def data(rng, n, h, sm):
    return dict(x=rng.random((n, h, sm, sm), dtype="float32"))


def work(n, h, sm):
    return dict(flops=20 * n * h * sm * sm, bytes=8 * n * h * sm * sm, dtype="f32")


def numpy(np):
    def softmax(x):
        powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return powers / np.sum(powers, axis=-1, keepdims=True)

    return softmax


def jax(jnp):
    from jax import nn

    return nn.softmax


def torch(torch):
    return lambda x: torch.softmax(x, -1)


def numba(np):
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def rows(x):
        result = np.empty_like(x)
        for i in prange(x.shape[0]):
            greatest = x[i, 0]
            for j in range(x.shape[1]):
                greatest = max(greatest, x[i, j])
            total = x[i, 0] * 0
            for j in range(x.shape[1]):
                result[i, j] = np.exp(x[i, j] - greatest)
                total += result[i, j]
            for j in range(x.shape[1]):
                result[i, j] /= total
        return result

    @njit
    def softmax(x):
        return rows(x.reshape(-1, x.shape[3])).reshape(x.shape)

    return softmax
